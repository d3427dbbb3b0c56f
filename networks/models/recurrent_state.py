"""The states that recurrent layers keep between calls."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...layers.standard.recurrent import GravesBidirectionalLSTM
from ...layers.standard.wrappers import Bidirectional
from ...samediff.base.user_code.users_arrays import users_array
from ...samediff.errors import GraphError
from ...samediff.expressions.arrays import as_array
from ..batches.batch import NetworkBatch
from ..batches.batch_checks import time_axis
from .network import Network


class RecurrentStateMixin(Network):
    """The part of a network that keeps recurrent states: of ``rnn_time_step``, and of pieces of longer series."""

    def __init__(self, configuration: Any) -> None:
        super().__init__(configuration)
        self._states: dict[str, Any] = {}
        self._piece_states: dict[str, Any] = {}

    def _state(self) -> dict[str, Any]:
        return {**super()._state(), "recurrent": (dict(self._states), dict(self._piece_states))}

    def _restore(self, state: Mapping[str, Any]) -> None:
        super()._restore(state)
        self._states, self._piece_states = map(dict, state["recurrent"])

    def rnn_clear_previous_state(self) -> None:
        """Forget all states that are kept, as truncated back-propagation does at each batch that it fits or evaluates."""
        self._states, self._piece_states = {}, {}

    def rnn_get_previous_state(self, layer: Any) -> dict[str, Any]:
        """State of a layer that ``rnn_time_step`` keeps, (batch, n_out): ``prevAct`` and, of an LSTM, ``prevMem``."""
        prefix = f"{self.structure.key_of(layer)}_"
        return {k.removeprefix(prefix): users_array(v) for k, v in self._states.items() if k.startswith(prefix)}

    def rnn_set_previous_state(self, layer: Any, state: dict[str, Any]) -> None:
        """Replace the state of a layer that ``rnn_time_step`` keeps."""
        self._states.update({f"{self.structure.key_of(layer)}_{k}": as_array(v) for k, v in state.items()})

    def rnn_get_previous_states(self) -> dict[str, dict[str, Any]]:
        """The states that ``rnn_time_step`` keeps, by layer."""
        keys = [m.key for m in self.engine.structure.members]
        return {key: state for key in keys if (state := self.rnn_get_previous_state(key))}

    def rnn_set_previous_states(self, states: dict[str, dict[str, Any]]) -> None:
        """Replace the states of layers that ``rnn_time_step`` keeps."""
        for layer, state in states.items():
            self.rnn_set_previous_state(layer, state)

    def update_rnn_state_with_tbptt_state(self) -> None:
        """Have ``rnn_time_step`` continue from the states that ``rnn_activate_using_stored_state`` kept."""
        self._states.update(self._piece_states)

    def _next_steps(self, given: list[Any]) -> list[Any]:
        """The outputs for the next steps; rows are one step, but those of indices."""
        structure = self.engine.structure
        axis, rows = time_axis(structure), all(v.ndim == 2 for v in given)
        indices = {name for m in structure.members if _takes_indices(m.conf) for name in m.inputs}
        series = [np.expand_dims(v, axis) if rows and name not in indices else v for name, v in zip(structure.inputs, given)]
        outs = self._step_in_time(NetworkBatch(series))
        return [o.take(0, axis) if rows and o.ndim == 3 and o.shape[axis] == 1 else o for o in outs]

    def _step_in_time(self, batch: NetworkBatch) -> list[Any]:
        """Outputs for the next steps of series, from the states of ``rnn_time_step``."""
        for member in self.engine.structure.members:
            if _both_ways(member.conf):
                raise GraphError(f"{member.label} also runs backwards from the last step: it needs whole series; use output")
        self._check_states(self._states, batch)
        outputs, after = self.engine.forward.activations(batch, list(self.engine.structure.outputs), False, self._states, True)
        unknown = sorted(set(self._states) - set(after))
        if unknown:
            raise GraphError(f"no layer keeps the state {', '.join(unknown)} that was set; states: {', '.join(after) or 'none'}. "
                             "rnn_clear_previous_state forgets all")
        self._states = after
        return outputs

    def _activate_piece(self, batch: NetworkBatch, training: bool, keep: bool) -> list[Any]:
        """Activations of all members from the states after the last piece."""
        self._check_states(self._piece_states, batch)
        keys = [m.key for m in self.engine.structure.members]
        found, after = self.engine.forward.activations(batch, keys, training, self._piece_states, True)
        if keep:
            self._piece_states = after
        return found

    @staticmethod
    def _check_states(states: dict[str, Any], batch: NetworkBatch) -> None:
        old = next(iter(states.values()), None)
        if old is not None and old.shape[0] != batch.size:
            raise GraphError(f"the stored state belongs to {old.shape[0]} series, the input has {batch.size}; "
                             "call rnn_clear_previous_state first")


def _takes_indices(conf: Any) -> bool:
    """Whether a layer, or what it wraps, takes numbers of rows."""
    inner = getattr(conf, "underlying", None)
    return bool(getattr(conf, "takes_indices", False)) or (inner is not None and _takes_indices(inner))


def _both_ways(conf: Any) -> bool:
    """Whether a layer, or the one that it wraps, needs the later steps of a series for the earlier ones."""
    inner = getattr(conf, "underlying", None)
    return isinstance(conf, (Bidirectional, GravesBidirectionalLSTM)) or (inner is not None and _both_ways(inner))
