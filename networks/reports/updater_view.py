"""The updater of a network as an object."""
from __future__ import annotations

from typing import Any

import numpy as np

from ...samediff.base.javanames import JavaSpelling
from ...samediff.base.user_code.users_arrays import users_array
from ...samediff.errors import ConfigurationError, ShapeError
from ...samediff.expressions.arrays import to_numbers
from ..engine.gradient import Gradient
from ..engine.protocols import HasEngine


class UpdaterView(JavaSpelling):
    """The updater of a network: its state as one flat vector, and the updates that it computes from gradients."""

    def __init__(self, network: HasEngine) -> None:
        self._network = network

    def state_view(self) -> Any:
        """The state of all blocks, one after the other."""
        self._network.engine.structure.check_complete("look at the updater's state")
        return users_array(self._network.engine.flat.state)

    get_state_view_array = state_view

    def set_state_view_array(self, state: Any) -> None:
        """Replace the state."""
        engine, given = self._network.engine, to_numbers(state, "the state of an updater").reshape(-1)
        engine.structure.check_complete("replace the updater's state")
        with engine.flat.gate:
            if given.size != engine.flat.state.size:
                raise ConfigurationError(f"the updater has a state of {engine.flat.state.size} numbers, {given.size} were given")
            engine.flat.state[...] = given

    def get_updater_blocks(self) -> list[Any]:
        """The blocks of parameters that share one updater."""
        return list(self._network.engine.flat.blocks)

    def update(self, gradient: Any, *args: Any) -> None:
        """Turn a gradient (sums over examples) into the update to subtract from the parameters, in place.

        It is divided by the batch size and normalized; then come regularization and the rules of the updaters, whose state goes on.

        Parameters
        ----------
        gradient : Gradient
            Such as :meth:`~dl4py.networks.MultiLayerNetwork.backprop_gradient` gives.
        *args : int
            ``iteration, epoch, batch_size``: where schedules stand, and the number of examples. The network in front of the gradient, and
            a workspace manager behind all, as DL4J has them, have no effect.
        """
        if not isinstance(gradient, Gradient):
            gradient, *args = args              # type: ignore[assignment]
        iteration, epoch, batch_size = args[:3]
        engine, flat = self._network.engine, gradient.gradient()
        engine.structure.check_complete("update its parameters")
        with engine.lock:
            if flat.shape != engine.flat.gradients.shape:
                raise ShapeError(f"the network has {engine.flat.gradients.size} parameters, the gradient has {flat.size}")
            own = np.may_share_memory(flat, engine.flat.gradients)
            if not own:
                engine.flat.gradients[...] = flat
            engine.updates.make(batch_size, iteration, epoch)
            if not own:
                flat[...] = engine.flat.gradients
