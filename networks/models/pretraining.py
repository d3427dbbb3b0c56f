"""Layer-wise training without labels (Bengio and others, "Greedy layer-wise training of deep networks", 2007)."""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...samediff.data.given.forms import gives_batches
from ...samediff.data.given.sources import InBatch, numbered, source_of
from ...samediff.errors import ConfigurationError
from ...samediff.training.listeners.calls import Listeners
from ...samediff.training.listeners.operation import Operation
from ..batches.batch import NetworkBatch
from ..batches.given_data import inputs_in
from ..engine.pretrainer import Pretrainer
from .network import Network


class PretrainingMixin(Network):
    """The part of a network that pretrains layers that can, such as :class:`AutoEncoder`; counters and score stay.

    Listeners hear ``on_gradient_calculation`` and ``iteration_done`` with the layer (:meth:`get_layer`) and its own number of the
    iteration. Those that save or evaluate networks do nothing then.
    """

    def pretrain(self, data: Any, epochs: int = 1) -> None:
        """Pretrain every layer that can, from the first to the last, each on the activations of those before it.

        Parameters
        ----------
        data : array (batch, …), DataSet, MultiDataSet or an iterator of them
            Features; labels are not looked at.
        epochs : int
            Passes over the data for each layer, at least 1.
        """
        for member in self.engine.structure.members:
            if member.can_pretrain:
                self.pretrain_layer(member.key, data, epochs)

    def pretrain_layer(self, layer: Any, data: Any, epochs: int = 1) -> None:
        """Pretrain one layer (index or name); a layer that cannot stays as it is.

        Raises
        ------
        ConfigurationError
            A number of epochs below 1.
        """
        if epochs < 1:
            raise ConfigurationError(f"epochs must be at least 1, got {epochs}")
        engine = self.engine
        member = engine.structure.member(engine.structure.key_of(layer))
        if not member.can_pretrain:
            return
        with engine.lock:
            trainer = engine.pretrainers.get(member.key)
            if trainer is None or trainer.member != member:
                trainer = engine.pretrainers[member.key] = Pretrainer(member, engine.structure.dtype.numpy)
            hear, view = Listeners(self._listeners, Operation.TRAINING), self.get_layer(member.key)
            for _ in range(epochs):
                for batch in self._unlabelled(data):
                    trainer.step(engine.forward, batch, hear, view)

    def get_layer(self, layer: Any) -> Any:
        raise NotImplementedError

    def _unlabelled(self, data: Any) -> Iterator[NetworkBatch]:
        several = isinstance(data, list) or gives_batches(data)
        for number, part in numbered(source_of(data) if several else [data], "pretrain"):
            with InBatch(number):
                batch = inputs_in(self.structure, part, "pretrain")
            yield batch
