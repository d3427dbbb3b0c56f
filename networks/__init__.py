"""Networks: configuration builders, lists of layers and graphs, model files.

::

    conf = NeuralNetConfiguration.Builder().seed(1).updater(Adam(1e-3)).list().layer(...).layer(...).build()
    net = MultiLayerNetwork(conf).init()          # or graph_builder() and ComputationGraph
    net.fit(iterator, epochs)
    net.evaluate(test).stats()
    net.save("model.zip")                         # DL4J's own file
"""
if __name__ == "networks":
    text = "networks/ is the source folder of dl4py.networks: run `pip install -e .` once, then import dl4py.networks"
    raise ImportError(text)

from .early_stopping import (
    AutoencoderScoreCalculator,
    BestScoreEpochTerminationCondition,
    ClassificationScoreCalculator,
    DataSetLossCalculator,
    DataSetLossCalculatorCG,
    EarlyStoppingConfiguration,
    EarlyStoppingGraphTrainer,
    EarlyStoppingListener,
    EarlyStoppingResult,
    EarlyStoppingTrainer,
    EpochTerminationCondition,
    InMemoryModelSaver,
    InvalidScoreIterationTerminationCondition,
    IterationTerminationCondition,
    LocalFileGraphSaver,
    LocalFileModelSaver,
    MaxEpochsTerminationCondition,
    MaxScoreIterationTerminationCondition,
    MaxTimeIterationTerminationCondition,
    RegressionScoreCalculator,
    ROCScoreCalculator,
    ScoreCalculator,
    ScoreImprovementEpochTerminationCondition,
    TimeUnit,
    VAEReconErrorScoreCalculator,
    VAEReconProbScoreCalculator,
)
from .files.exchange import set_arrays, to_arrays, to_same_diff
from .models.computation_graph import ComputationGraph
from .models.model_serializer import ModelSerializer
from .models.multilayer import MultiLayerNetwork
from .parallel import InferenceMode, LoadBalanceMode, ParallelInference, ParallelWrapper, TrainingMode
from .reports.layer_view import LayerView
from .structure.builders import GraphBuilder, ListBuilder
from .structure.configuration import (
    ComputationGraphConfiguration,
    LayerVertex,
    MultiLayerConfiguration,
    NetworkConfiguration,
    NeuralNetConfiguration,
)
from .structure.layer_type import LayerType
from .structure.settings import (
    BackpropType,
    CacheMode,
    DefaultStepFunction,
    GradientStepFunction,
    NegativeDefaultStepFunction,
    NegativeGradientStepFunction,
    OptimizationAlgorithm,
    StepFunction,
    WorkspaceMode,
)
from .transfer import FineTuneConfiguration, TransferLearning, TransferLearningHelper

__all__ = [
    "AutoencoderScoreCalculator",
    "BackpropType",
    "BestScoreEpochTerminationCondition",
    "CacheMode",
    "ClassificationScoreCalculator",
    "ComputationGraph",
    "ComputationGraphConfiguration",
    "DataSetLossCalculator",
    "DataSetLossCalculatorCG",
    "DefaultStepFunction",
    "EarlyStoppingConfiguration",
    "EarlyStoppingGraphTrainer",
    "EarlyStoppingListener",
    "EarlyStoppingResult",
    "EarlyStoppingTrainer",
    "EpochTerminationCondition",
    "FineTuneConfiguration",
    "GradientStepFunction",
    "GraphBuilder",
    "InMemoryModelSaver",
    "InferenceMode",
    "InvalidScoreIterationTerminationCondition",
    "IterationTerminationCondition",
    "LayerType",
    "LayerVertex",
    "LayerView",
    "ListBuilder",
    "LoadBalanceMode",
    "LocalFileGraphSaver",
    "LocalFileModelSaver",
    "MaxEpochsTerminationCondition",
    "MaxScoreIterationTerminationCondition",
    "MaxTimeIterationTerminationCondition",
    "ModelSerializer",
    "MultiLayerConfiguration",
    "MultiLayerNetwork",
    "NegativeDefaultStepFunction",
    "NegativeGradientStepFunction",
    "NetworkConfiguration",
    "NeuralNetConfiguration",
    "OptimizationAlgorithm",
    "ParallelInference",
    "ParallelWrapper",
    "ROCScoreCalculator",
    "RegressionScoreCalculator",
    "ScoreCalculator",
    "ScoreImprovementEpochTerminationCondition",
    "StepFunction",
    "TimeUnit",
    "TrainingMode",
    "TransferLearning",
    "TransferLearningHelper",
    "VAEReconErrorScoreCalculator",
    "VAEReconProbScoreCalculator",
    "WorkspaceMode",
    "set_arrays",
    "to_arrays",
    "to_same_diff",
]
