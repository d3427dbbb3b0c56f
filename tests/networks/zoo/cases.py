"""Small cases of each architecture, with parameters and inputs that are formulas of the index."""
from __future__ import annotations

import hashlib
import json
import math
from typing import Any

import numpy as np

from dl4py.networks.structure.structure import structure_of

#: Classes, and the shape of one small input of each architecture.
SMALL: dict[str, tuple[int, ...]] = {
    "LeNet": (1, 12, 12), "SimpleCNN": (3, 16, 16), "AlexNet": (3, 63, 63), "VGG16": (3, 32, 32), "VGG19": (3, 32, 32),
    "ResNet50": (3, 133, 133), "Darknet19": (3, 64, 64), "TinyYOLO": (3, 64, 64), "YOLO2": (3, 64, 64), "SqueezeNet": (3, 48, 48),
    "UNet": (3, 32, 32), "Xception": (3, 64, 64), "TextGenerationLSTM": (5, 47), "InceptionResNetV1": (3, 107, 107),
    "FaceNetNN4Small2": (3, 64, 64),
}
FLAT = ("LeNet", "VGG16", "VGG19")      # their input type is that of rows
CLASSES = 7
GAIN = {"ResNet50": 2, "AlexNet": 3, "VGG16": 4, "VGG19": 4}      # lest the softmax has one answer
_LATER = ("variables", "topologicalOrder", "topologicalOrderStr")


def options(name: str, shape: tuple[int, ...] | None = None) -> dict[str, Any]:
    """Options of the architecture for an input of that shape, or of its own."""
    given: dict[str, Any] = {} if name == "TextGenerationLSTM" else {"num_classes": CLASSES}
    return given | ({"input_shape": shape} if shape else {})


def inputs(name: str, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """Two examples."""
    if name == "TextGenerationLSTM":
        shape = shape[::-1]
    values = _spread(np.arange(2 * math.prod(shape)), 257)
    return values.reshape(2, -1) if name in FLAT else values.reshape(2, *shape)


def _spread(index: np.ndarray[Any, Any], prime: int) -> np.ndarray[Any, Any]:
    """Numbers from -1 to 1."""
    return (index * index % prime * 2 / prime - 1).astype(np.float32)


def parameters(name: str, configuration: Any) -> np.ndarray[Any, Any]:
    """All parameters in one vector: spread out evenly, and so large that no layer's outputs vanish."""
    parts, start = [], 0
    for member in structure_of(configuration).members:
        for slot, _ in member.slots():
            shape = tuple(slot.shape)
            wave = _spread(np.arange(start, start + slot.size), 65537)
            start += slot.size
            if slot.name.endswith("gamma"):
                wave = 1 + 0.1 * wave
            elif len([n for n in shape if n > 1]) < 2:
                wave = 0.1 * wave
            else:
                fan = shape[0] if len(shape) == 2 else math.prod(shape[1:] if shape[0] > 1 else shape[2:])
                wave = wave * math.sqrt(GAIN.get(name, 6) / fan)
            parts.append(wave.astype(np.float32))
    return np.concatenate(parts)


def outline(configuration: Any) -> list[list[Any]]:
    """Name, class and number of parameters of each layer and vertex, in the order in which files have them."""
    members = {member.key: (member.kind, sum(slot.size for slot, _ in member.slots())) for member in structure_of(configuration).members}
    if hasattr(configuration, "vertices"):
        return [[name, *members[name]] for name in configuration.vertices]
    return [[layer.layer_name, *found] for layer, found in zip(configuration.layers, members.values())]


def digest(configuration: Any) -> str:
    """Stands for the whole configuration, but for what is only known of a network that runs."""
    return document_digest(json.loads(configuration.to_json()))


def document_digest(document: dict[str, Any]) -> str:
    """The same of DL4J's document."""
    def stripped(value: Any) -> Any:
        if isinstance(value, list):
            return [stripped(v) for v in value]
        return {k: stripped(v) for k, v in value.items() if k not in _LATER} if isinstance(value, dict) else value

    return hashlib.sha256(json.dumps(stripped(document), sort_keys=True).encode()).hexdigest()[:16]
