"""Outputs of networks for data of any form, and the classes that they stand for."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Never

import numpy as np

from ...layers.functions.activations import ActivationHardSigmoid, ActivationSigmoid
from ...samediff.data import DataSet
from ...samediff.data.given.forms import Form, form_of, gives_batches, is_whole
from ...samediff.data.given.labels import classes_of
from ...samediff.data.given.parts import by_role
from ...samediff.data.given.sources import decides_itself, source_of
from ...samediff.errors import GraphError
from ...samediff.training.fit_options import positive, wrong_option
from ...samediff.training.progress import with_bar
from ..batches.batch import NetworkBatch
from ..batches.given_data import inputs_in, outputs_of
from ..batches.row_batches import RowBatches
from .network import Network

Masks = tuple[Any, Any]


class PredictingMixin(Network):
    """The part of a network that goes through data for its outputs."""

    if TYPE_CHECKING:
        output: Any         # each kind of network has its own

    def _is_data(self, given: Sequence[Any]) -> bool:
        """Whether the arguments of ``output`` are a batch or batches, rather than input arrays."""
        if len(given) != 1 or form_of(given[0]) is Form.ARRAY:
            return False
        several = len(self.structure.inputs) > 1 and isinstance(given[0], tuple) and len(given[0]) == len(self.structure.inputs)
        return not several

    def _outputs_for(self, data: Any, size: int | None, train: bool, masks: Masks) -> list[Any]:
        """Activations of the outputs for inputs in a batch, or for batches, one below the other."""
        if masks != (None, None) and not isinstance(data, NetworkBatch):
            raise GraphError("masks of batches stand in the batches; an array takes them beside it")
        given = source_of([data]) if is_whole(data) else None
        if size is not None:
            size = positive("batch_size", size)
            if given is not None:
                given = RowBatches(inputs_in(self.structure, data, "compute"), size)
            elif decides_itself(data):
                raise GraphError(f"batch_size is for arrays, one data set or single examples; a {type(data).__name__} decides on its "
                                 "batches itself")

        def call(batch: NetworkBatch) -> list[Any]:
            found = self._arrays.or_set((batch.features_masks or None, masks[1]))
            return self.engine.forward.activations(NetworkBatch(batch.inputs, None, *found), [*self.engine.structure.outputs], train)[0]
        return outputs_of(call, self.structure, source_of(data, size) if given is None else given)

    def _inputs_by_name(self, given: Sequence[Any], unknown: Mapping[str, Any], call: str, options: Sequence[str]) -> Sequence[Any]:
        """The inputs of a call, also where they were given by a name that they have."""
        parts, wrong = by_role(unknown)
        if wrong or len(parts) > 1 or (parts and (0 not in parts or given)):
            raise wrong_option(call, next(iter(wrong or unknown)), ["the inputs or data"], options)
        return [parts[0]] if parts else given

    def predict(self, *data: Any, batch_size: int | None = None, verbose: Any = 0, **unknown: Never) -> Any:
        """The class of each example: that of its largest output, or 1 for a single output of at least a half; as in DL4J its name, where a
        `DataSet` is given that names its classes.

        Parameters
        ----------
        *data : array, data set or batches
            What :meth:`output` takes.
        batch_size : int, optional
            Examples that are computed at once, or put together.
        verbose : bool
            Show a bar while batches are gone through, where tqdm is installed and the output is a terminal.

        Raises
        ------
        GraphError
            Several outputs; a single one that is no probability.
        """
        if unknown:
            data = tuple(self._inputs_by_name(data, unknown, "predict", ["batch_size", "verbose"]))
        if verbose and len(data) == 1 and batch_size is None and gives_batches(data[0]):
            data = (with_bar(iter(source_of(data[0])), "predict", data[0]),)
        found = self.output(*data, batch_size=batch_size)
        if isinstance(found, list):
            if len(found) != 1:
                raise GraphError(f"predict needs a network with one output, this one has {len(found)}; output(…) gives all of them")
            found = found[0]
        conf = self.structure.member(self.structure.outputs[0]).conf
        classes = classes_of(found, isinstance(getattr(conf, "activation", None), (ActivationSigmoid, ActivationHardSigmoid)))
        named = len(data) == 1 and isinstance(data[0], DataSet) and data[0].label_names and np.ndim(classes) == 1
        return [data[0].get_label_name(int(k)) for k in classes] if named else classes
