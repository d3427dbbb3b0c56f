"""Programs of PyTorch in a file: calls as JSON, arrays beside them. PyTorch is not needed to read it."""
from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from dl4py.samediff.pytorch.torch_graph import Reference, TorchArray, TorchCall, TorchGraph, TorchInput

FILE = Path(__file__).parent / "programs.npz"


def plain(value: Any) -> Any:
    """A value as JSON has it."""
    if isinstance(value, Reference):
        return {"reference": value.name}
    if isinstance(value, np.dtype):
        return {"dtype": value.name}
    if isinstance(value, dict):
        return {"options": {k: plain(v) for k, v in value.items()}}
    return [plain(v) for v in value] if isinstance(value, list) else value


def back(value: Any) -> Any:
    """The value of JSON."""
    if isinstance(value, list):
        return [back(v) for v in value]
    if not isinstance(value, dict):
        return value
    kind, inner = next(iter(value.items()))
    return {"reference": Reference, "dtype": np.dtype, "options": lambda d: {k: back(v) for k, v in d.items()}}[kind](inner)


def write(cases: dict[str, tuple[TorchGraph, list[Any], list[Any]]]) -> None:
    """Write programs with inputs and outputs."""
    arrays: dict[str, Any] = {}
    documents = {}
    for name, (graph, given, wanted) in cases.items():
        documents[name] = {
            "inputs": [[i.name, i.dtype.name, list(i.shape)] for i in graph.inputs],
            "arrays": [[a.name, a.key, a.trainable] for a in graph.arrays], "outputs": graph.outputs,
            "calls": [[c.name, c.op_type, plain(c.args), plain(c.options), plain(c.dtype), c.several] for c in graph.calls]}
        for kind, held in (("array", [a.array for a in graph.arrays]), ("given", given), ("wanted", wanted)):
            arrays |= {f"{name}/{kind}/{i}": a for i, a in enumerate(held)}
    arrays["documents"] = np.frombuffer(json.dumps(documents).encode(), np.uint8)
    np.savez_compressed(FILE, **arrays)


def cases() -> Iterator[tuple[str, TorchGraph, list[Any], list[Any]]]:
    """Names, programs, inputs and outputs."""
    with np.load(FILE) as held:
        for name, document in json.loads(held["documents"].tobytes()).items():
            def listed(kind: str, name: str = name) -> list[Any]:
                return [held[f"{name}/{kind}/{i}"] for i in range(sum(k.startswith(f"{name}/{kind}/") for k in held.files))]
            graph = TorchGraph(
                [TorchInput(n, np.dtype(d), tuple(s)) for n, d, s in document["inputs"]],
                [TorchArray(n, k, a, t) for (n, k, t), a in zip(document["arrays"], listed("array"))],
                [TorchCall(n, op, back(args), back(options), back(d), several) for n, op, args, options, d, several in document["calls"]],
                [tuple(o) for o in document["outputs"]])
            yield name, graph, listed("given"), listed("wanted")
