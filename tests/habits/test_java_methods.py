"""Methods of DL4J's classes that programs call now and then, one row each: what is done, and that it holds."""
from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dl4py import (
    ROC,
    CheckpointListener,
    CombinedPreProcessor,
    DataSet,
    EarlyStoppingResult,
    EvaluationCallback,
    EvaluativeListener,
    FlipImageTransform,
    ImageFlatteningDataSetPreProcessor,
    InequalityHandling,
    InvocationType,
    JointParallelDataSetIterator,
    Layer,
    ListDataSetIterator,
    ModelSavingCallback,
    MultiDataSet,
    MultiLayerNetwork,
    MultiNormalizerHybrid,
    NormalizerMinMaxScaler,
    NormalizerSerializer,
    NormalizerStandardize,
    PipelineImageTransform,
    RandomMultiDataSetIterator,
    RegexSequenceRecordReader,
    ROCBinary,
)
from tests.helpers.habits import X, Y, graph_network, list_network


def same(*nets: MultiLayerNetwork) -> bool:
    return all(np.array_equal(one.params(), nets[0].params()) for one in nets)


def data() -> DataSet:
    return DataSet(np.arange(6.0).reshape(3, 2), np.eye(2)[[0, 1, 0]])


def changed(change: Callable[[DataSet], Any]) -> DataSet:
    made = data()
    change(made)
    return made


def roc() -> ROC:
    made = ROC()
    made.eval([[0.0], [1.0], [1.0]], [[0.2], [0.7], [0.4]])
    return made


def binary() -> ROCBinary:
    made = ROCBinary()
    made.eval([[0, 1], [1, 0]], [[0.2, 0.3], [0.7, 0.6]])
    return made


def fitted(normalizer: Any) -> Any:
    normalizer.fit(data())
    return normalizer


def hybrid() -> MultiNormalizerHybrid:
    made = MultiNormalizerHybrid().standardizeAllInputs().minMaxScaleAllOutputs()
    made.fit(data().toMultiDataSet())
    return made


def named() -> DataSet:
    made = DataSet(X, Y)
    made.setLabelNames(["low", "middle", "high"])
    return made


def restored(folder: Path) -> Any:
    NormalizerSerializer.getDefault().write(fitted(NormalizerStandardize()), folder / "n.bin")
    return NormalizerSerializer.getDefault().restore(folder / "n.bin")


def called(callback: Any, folder: Path) -> Any:
    listener = EvaluativeListener(DataSet(X, Y), 1, InvocationType.EPOCH_END)
    listener.setCallback(callback)
    net = list_network()
    net.setListeners(listener)
    net.fit(X, Y, epochs=2)
    return callback, net, folder


class Heard(EvaluationCallback):
    def call(self, listener, model, invocationsCount, evaluations):
        self.last = invocationsCount, evaluations[0].accuracy()


def checkpoints(folder: Path) -> Any:
    listener = CheckpointListener.Builder(folder / "c").keepAll().saveEveryNEpochs(1).logSaving(False).build()
    net = list_network()
    net.setListeners(listener)
    net.fit(X, Y, epochs=2)
    return listener, net, folder / "c"


def sequences(folder: Path, *handling: Any) -> Any:
    (folder / "s.txt").write_text("a 1\nwrong\nb 2\n")
    return RegexSequenceRecordReader(r"(\w) (\d)", 0, *handling).initialize(folder / "s.txt").sequenceRecord()


def joint() -> Any:
    builder = JointParallelDataSetIterator.Builder(InequalityHandling.STOP_EVERYONE).setBufferSizePerSplit(2)
    return builder.addSourceIterator(ListDataSetIterator([data()])).addSourceIterator(ListDataSetIterator([data()])).build()


def random_data() -> MultiDataSet:
    values = RandomMultiDataSetIterator.Values
    builder = RandomMultiDataSetIterator.Builder(2).addFeatures([3, 4], values.ONES).addFeatures([3, 2], "c", values.ZEROS)
    return builder.addLabels([3, 2], values.ONE_HOT).build().next()


Handling = RegexSequenceRecordReader.LineErrorHandling

