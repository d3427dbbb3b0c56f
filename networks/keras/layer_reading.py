"""One layer of Keras as the functions of the table see it, and what they return."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...layers.base.base import Layer
from ...layers.functions.activations import IActivation
from ...layers.preprocessors import InputPreProcessor
from ...layers.vertices import GraphVertex
from ...samediff.errors import ConfigurationError, UnsupportedVersionError
from . import options, shapes
from .shapes import Shape

__all__ = ["KerasLayer", "Made", "Tensor"]

Array = np.ndarray[Any, Any]
Weights = Mapping[str, Callable[[Mapping[str, Array]], Array]]
_NOTHING = object()


@dataclass(frozen=True)
class Tensor:
    """An array between layers.

    Parameters
    ----------
    shape : tuple of int or None
        Sizes without the batch; None where they are open.
    masked : bool
        Whether a mask of its steps comes with it.
    """

    shape: Shape
    masked: bool = False


@dataclass(frozen=True)
class LayerPart:
    """A layer, vertex or preprocessor of dl4py, and what its parameters are made of.

    Parameters
    ----------
    conf : Layer, GraphVertex or InputPreProcessor
        Its configuration.
    weights : dict
        By parameter, a function of the arrays of Keras by name.
    sources : tuple of int, optional
        Numbers of the parts whose results it takes, and -1 - i for input i of the call; by default the part in front, or all inputs.
    shares : int, optional
        The number of the part whose parameters it is computed with, where it has none of its own.
    """

    conf: Layer | GraphVertex | InputPreProcessor
    weights: Weights = field(default_factory=dict)
    sources: tuple[int, ...] | None = None
    shares: int | None = None


@dataclass(frozen=True)
class Made:
    """The layers that take the place of a layer of Keras.

    Parameters
    ----------
    parts : tuple of LayerPart
        One behind the other; none where the layer does nothing.
    output : Tensor
        Shape and mask of the result, which the last part gives.
    names : tuple of str
        What the arrays of Keras are called, in their order.
    further : tuple of (int, Tensor)
        Further results: the numbers of the parts that give them, their shapes and masks.
    """

    parts: tuple[LayerPart, ...]
    output: Tensor
    names: tuple[str, ...] = ()
    further: tuple[tuple[int, Tensor], ...] = ()


class KerasLayer:
    """The configuration of a layer in a file of Keras, with the shapes of its inputs.

    Parameters
    ----------
    name : str
        Of the layer.
    class_name : str
        Its class.
    config : dict
        Its options, in the terms of Keras 2 and 3.
    inputs : list of Tensor
        What it is called with.
    version : int
        Keras 1, 2 or 3.
    arguments : dict
        Further arguments of the call.
    theano : bool
        Whether the kernels of its convolutions are turned round, as Theano had them.

    Examples
    --------
    >>> layer = KerasLayer("swishing", "Swishing", {"beta": 2.0}, [Tensor((8,))])
    >>> layer.get("beta"), layer.shape
    (2.0, (8,))
    """

    def __init__(self, name: str, class_name: str, config: dict[str, Any], inputs: list[Tensor], version: int = 3,
                 arguments: dict[str, Any] | None = None, theano: bool = False) -> None:
        self.name, self.class_name, self.config, self.inputs = name, class_name, config, inputs
        self.version, self.arguments, self.theano = version, arguments or {}, theano
        self.left: list[str] = []           # what has no counterpart

    # What it says

    @property
    def label(self) -> str:
        """Name and class of the layer, for messages."""
        return f"Keras layer {self.name!r} ({self.class_name})"

    def get(self, name: str, default: Any = _NOTHING) -> Any:
        """An option; one that must be there raises a ConfigurationError where it is missing."""
        found = self.config.get(name, default)
        if found is _NOTHING:
            raise ConfigurationError(f"{self.label} has no option {name!r} in the file")
        return found

    @property
    def input(self) -> Tensor:
        """The one input."""
        if len(self.inputs) != 1:
            raise ConfigurationError(f"{self.label} takes one input; the model gives it {len(self.inputs)}")
        return self.inputs[0]

    def like(self, inputs: list[Tensor], **changes: Any) -> KerasLayer:
        """The same layer on other inputs, with other options; what it leaves out is left out here too."""
        found = KerasLayer(self.name, self.class_name, {**self.config, **changes}, inputs, self.version, self.arguments, self.theano)
        found.left = self.left
        return found

    @property
    def shape(self) -> Shape:
        """The shape of the one input without the batch."""
        return self.input.shape

    def size(self, axis: int = -1) -> int:
        """The size of an axis, which has to be known."""
        if not -len(self.shape) <= axis < len(self.shape):
            raise ConfigurationError(f"{self.label} needs inputs with more axes than {self.shape} (without the batch)")
        found = self.shape[axis]
        if found is None:
            raise ConfigurationError(f"{self.label} needs a known size of axis {axis}; the model has inputs of the shape {self.shape}")
        return found

    def sizes(self) -> tuple[int, ...]:
        """All sizes of the input, which have to be known."""
        return tuple(self.size(i) for i in range(len(self.shape)))

    def rank(self, *ranks: int) -> int:
        """The number of axes without the batch; others than ``ranks`` are refused."""
        if ranks and len(self.shape) not in ranks:
            raise self.unsupported(f"inputs with {len(self.shape)} axes and a batch (expected {' or '.join(map(str, ranks))})")
        return len(self.shape)

    def several(self, name: str, count: int, default: Any = _NOTHING) -> tuple[int, ...]:
        """An option of whole numbers, one for each axis."""
        value = self.get(name, default)
        found = tuple(value) if isinstance(value, (list, tuple)) else (value,) * count
        if len(found) != count or not all(isinstance(v, int) for v in found):
            raise ConfigurationError(f"{self.label}: {name} must be {count} whole numbers; got {value!r:.80}")
        return found

    def channels_first(self) -> bool:
        """Whether the option ``data_format`` puts channels first."""
        return bool(self.get("data_format", None) == "channels_first")

    def axis(self, value: Any) -> int:
        """The number of an axis with the batch, from 1."""
        if isinstance(value, (list, tuple)) and len(value) == 1:
            (value,) = value
        if not isinstance(value, int):
            raise self.unsupported(f"axis={value!r:.60}")
        found = value if value >= 0 else value + len(self.inputs[0].shape) + 1
        if not 0 < found <= len(self.inputs[0].shape):
            raise self.unsupported(f"axis {value} of inputs with {len(self.inputs[0].shape)} axes and a batch")
        return found

    def unsupported(self, what: str) -> UnsupportedVersionError:
        """The error that says what cannot be imported."""
        return UnsupportedVersionError(f"{self.label}: {what} cannot be imported; register_keras_layer says what to make of a class of "
                                       "your own")

    def refuse(self, **options_: Any) -> None:
        """Refuse options that have other values than these."""
        for name, expected in options_.items():
            given = self.get(name, expected)
            if given != expected and not (isinstance(given, (list, tuple)) and all(v == expected for v in given)):
                raise self.unsupported(f"{name}={given!r:.60}")

    def leave(self, **options_: Any) -> None:
        """Note options that have other values than these, and no counterpart: importing warns of them."""
        self.left += [f"{self.label}: {name}" for name, neutral in options_.items() if (self.get(name, None) or neutral) != neutral]

    # Sizes of images

    def spatial(self) -> tuple[int | None, ...]:
        """The sizes of the input without its channels."""
        return self.shape[1:] if self.channels_first() else self.shape[:-1]

    def channels(self) -> int:
        """The number of channels of the input."""
        return self.size(0 if self.channels_first() else -1)

    def with_channels(self, sizes: tuple[int | None, ...], channels: int | None) -> Shape:
        """Sizes of a result and its channels, in the order that the layer asks for."""
        return (channels, *sizes) if self.channels_first() else (*sizes, channels)

    # What it is made of

    def activation(self, name: str = "activation") -> IActivation:
        """The activation function of an option."""
        return options.activation(self.get(name, None), self.label, self.version)

    def trained(self, kernel: str = "kernel", bias: str | None = "bias", recurrent: str | None = None) -> dict[str, Any]:
        """Fields of layers with weights: initialisers, regularization and constraints."""
        return options.trained(self.get, self.class_name, self.label, kernel, bias, recurrent)

    def made(self, conf: Any, weights: Weights | None = None, names: tuple[str, ...] = (), *, shape: Shape | None = None,
             masked: bool | None = None) -> Made:
        """The replacement of this layer; the shape is that of the input where none is given, as is the mask.

        Parameters
        ----------
        conf : layer, vertex, preprocessor, or a list of them
            What is made; None for nothing.
        weights : dict, optional
            By parameter, a function of the arrays of Keras by name.
        names : tuple of str
            What the arrays of Keras are called, in their order.
        shape : tuple of int or None, optional
            Sizes of the result without the batch.
        masked : bool, optional
            Whether a mask goes with the result.
        """
        first = self.inputs[0]
        confs = list(conf) if isinstance(conf, (list, tuple)) else [] if conf is None else [conf]
        for one in confs:
            if not isinstance(one, (Layer, GraphVertex, InputPreProcessor)):
                raise ConfigurationError(f"{self.label}: expected a layer, vertex or preprocessor; got {one!r:.80}")
        parts = tuple(LayerPart(c, (weights or {}) if i == len(confs) - 1 else {}) for i, c in enumerate(confs))
        return Made(parts, Tensor(first.shape if shape is None else shape, first.masked if masked is None else masked), names)

    def shape_behind(self, conf: Any) -> Shape:
        """The shape of the result of a layer, as its output type says it."""
        try:
            kind = shapes.type_of(self.inputs[0].shape)
            if isinstance(conf, GraphVertex):
                return shapes.shape_of(conf.get_output_type(0, *(shapes.type_of(t.shape) for t in self.inputs)))
            if isinstance(conf, InputPreProcessor):
                return shapes.shape_of(conf.output_type(kind))
            return shapes.shape_of(conf.set_n_in(kind).get_output_type(0, kind))
        except (AttributeError, ConfigurationError) as error:
            raise ConfigurationError(f"{self.label}: the shape of the result is not known ({error}); return layer.made(..., shape=...)"
                                     ) from error
