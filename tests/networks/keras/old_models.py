"""Files as Keras 1 and 2 wrote them, made with h5py."""
from __future__ import annotations

import io
import json
from typing import Any

import numpy as np


def hdf5(model: dict[str, Any], weights: dict[str, list[tuple[str, np.ndarray]]], version: str = "2.3.1", backend: str = "tensorflow",
         training: dict[str, Any] | None = None) -> io.BytesIO:
    """An HDF5 file with a model; ``weights`` are names and arrays by layer."""
    import h5py
    stream = io.BytesIO()
    with h5py.File(stream, "w") as file:
        file.attrs["model_config"] = json.dumps(model).encode()
        file.attrs["keras_version"], file.attrs["backend"] = version.encode(), backend.encode()
        if training is not None:
            file.attrs["training_config"] = json.dumps(training).encode()
        groups = file.create_group("model_weights")
        groups.attrs["layer_names"] = [name.encode() for name in weights]
        for layer, arrays in weights.items():
            group = groups.create_group(layer)
            group.attrs["weight_names"] = [name.encode() for name, _ in arrays]
            for name, array in arrays:
                group.create_dataset(name, data=array)
    stream.seek(0)
    return stream


def layer(class_name: str, name: str, **config: Any) -> dict[str, Any]:
    return {"class_name": class_name, "config": {"name": name, **config}}


def sequential(*layers: dict[str, Any], as_list: bool = False) -> dict[str, Any]:
    """A Sequential model; ``as_list`` as early versions wrote it."""
    return {"class_name": "Sequential", "config": list(layers) if as_list else {"name": "model", "layers": list(layers)}}


def json_text(model: dict[str, Any]) -> io.BytesIO:
    return io.BytesIO(json.dumps(model).encode())