HOLDS: dict[str, Callable[[Path], Any]] = {
    "addFeatureVector": lambda f: changed(lambda d: d.addFeatureVector(np.ones((3, 1)))).features[1].tolist() == [2, 3, 1],
    "addRow": lambda f: changed(lambda d: d.addRow(d.get(2), 0)).features[:, 0].tolist() == [4, 2, 4],
    "reshape": lambda f: data().reshape(2, 3).features.shape == (2, 3),
    "setNewNumberOfLabels": lambda f: changed(lambda d: d.setNewNumberOfLabels(4)).labels.shape == (3, 4),
    "exampleMeans and its kin": lambda f: [data().exampleMeans()[1], data().exampleSums()[1], data().exampleMaxs()[1]] == [2.5, 5, 3],
    "iterator, validate": lambda f: len(list(data().iterator())) == 3 and data().validate() is None and DataSet.empty().isEmpty(),
    "dataSetBatches": lambda f: [len(d) for d in data().dataSetBatches(2)] == [2, 1],
    "names of classes": lambda f: named().getLabelNames(np.array([2.0, 0.0])) == ["high", "low"] and len(named().getLabelNames()) == 3,
    "predicted names": lambda f: {*list_network().predict(named()), *graph_network().predict(named())} <= {"low", "middle", "high"},
    "predicted numbers": lambda f: list_network().predict(DataSet(X, Y)).shape == (12,),
    "masks of inputs": lambda f: (lambda m: m.setFeaturesMaskArrays([np.ones((12, 1))]) or m)(MultiDataSet([X], [Y])).hasMaskArrays(),
    "training mode": lambda f: np.array_equal(list_network().output(X, Layer.TrainingMode.TEST), list_network().output(X)),
    "points of a curve": lambda f: (lambda c: (c.getThreshold(1), c.getTruePositiveRate(1), c.getFalsePositiveRate(1))
                                    == (c.threshold[1], c.tpr[1], c.fpr[1]))(roc().getRocCurve()),
    "precision and recall": lambda f: roc().getPrecisionRecallCurve().getPrecision(0) == roc().getPrecisionRecallCurve().precision[0]
    and len(roc().getPrecisionRecallCurve().getRecall()) == roc().getPrecisionRecallCurve().numPoints(),
    "one of several curves": lambda f: binary().getROC(1).calculateAUC() == binary().calculateAUC(1),
    "equal normalizers": lambda f: restored(f).equals(fitted(NormalizerStandardize())) and fitted(NormalizerMinMaxScaler()) == fitted(
        NormalizerMinMaxScaler()) != fitted(NormalizerMinMaxScaler(-1, 1)) and hybrid() == hybrid() and len({hybrid(), hybrid()}) == 1,
    "combined preprocessors": lambda f: len(CombinedPreProcessor.Builder().addPreProcessor(ImageFlatteningDataSetPreProcessor())
                                            .addPreProcessor(0, NormalizerStandardize()).build().pre_processors) == 2,
    "a pipeline of transforms": lambda f: len(PipelineImageTransform.Builder().setSeed(1).addImageTransform(FlipImageTransform(1))
                                              .addImageTransform(FlipImageTransform(0), 0.5).build().steps) == 2,
    "random data": lambda f: [a.shape for a in random_data().getFeatures()] == [(3, 4), (3, 2)] and random_data().getLabels(0).sum() == 3,
    "joint iterators": lambda f: len(list(joint())) == 2,
    "callbacks": lambda f: called(Heard(), f)[0].last[0] == 1,
    "saving callbacks": lambda f: (lambda c, net, g: same(MultiLayerNetwork.load(g / "net_1.zip"), net))(
        *called(ModelSavingCallback(f, "net_%d.zip"), f)),
    "checkpoints of a listener": lambda f: (lambda c, net, g: same(
        c.loadCheckpointMLN(1), CheckpointListener.loadCheckpointMLN(g, 1), c.loadCheckpointMLN(g, 1),
        c.loadCheckpointMLN(c.lastCheckpoint()), net))(*checkpoints(f)),
    "reasons": lambda f: EarlyStoppingResult.TerminationReason.valueOf("Error").name == "Error",
    "lines that do not match": lambda f: sequences(f, Handling.SkipInvalid) == sequences(f, "UTF-8", Handling.SkipInvalid)
    == [["a", "1"], ["b", "2"]],
}


@pytest.mark.parametrize("method", HOLDS)
def test_holds(method, tmp_path):
    assert HOLDS[method](tmp_path)


def test_lines_that_do_not_match_are_told(tmp_path):
    with pytest.warns(UserWarning, match="s.txt:2"):
        assert len(sequences(tmp_path, Handling.SkipInvalidWithWarning)) == 2
    with pytest.raises(Exception, match="s.txt:2"), warnings.catch_warnings():
        sequences(tmp_path)


@pytest.mark.parametrize("wrong, said", [
    (lambda: data().addRow(DataSet(np.ones((1, 3)), np.ones((1, 2))), 0), "features"),
    (lambda: data().addRow(data().get(0), 3), "0 to 2"),
    (lambda: DataSet(np.ones((2, 2)), np.ones((3, 2))).validate(), "same number"),
    (lambda: roc().getRocCurve().getThreshold(9), "point 9"),
    (lambda: ModelSavingCallback(1, 2), "pattern"),
])
def test_wrong_calls_are_told(wrong, said):
    with pytest.raises(Exception, match=said):
        wrong()
