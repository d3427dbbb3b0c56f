"""Base of all evaluations: feeding, merging, JSON and Java's spellings."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar, NoReturn, Self

import numpy as np

from ..base.copying import CopiedWhole
from ..base.datatype import DataType, is_floating
from ..base.java_names import BaseEvaluationNames
from ..base.registry import Registry, owner
from ..base.user_code.abstract_methods import check_class_methods, unwritten
from ..drawing.figures import Draw, figure_of
from ..errors import ConfigurationError, DataTypeError, DL4PyError, FileFormatError
from ..text.html import html_text
from .own_counts import read, written
from .records import mask_and_records
from .rows import Array, Rows, to_rows
from .text import json_text, plain_json

_CLASSES: Registry[type[BaseEvaluation]] = Registry("evaluation")


class BaseEvaluation(CopiedWhole, BaseEvaluationNames):
    """Base class of the evaluations (DL4J's IEvaluation).

    A subclass says how rows are counted (:meth:`count`), joined (:meth:`join`), forgotten (:meth:`reset`) and shown (:meth:`stats`).
    Its JSON holds its attributes, unless it writes :meth:`document` and :meth:`restore`, and names it:
    ``class Mine(BaseEvaluation, name="org.acme.Mine")``.
    """

    java_class: ClassVar[str] = ""
    axis: int = 1

    def __init_subclass__(cls, java: str = "", name: str = "", **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        check_class_methods(cls)
        cls.java_class = f"org.nd4j.evaluation.{java}" if java else name
        if cls.java_class:
            _CLASSES.add(cls.java_class, cls)

    def eval(self, labels: Any, predictions: Any, mask: Any = None, record_meta_data: Sequence[Any] | None = None) -> None:
        """Add a batch. ``mask`` holds 1 for what counts and 0 for what does not, per row or per output.

        ``record_meta_data``, where each example came from, is kept by :class:`Evaluation` only; a list as third argument is such.

        Shapes: labels, predictions (batch, outputs), (batch, outputs, time) or (batch, outputs, height, width); mask
        (batch, 1), (batch, time) or the shape of the labels.
        """
        mask, _ = mask_and_records(mask, record_meta_data, labels)
        self.count(to_rows(labels, predictions, mask, self.axis))

    def eval_time_series(self, labels: Any, predictions: Any, mask: Any = None) -> None:
        """Add a batch of series, as :meth:`eval` does: labels, predictions (batch, outputs, time), mask (batch, time)."""
        self.eval(labels, predictions, mask)

    def __getitem__(self, key: Any) -> NoReturn:
        """There are no parts, as ``loss, accuracy = net.evaluate(x, y)`` expects."""
        raise DataTypeError(f"{type(self).__name__} is one object, without parts: accuracy(), f1(), stats() and its other methods are the "
                            "measures, score(x, y) of the model is the loss")

    def plot(self, save_to: str | os.PathLike[str] | None = None) -> Any:
        """Draw what was counted; needs matplotlib.

        Parameters
        ----------
        save_to : path, optional
            Write the picture to this file.

        Returns
        -------
        matplotlib figure
        """
        return figure_of(self.drawn(), save_to, columns=2, size=(5, 4))

    def drawn(self) -> list[Draw]:
        """Return the parts of the picture, each a function that draws into axes of matplotlib; without them there is no ``plot``."""
        raise ConfigurationError(f"{type(self).__name__} has no picture: define drawn(), or read stats()")

    def _repr_html_(self) -> str:
        return html_text(type(self).__name__, self.stats())

    @unwritten(when_called=True)
    def count(self, rows: Rows) -> None:
        """Add rows to the counts."""
        raise NotImplementedError

    @unwritten(when_called=True)
    def join(self, other: Any) -> None:
        """Add the counts of another evaluation of the same class."""
        raise NotImplementedError

    def merge(self, other: Self) -> None:
        """Add the counts of ``other``, as if this evaluation had seen its batches too."""
        if type(other) is not type(self):
            raise ConfigurationError(
                f"cannot merge {type(other).__name__} into {type(self).__name__}: the classes differ"
            )
        self.join(other)

    @unwritten(when_called=True)
    def reset(self) -> None:
        """Forget everything that was counted."""
        raise NotImplementedError

    @unwritten(when_called=True)
    def stats(self) -> str:
        """Return DL4J's printed report."""
        raise NotImplementedError

    def document(self) -> dict[str, Any]:
        """Return the fields of the JSON, in their order: all attributes, where a class says nothing else."""
        return written(self)

    @classmethod
    def restore(cls, doc: dict[str, Any]) -> Self:
        """Return the evaluation that :meth:`document` described."""
        made = cls.__new__(cls)
        vars(made).update(read(doc))
        return made

    def tagged(self) -> dict[str, Any]:
        """Return the fields with the class name in front."""
        if not self.java_class:
            raise ConfigurationError(f"{owner(type(self)).split()[0]} has no name that JSON could keep: give it one, "
                                     f'such as class {type(self).__name__}(..., name="org.acme.{type(self).__name__}")')
        return {"@class": self.java_class, **self.document()}

    def to_json(self) -> str:
        """Return DL4J's JSON of this evaluation."""
        return json_text(self.tagged())

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read DL4J's JSON; called on the base class it gives whatever class the text names."""
        return cls.from_document(parsed(text))

    @classmethod
    def from_document(cls, doc: Any) -> Self:
        """Return the evaluation of a parsed JSON document."""
        name = doc.get("@class", cls.java_class) if isinstance(doc, dict) else None
        found = _CLASSES.find(str(name))
        if found is None or not issubclass(found, cls):
            raise FileFormatError(f"expected the JSON of {cls.__name__}, got the class {name!r}")
        with reading(found.__name__):
            with np.errstate(over="raise", invalid="raise"):
                made = found.restore(doc)
            if found.stats is not BaseEvaluation.stats:
                made.stats()        # counts and names that do not go together fail now
        return made

    def to_yaml(self) -> str:
        """Return the same fields as :meth:`to_json`, as YAML."""
        import yaml

        return str(yaml.safe_dump(plain_json(self.tagged()), sort_keys=False))

    @classmethod
    def from_yaml(cls, text: str) -> Self:
        """Read what :meth:`to_yaml` wrote."""
        import yaml

        return cls.from_document(yaml.safe_load(text))

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and json_text(other.document()) == json_text(self.document())

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        return self.stats()

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"


def parsed(text: Any) -> Any:
    """The document of a JSON text."""
    try:
        return json.loads(text)
    except (TypeError, ValueError, RecursionError) as error:
        raise FileFormatError(f"this is not JSON: {error}") from None


@contextmanager
def reading(name: str) -> Iterator[None]:
    """FileFormatError for what goes wrong with the JSON of an evaluation or a curve."""
    try:
        yield
    except DL4PyError:
        raise
    except (LookupError, TypeError, AttributeError, ValueError, ArithmeticError) as error:
        raise FileFormatError(f"the JSON of {name} lacks a field or has a wrong one: {error!r}") from error


def array_document(array: Array | None, kind: str = "") -> dict[str, Any] | None:
    """Return DL4J's JSON of a small array: data type, shape and the numbers."""
    if array is None:
        return None
    name = kind or DataType.of(array.dtype).name
    data = [float(str(v)) for v in array.ravel()] if is_floating(array.dtype) else [int(v) for v in array.ravel()]
    return {"dataType": name, "shape": list(array.shape), "data": data}


def read_array(doc: Any, dtype: Any) -> Array | None:
    """Return the array of :func:`array_document`; a plain list will do too."""
    if doc is None:
        return None
    if isinstance(doc, dict):
        return np.array([float(v) for v in doc["data"]]).astype(dtype).reshape(doc["shape"])
    return np.asarray(doc, dtype)
