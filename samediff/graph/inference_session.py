"""Running a graph without its methods."""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ..base.javanames import JavaSpelling
from ..data import DataSet, MultiDataSet
from ..errors import GraphError
from ..ir.core import GraphCore
from ..ir.tables import names_of
from ..training.listeners.calls import Listeners
from ..training.listeners.operation import At

if TYPE_CHECKING:
    from .graph import SameDiff


class InferenceSession(JavaSpelling):
    """One way into a graph (DL4J's ``InferenceSession``); it holds nothing but the graph, so any thread may use it.

    Parameters
    ----------
    sd : SameDiff
        The graph.

    Examples
    --------
    >>> from dl4py.samediff import InferenceSession, SameDiff
    >>> sd = SameDiff.create()
    >>> y = sd.var("x", [1.0, 2.0]).add("y", 1.0)
    >>> InferenceSession(sd).output(["y"], {})
    {'y': array([2., 3.], dtype=float32)}
    """

    def __init__(self, sd: SameDiff) -> None:
        if not isinstance(sd, GraphCore):
            raise GraphError(f"InferenceSession takes a graph; got {type(sd).__name__}")
        self.same_diff = sd

    def output(self, variables: Iterable[Any], placeholders: Any = None, batch: Any = None,
               required_activations: Any = (), listeners: Any = (), at: Any = None,
               training: bool = False) -> dict[str, Any]:
        """Values of ``variables``, then of ``required_activations``: ``{name: array}``. The order of the arguments is that of DL4J's code.

        That of its documents works too: ``output(variables, required_activations, placeholders, listeners, at, batch)``.

        Parameters
        ----------
        variables, required_activations : names or variables
            What to compute.
        placeholders : mapping of name to array
            With a ``batch`` (MultiDataSet) those of the training configuration's mapping join them.
        batch : MultiDataSet or DataSet, optional
            Arrays for the placeholders that the training configuration's mappings name.
        listeners, at
            Who hears of the run, and what they are told about where it stands (by default the first inference).
        training : bool
            Whether dropout and the like are active.
        """
        sd = self.same_diff
        if isinstance(batch, Mapping) and not isinstance(placeholders, Mapping):        # as the documents have it
            placeholders, required_activations, listeners, at, batch = batch, placeholders, required_activations, listeners, at
        if not isinstance(placeholders, Mapping | None) or not isinstance(batch, MultiDataSet | DataSet | None):
            kinds = f"{type(placeholders).__name__} as placeholders, {type(batch).__name__} as batch"
            raise GraphError("InferenceSession.output takes (variables, placeholders by name, batch or None, required activations, "
                             f"listeners, at); got {kinds}")
        feeds = dict(placeholders or {})
        if batch is not None and not _is_empty(batch) and (not feeds or sd.get_training_config() is not None):
            config = sd.checked_config(training=False)
            whole = batch.to_multi_data_set() if isinstance(batch, DataSet) else batch
            feeds = {**config.placeholders(whole.features, whole.labels, whole.features_masks, whole.labels_masks), **feeds}
        names = names_of(list(variables)) + names_of(list(required_activations or ()))
        where = at if at is not None else At.default_at()
        heard = Listeners(listeners or (), where.operation())
        return sd.heard_output(heard, feeds, names, where, training) if heard.members else sd.compute(feeds, names, training)


def _is_empty(batch: Any) -> bool:
    """Whether a data set holds no arrays, as ``MultiDataSets.singleton(None, None)``."""
    whole = batch.to_multi_data_set() if isinstance(batch, DataSet) else batch
    return all(a is None for a in (*whole.features, *whole.labels))
