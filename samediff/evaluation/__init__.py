"""Evaluation of predictions: classification, regression, ROC curves and calibration."""
from .base import BaseEvaluation
from .classification import Evaluation
from .confusion_matrix import ConfusionMatrix
from .counts import EvaluationAveraging
from .prediction import Prediction
from .regression import RegressionEvaluation

__all__ = ["BaseEvaluation", "ConfusionMatrix", "Evaluation", "EvaluationAveraging", "Prediction", "RegressionEvaluation"]
