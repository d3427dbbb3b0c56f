"""Evaluation of predictions: classification, regression, ROC curves and calibration.

Every evaluation takes batches by ``eval(labels, predictions, mask)``, joins others by ``merge`` and prints itself by ``stats()``,
with DL4J's numbers, texts and JSON.
"""

from .base import BaseEvaluation
from .binary import EvaluationBinary
from .calibration import EvaluationCalibration
from .classification import Evaluation
from .confusion_matrix import ConfusionMatrix
from .counts import EvaluationAveraging
from .curves import Histogram, PrecisionRecallCurve, ReliabilityDiagram, RocCurve
from .custom import CustomEvaluation, CustomMetric
from .prediction import Prediction
from .regression import RegressionEvaluation
from .roc import ROC
from .roc_columns import EvaluationTools, ROCBinary, ROCMultiClass

__all__ = [
    "ROC",
    "BaseEvaluation",
    "ConfusionMatrix",
    "CustomEvaluation",
    "CustomMetric",
    "Evaluation",
    "EvaluationAveraging",
    "EvaluationBinary",
    "EvaluationCalibration",
    "EvaluationTools",
    "Histogram",
    "PrecisionRecallCurve",
    "Prediction",
    "ROCBinary",
    "ROCMultiClass",
    "RegressionEvaluation",
    "ReliabilityDiagram",
    "RocCurve",
]
