"""Early stopping: train until a condition says stop, keep the best model (DL4J's ``earlystopping`` packages)."""
from .configuration import EarlyStoppingConfiguration
from .result import EarlyStoppingListener, EarlyStoppingResult, TerminationReason
from .savers import EarlyStoppingModelSaver, InMemoryModelSaver, LocalFileGraphSaver, LocalFileModelSaver
from .scores import (
    AutoencoderScoreCalculator,
    ClassificationScoreCalculator,
    DataSetLossCalculator,
    DataSetLossCalculatorCG,
    RegressionScoreCalculator,
    ROCScoreCalculator,
    ScoreCalculator,
    VAEReconErrorScoreCalculator,
    VAEReconProbScoreCalculator,
)
from .termination import (
    BestScoreEpochTerminationCondition,
    EpochTerminationCondition,
    InvalidScoreIterationTerminationCondition,
    IterationTerminationCondition,
    MaxEpochsTerminationCondition,
    MaxScoreIterationTerminationCondition,
    MaxTimeIterationTerminationCondition,
    ScoreImprovementEpochTerminationCondition,
    TimeUnit,
)
from .trainer import EarlyStoppingGraphTrainer, EarlyStoppingTrainer

__all__ = [
    "AutoencoderScoreCalculator",
    "BestScoreEpochTerminationCondition",
    "ClassificationScoreCalculator",
    "DataSetLossCalculator",
    "DataSetLossCalculatorCG",
    "EarlyStoppingConfiguration",
    "EarlyStoppingGraphTrainer",
    "EarlyStoppingListener",
    "EarlyStoppingModelSaver",
    "EarlyStoppingResult",
    "EarlyStoppingTrainer",
    "EpochTerminationCondition",
    "InMemoryModelSaver",
    "InvalidScoreIterationTerminationCondition",
    "IterationTerminationCondition",
    "LocalFileGraphSaver",
    "LocalFileModelSaver",
    "MaxEpochsTerminationCondition",
    "MaxScoreIterationTerminationCondition",
    "MaxTimeIterationTerminationCondition",
    "ROCScoreCalculator",
    "RegressionScoreCalculator",
    "ScoreCalculator",
    "ScoreImprovementEpochTerminationCondition",
    "TerminationReason",
    "TimeUnit",
    "VAEReconErrorScoreCalculator",
    "VAEReconProbScoreCalculator",
]
