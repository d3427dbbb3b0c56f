"""Public programs of DL4J's users in Python: syntax is changed, and what the table says.

The programs are those of deeplearning4j-examples, where no other place is named. Ports are written anew, with the calls of the
programs in their order; data, layers and epochs are fewer, and pictures on the screen are left out. Syntax is: no ``new``, types or casts;
classes of Java's own library are Python's (``java.util.Random`` is ``JavaRandom``), as are numbers, texts, lists and maps.
"""
from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.ports import (
    custom,
    data,
    detection,
    examples,
    features,
    feedforward,
    further,
    graphs,
    ndarrays,
    own_iterators,
    pictures,
    sequences,
    tables,
    unsupervised,
)

pytest.importorskip("PIL")

NOTHING = ""

#: Program: (its ports, the data that they read, what was changed beyond syntax).
PORTS: dict[str, tuple[tuple[Callable[[Path], None], ...], str, str]] = {
    "LinearDataClassifier": ((feedforward.linear_data_classifier,), "two_classes", NOTHING),
    "IrisClassifier": ((feedforward.iris_classifier,), "iris", NOTHING),
    "ModelXOR": ((feedforward.model_xor,), "", NOTHING),
    "MathFunctionsModel": ((feedforward.math_functions,), "", NOTHING),
    "SumModel": ((feedforward.sum_model,), "", NOTHING),
    "CSVDataModel": ((feedforward.csv_data_model,), "two_classes", NOTHING),
    "CSVExampleEvaluationMetaData": ((feedforward.evaluation_meta_data,), "iris", NOTHING),
    "CenterLossLeNetMNIST": ((pictures.center_loss,), "mnist", NOTHING),
    "LeNetMNISTReLu": ((pictures.lenet_on_png_files,), "pictures", NOTHING),
    "AlphaGoZeroTrainer": ((pictures.alpha_go_zero,), "", NOTHING),
    "MultiGpuLenetMnist (the book's)": ((pictures.mnist_on_several_workers,), "mnist",
                                        "without CudaEnvironment, DataTypeUtil and backprop(true).pretrain(false), gone in 1.0.0"),
    "MemorizeSequence": ((sequences.memorize_sequence,), "", NOTHING),
    "RNNEmbedding": ((sequences.rnn_embedding,), "", NOTHING),
    "GenerateTxtModel": ((sequences.generate_text,), "", NOTHING),
    "AdditionModelWithSeq2Seq": ((own_iterators.addition_seq2seq,), "", NOTHING),
    "SequenceAnomalyDetection": ((own_iterators.sequence_anomalies,), "advertisements", NOTHING),
    "UCISequenceClassification, MoonClassifier, Conv1D": ((sequences.uci_sequences, feedforward.moon_classifier, sequences.uci_convolution),
                                                          "sequences two_classes", NOTHING),
    "VaeMNIST2dPlots": ((unsupervised.vae_2d_plots,), "mnist", NOTHING),
    "VaeMNISTAnomaly": ((unsupervised.vae_anomalies,), "mnist", NOTHING),
    "MNISTAutoencoder": ((unsupervised.mnist_autoencoder,), "mnist", NOTHING),
    "WeightedLossFunctionExample": ((unsupervised.weighted_loss,), "", NOTHING),
    "MixtureDensityNetwork, KFoldIterator": ((unsupervised.mixture_density, unsupervised.k_folds), "", NOTHING),
    "MultiLayerNetworkExternalErrors": ((unsupervised.external_errors,), "", NOTHING),
    "EarlyStoppingMNIST": ((features.early_stopping,), "mnist", NOTHING),
    "SaveLoadMultiLayerNetwork, SaveLoadComputationGraph": ((features.save_and_load,), "", NOTHING),
    "BasicUIExample": ((features.user_interface,), "mnist", NOTHING),
    "ParallelInferenceExample": ((features.parallel_inference,), "", NOTHING),
    "EditLastLayerOthersFrozen, FeaturizedPreSave, FitFromFeaturized": ((features.edit_last_layer,), "", NOTHING),
    "CustomActivationUsageEx": ((custom.custom_activation,), "", NOTHING),
    "CustomLossUsageEx": ((custom.custom_loss,), "", NOTHING),
    "Ex1BasicSameDiffLayer, Ex2LambdaLayer, Ex3LambdaVertex": (
        (custom.samediff_layer, custom.lambda_layer_and_vertex), "mnist",
        "classes have a decorator with their names in files"),
    "CustomLayerUsageEx": ((custom.custom_layer,), "",
                           "the layer defines what it computes, in place of an implementation with back-propagation of its own"),
    "SameDiff: Ex1, Ex2, Ex3": ((graphs.samediff_basics,), "", NOTHING),
    "MNISTCNN, MNISTFeedforward, CustomListenerExample": ((graphs.mnist_convolution, graphs.mnist_feedforward), "mnist", NOTHING),
    "ConvolutionalNetMain (evolutionsoftswiss, tic-tac-toe)": ((graphs.tic_tac_toe,), "", NOTHING),
    "FullyConnected (wingedsheep/dl4j-rl)": ((graphs.reinforcement_learning,), "",
                                             "options of beta3 and before in their present form: rates in updaters, no iterations"),
    "CustomerRetentionPrediction, LocalExecute (Java Deep Learning Cookbook's)": (
        (further.customer_retention, further.local_execute), "customers", NOTHING),
    "SingleTimestepRegression": ((further.single_timestep_regression,), "passengers", NOTHING),
    "MNISTDoubleLayer, ImageDrawer": ((examples.mnist_double_layer, examples.image_drawer), "mnist", NOTHING),
    "CnnSentenceClassification": ((examples.text_convolution,), "", "words are vectors that somebody has"),
    "TrainCaptchaWithCG": ((examples.captcha,), "", NOTHING),
    "ImagePipelineExample, PreSave": ((examples.image_pipeline,), "pictures", NOTHING),
    "TinyYoloHouseNumberDetection": ((detection.object_detection,), "objects",
                                     "a small network in place of the zoo's with downloaded weights; labels of Pascal VOC"),
    "VideoFrameClassifier": ((examples.video_frames,), "", NOTHING),
    "EditAtBottleneckOthersFrozen": ((examples.edit_at_bottleneck,), "", NOTHING),
    "UIStorageExample": ((examples.ui_storage,), "iris", NOTHING),
    "NeuralStyleTransfer": ((examples.style_transfer,), "", "a small network in place of the zoo's with downloaded weights"),
    "Nd4jEx0 ... Nd4jEx15": ((ndarrays.basics, ndarrays.operations, ndarrays.serialization, ndarrays.normalizers), "", NOTHING),
    "CustomOpsExamples, MultiClassLogitReg": ((ndarrays.custom_ops, ndarrays.logistic_regression), "", NOTHING),
    "BasicDataVecExample, PrintSchemasAtEachStep": ((tables.customer_transactions,), "", NOTHING),
    "JoinExample": ((tables.join,), "", NOTHING),
    "IrisAnalysis, IrisNormalizer": ((tables.iris_analysis,), "iris", NOTHING),
    "SVMLightExample": ((tables.svmlight,), "", NOTHING),
    "UnetTrainAndSave (funasoul/unetdl4j)": ((graphs.unet,), "", "the zoo's network without its downloaded weights"),
}
#: Those that make thousands of steps.
MANY_STEPS = ("ModelXOR",)


def is_quick(program: str, executor: str) -> bool:
    """Whether the executor takes less time for a program than the other one, with the kernels to be compiled."""
    return executor == ("plan" if program in MANY_STEPS else "reference")


@pytest.mark.parametrize("program, executor", [
    pytest.param(program, executor, marks=() if is_quick(program, executor) else pytest.mark.slow)
    for program in PORTS for executor in ("plan", "reference")])
def test_ports(program, executor, tmp_path, monkeypatch):
    monkeypatch.setenv("DL4PY_EXECUTOR", executor)
    ports, needs, _ = PORTS[program]
    for name in needs.split():
        made = getattr(data, name)
        made(tmp_path, monkeypatch) if name == "mnist" else made(tmp_path)
    for port in ports:
        port(tmp_path)


def test_nearly_all_run_with_nothing_but_syntax_changed():
    changed = [program for program, (*_, what) in PORTS.items() if what != NOTHING]
    assert len(PORTS) - len(changed) >= 46 and len(changed) <= 8
