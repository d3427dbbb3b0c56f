"""Running a graph without its methods."""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from .core import names_of
from .executor.session import run
from .javanames import JavaSpelling

if TYPE_CHECKING:
    from .graph import SameDiff


class InferenceSession(JavaSpelling):
    """One way into a graph (DL4J's ``InferenceSession``); it holds nothing but the graph, so any thread may use it.

    Examples
    --------
    >>> from dl4py.samediff import InferenceSession, SameDiff
    >>> sd = SameDiff.create()
    >>> y = sd.var("x", [1.0, 2.0]).add("y", 1.0)
    >>> InferenceSession(sd).output(["y"], {})
    {'y': array([2., 3.], dtype=float32)}
    """

    def __init__(self, sd: SameDiff) -> None:
        self.same_diff = sd

    def output(self, variables: Iterable[Any], placeholders: Mapping[str, Any] | None = None, batch: Any = None,
               required_activations: Iterable[Any] = (), listeners: Iterable[Any] = (), at: Any = None,
               training: bool = False) -> dict[str, Any]:
        """Values of ``variables``, then of ``required_activations``: ``{name: array}``.

        Parameters
        ----------
        variables, required_activations : names or variables
        placeholders : values by name; with a ``batch`` (MultiDataSet) those of the training configuration's mapping join them
        listeners, at : taken for DL4J's sake; listeners hear of runs that ``fit`` and ``output`` of the graph start
        training : whether dropout and the like are active
        """
        sd = self.same_diff
        feeds = dict(placeholders or {})
        if batch is not None:
            config = sd._checked_config(training=False)
            feeds = {**config.placeholders(batch.features, batch.labels, batch.features_masks, batch.labels_masks), **feeds}
        names = names_of(list(variables)) + names_of(list(required_activations))
        return run(sd, feeds, names, sd._context(training))
