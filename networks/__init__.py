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

from ..layers.types.layer_type import LayerType
from .early_stopping import (
    AutoencoderScoreCalculator,
    BestScoreEpochTerminationCondition,
    ClassificationScoreCalculator,
    DataSetLossCalculator,
    DataSetLossCalculatorCG,
    EarlyStoppingConfiguration,
    EarlyStoppingGraphTrainer,
    EarlyStoppingListener,
    EarlyStoppingModelSaver,
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
from .engine.gradient import Gradient
from .files.exchange import set_arrays, to_arrays, to_same_diff
from .keras import register_keras_layer
from .models.computation_graph import ComputationGraph
from .models.keras_import import KerasModelImport
from .models.model_serializer import ModelGuesser, ModelSerializer
from .models.multilayer import MultiLayerNetwork
from .parallel import InferenceMode, LoadBalanceMode, ParallelInference, ParallelWrapper, TrainingMode
from .pytorch import from_torch, set_state_dict, to_state_dict
from .reports.gradient_check_util import GradientCheckUtil
from .reports.layer_view import LayerView
from .reports.rate_range import LearningRateRange
from .structure.configuration import (
    ComputationGraphConfiguration,
    LayerVertex,
    MultiLayerConfiguration,
    NetworkConfiguration,
    NeuralNetConfiguration,
)
from .structure.graph_builder import GraphBuilder
from .structure.list_builder import ListBuilder
from .structure.settings import (
    BackpropType,
    CacheMode,
    DefaultStepFunction,
    GradientStepFunction,
    LayerWorkspaceMgr,
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
    "EarlyStoppingModelSaver",
    "EarlyStoppingResult",
    "EarlyStoppingTrainer",
    "EpochTerminationCondition",
    "FineTuneConfiguration",
    "Gradient",
    "GradientCheckUtil",
    "GradientStepFunction",
    "GraphBuilder",
    "InMemoryModelSaver",
    "InferenceMode",
    "InvalidScoreIterationTerminationCondition",
    "IterationTerminationCondition",
    "KerasModelImport",
    "LayerType",
    "LayerVertex",
    "LayerView",
    "LayerWorkspaceMgr",
    "LearningRateRange",
    "ListBuilder",
    "LoadBalanceMode",
    "LocalFileGraphSaver",
    "LocalFileModelSaver",
    "MaxEpochsTerminationCondition",
    "MaxScoreIterationTerminationCondition",
    "MaxTimeIterationTerminationCondition",
    "ModelGuesser",
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
    "from_torch",
    "register_keras_layer",
    "set_arrays",
    "set_state_dict",
    "to_arrays",
    "to_same_diff",
    "to_state_dict",
]
