"""The printed report of an :class:`Evaluation` and its confusion matrix."""

from __future__ import annotations

from ..text.java_text import java_number
from .classification_measures import ClassificationMeasures
from .text import decimal

LEGEND = "\nConfusion matrix format: Actual (rowClass) predicted as (columnClass) N times"


def report(e: ClassificationMeasures, suppress_warnings: bool, include_confusion: bool | None) -> str:
    """Return DL4J's report: measures, warnings, confusion matrix."""
    if not e.num_row_counter():
        return "Evaluation: No data available (no evaluation has been performed)"
    n = e.num_classes()
    lines = [
        "",
        "",
        "=" * 24 + "Evaluation Metrics" + "=" * 24,
        f" # of classes:    {n}",
        f" Accuracy:        {decimal(e.accuracy())}",
    ]
    if e.top_n > 1:
        lines.append(f" Top {e.top_n} Accuracy:  {decimal(e.top_n_accuracy())}")
    for title, value, key in (
        ("Precision", e.precision(), "precision"),
        ("Recall", e.recall(), "recall"),
        ("F1 Score", e.f1(), "f1"),
    ):
        lines.append(f" {title + ':':<17}{decimal(value)}{suffix(e, key)}")
    lines.append("Precision, recall & F1: " + averaging(e))
    if e.binary_decision_threshold is not None:
        lines.append(f"Binary decision threshold: {java_number(e.binary_decision_threshold)}")
    if e.cost_array is not None:
        lines.append(f"Cost array: [{', '.join(java_number(v) for v in e.cost_array)}]")
    lines += ["", *([] if suppress_warnings else warnings(e)), ""]
    if include_confusion or (include_confusion is None and n <= e.max_classes_printed):
        lines += ["=" * 25 + "Confusion Matrix" + "=" * 25, confusion_table(e)]
    elif include_confusion is None:
        lines += [
            "",
            f"Note: Confusion matrix not generated due to space requirements for {n} classes.",
            "Use stats(false,true) to generate anyway",
        ]
    return "\n".join([*lines, "=" * 66])


def averaging(e: ClassificationMeasures) -> str:
    """Return what precision, recall and F1 of the report are about."""
    n, positive = e.num_classes(), e.binary_positive_class
    if n == 2 and positive is not None:
        return f'reported for positive class (class {positive} - "{e.labels_list[positive]}") only'
    return f"macro-averaged (equally weighted avg. of {n} classes)"


def suffix(e: ClassificationMeasures, key: str) -> str:
    """Return the remark about classes that the average leaves out."""
    left_out = len(e.excluded(key)) if e.num_classes() > 2 else 0
    return f"\t({left_out} class{'es' if left_out != 1 else ''} excluded from average)" if left_out else ""


def warnings(e: ClassificationMeasures) -> list[str]:
    """Return the warnings about classes without precision or recall."""
    lines: list[str] = []
    for key in ("precision", "recall"):
        left_out = e.excluded(key)
        if left_out:
            subject = "class was" if len(left_out) == 1 else "classes were"
            verb = "was" if len(left_out) == 1 else "were"
            shown = ", ".join(str(i) for i in left_out[: e.max_warning_classes_to_print])
            more = ", ..." if len(left_out) > e.max_warning_classes_to_print else ""
            lines += [
                f"Warning: {len(left_out)} {subject} never predicted by the model "
                f"and {verb} excluded from average {key}",
                f"Classes excluded from average {key}: [{shown}{more}]",
            ]
    return lines


def confusion_table(e: ClassificationMeasures) -> str:
    """Return the matrix with class numbers above and names to the right."""
    if not e.num_classes():
        return "Confusion matrix: <no data>"
    counts, n = e.confusion().counts, e.num_classes()
    width = 1 + max(len(str(max(int(counts.max()), n) - 1)), 1)         # DL4J's, which has no room for the last digit of 10, 100 ...
    rows = ["".join(f"{v:>{width}}" for v in row) + f" | {i} = {e.labels_list[i]}" for i, row in enumerate(counts)]
    return "\n".join(["".join(f"{i:>{width}}" for i in range(n)), "-" * (width * n + 1), *rows, LEGEND])


def confusion_with_names(e: ClassificationMeasures) -> str:
    """Return the matrix with class numbers and names to the left."""
    counts, n = e.confusion().counts, e.num_classes()
    width = max(max(len(s) for s in e.labels_list) + 5, 10)
    lines = [f"   {'Predicted:':<{width}}   " + "".join(f"{i:7d}" for i in range(n)), "   Actual:"]
    lines += [
        f"{i:<3d}{e.labels_list[i]:<{width}} | " + "".join(f"{v:7d}" for v in row) for i, row in enumerate(counts)
    ]
    return "\n".join(lines) + "\n"
