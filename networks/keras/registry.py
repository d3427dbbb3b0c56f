"""The table of layers: what each class of Keras becomes, with the functions that users add."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from ...samediff.errors import RegistrationError
from .layer_reading import KerasLayer, Made

__all__ = ["register_keras_layer"]

F = TypeVar("F", bound=Callable[[KerasLayer], Any])


@dataclass(frozen=True)
class TableRow:
    """One row of the table.

    Parameters
    ----------
    name : str
        The class of Keras.
    function : callable
        Makes layers of it.
    becomes : str
        What it becomes, in words.
    lossy : str
        What is lost on the way.
    own : bool
        Whether a user registered it.
    """

    name: str
    function: Callable[[KerasLayer], Any]
    becomes: str = ""
    lossy: str = ""
    own: bool = False


TABLE: dict[str, TableRow] = {}


def keras_layer(*names: str, becomes: str, lossy: str = "") -> Callable[[F], F]:
    """Put a function into the table, under the names of Keras 1 to 3."""
    def decorate(function: F) -> F:
        for name in names:
            TABLE[name] = TableRow(name, function, becomes, lossy)
        return function
    return decorate


def register_keras_layer(name: str, function: Callable[[KerasLayer], Any]) -> None:
    """Say what the importer makes of a custom layer of Keras, or of a Lambda layer.

    Nothing of a file is ever run: what a Lambda computes is written once more, as a layer of dl4py.

    Parameters
    ----------
    name : str
        The name of the class, "package>Name" where it was registered in a package, or of a Lambda layer the name of the layer itself.
    function : callable
        Gets a :class:`KerasLayer`: its configuration, and the shapes of its inputs. Returns a layer, a vertex, or a :class:`Made` that also
        says which weights go where.

    Raises
    ------
    RegistrationError
        The name is one of Keras' own layers, or the function cannot be called.

    Examples
    --------
    >>> from dl4py.layers import ActivationLayer
    >>> from dl4py.networks import register_keras_layer
    >>> register_keras_layer("Swishing", lambda layer: ActivationLayer(activation="swish"))
    """
    if not callable(function):
        raise RegistrationError(f"what is made of the Keras layer {name!r} must be a function of a KerasLayer; got {function!r:.80}")
    found = TABLE.get(name)
    if found is not None and not found.own:
        raise RegistrationError(f"{name!r} is a layer of Keras that the importer knows: it becomes {found.becomes}")
    TABLE[name] = TableRow(name, function, "what was registered", own=True)


def made_by_user(layer: KerasLayer, found: Any) -> Made:
    """The result of a user's function as :class:`.Made`, with the shape of its output."""
    return found if isinstance(found, Made) else layer.made(found, shape=layer.shape_behind(found))
