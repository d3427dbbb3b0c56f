"""Memory that a network needs."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...samediff.errors import ConfigurationError
from ...samediff.executor.plan_cache import plan_for
from ...samediff.executor.session import checked_feeds, request_for
from ..batches.batch import NetworkBatch
from ..engine.engine import Engine


def memory_report(name: str, engine: Engine, mini_batch: int, input_types: Sequence[Any]) -> str:
    """A table of bytes, see :meth:`MultiLayerNetwork.memory_info`."""
    structure = engine.structure
    if mini_batch < 1:
        raise ConfigurationError(f"memory_info needs a batch of at least one example, got {mini_batch}")
    if len(input_types) != len(structure.inputs):
        raise ConfigurationError(f"memory_info needs an input type for each input ({', '.join(structure.inputs)}), "
                                 f"{len(input_types)} were given")
    batch = NetworkBatch([zeros_of(name, t, mini_batch, structure.dtype.numpy) for name, t in zip(structure.inputs, input_types)])
    made = engine.graphs.of(batch)
    names = [made.activations[m.key] for m in structure.members]
    outputs = [made.activations[name] for name in structure.outputs]
    feeds = checked_feeds(made.sd, engine.graphs.feeds(batch, made))
    plan = plan_for(made.sd, feeds, request_for(made.sd, tuple(outputs), False))
    every = plan_for(made.sd, feeds, request_for(made.sd, tuple(names), False))
    rows = [("Parameters", engine.flat.params.nbytes), ("Gradients", engine.flat.gradients.nbytes),
            ("Updater state", engine.flat.state.nbytes), ("Inputs", sum(x.nbytes for x in batch.inputs)),
            ("Working memory of output()", plan.arena)]
    rows += [(f"Activations of {m.label}", _bytes(every.specs.get(n))) for m, n in zip(structure.members, names)]
    width = max(len(label) for label, _ in rows)
    head = f"{name}, batches of {mini_batch}, bytes"
    return "\n".join([head, "-" * max(len(head), width + 16), *(f"{label:<{width}}  {size:>14,}" for label, size in rows), ""])


def zeros_of(name: str, input_type: Any, mini_batch: int, dtype: Any) -> Any:
    """An input of that type, of so many examples."""
    shape = (mini_batch, *input_type.array_shape()[1:])
    if min(shape) < 0:
        raise ConfigurationError(f"memory_info needs the length of input {name!r}, got {input_type}: use InputType.recurrent(size, length)")
    return np.zeros(shape, dtype)


def _bytes(spec: Any) -> int:
    return 0 if spec is None or spec.shape is None else int(np.prod(spec.shape, dtype=np.int64)) * spec.dtype.numpy.itemsize
