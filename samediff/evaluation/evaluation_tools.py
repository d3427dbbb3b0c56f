"""Pages with the curves of evaluations."""
from __future__ import annotations

import os
from pathlib import Path

from ..base.javanames import JavaSpelling
from ..drawing.figures import svg
from .base import BaseEvaluation

__all__ = ["EvaluationTools"]


class EvaluationTools(JavaSpelling):
    """Pages of evaluations that have a picture (DL4J's class of that name); needs matplotlib."""

    @staticmethod
    def roc_chart_to_html(roc: BaseEvaluation) -> str:
        """A page with measures and curves.

        Parameters
        ----------
        roc : ROC, ROCBinary, ROCMultiClass or EvaluationCalibration
            What was counted.
        """
        return (f'<!DOCTYPE html><html><head><meta charset="utf-8"><title>{type(roc).__name__}</title></head>'
                f"<body>{roc._repr_html_()}{svg(roc.plot())}</body></html>")

    @staticmethod
    def export_roc_charts_to_html_file(roc: BaseEvaluation, file: str | os.PathLike[str]) -> None:
        """Write that page to a file."""
        Path(file).write_text(EvaluationTools.roc_chart_to_html(roc), encoding="utf-8")

    evaluation_calibration_to_html = roc_chart_to_html
    export_evaluation_calibration_to_html_file = export_roc_charts_to_html_file
