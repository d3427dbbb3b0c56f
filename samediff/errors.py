"""Every exception that dl4py raises on purpose.

::

    DL4PyError
    ├── GraphError (ValueError)              the graph is built or asked wrongly
    │   ├── ShapeError                       shapes that do not fit each other
    │   │   ├── LinearAlgebraError (NumPy's)  a matrix that is singular, not square, or has no decomposition
    │   │   └── OutOfRangeError (IndexError)  a position that an array does not have
    │   │       └── AxisError (NumPy's)      an axis that it does not have
    │   ├── TooLargeError (OverflowError)    a number that a type does not hold
    │   ├── GradientError                    no gradient, no loss, not on the path
    │   └── GraphScopeError                  values of an array that is recorded and not computed yet
    ├── DataTypeError (TypeError)            data types that do not fit
    ├── UnknownNameError (KeyError)          no variable, op or placeholder of that name
    ├── ConfigurationError (ValueError)      an invalid network, layer or training configuration
    ├── MissingOpError (LookupError)         a file names an op, layer or class that is not registered
    ├── RegistrationError (ValueError)       a plug-in that cannot be registered
    ├── FileFormatError (ValueError)         a file that is not what it claims to be
    │   ├── TruncatedFileError
    │   ├── UnsupportedVersionError
    │   └── LimitError                       larger or deeper than the caller allows
    ├── PathError (OSError)                  a path that names no regular file: a folder, a device, a FIFO
    ├── NumericalError (ArithmeticError)     NaN or infinity found on request
    │   └── FloatingTrapError (FloatingPointError)  found by NumPy, which was asked by np.errstate
    ├── DeviceError (RuntimeError)           the device is missing or was used wrongly
    ├── ShutdownError (RuntimeError)         what was asked has been shut down
    └── WorkerError (RuntimeError)           a worker of a parallel training ended before its work was done

Texts say what was expected, what came, where, and what to do.
"""
from __future__ import annotations

import difflib
from collections.abc import Iterable

import numpy as np


class DL4PyError(Exception):
    """Base class of all errors that dl4py raises on purpose."""


class GraphError(DL4PyError, ValueError):
    """The graph is built or asked wrongly."""


class ShapeError(GraphError):
    """Shapes that do not fit each other or a declaration."""


class OutOfRangeError(ShapeError, IndexError):
    """A position that an array does not have."""


class AxisError(OutOfRangeError, np.exceptions.AxisError):
    """An axis that an array does not have."""

    def __str__(self) -> str:  # NumPy's own keeps the text elsewhere
        return str(self.args[0]) if self.args else ""


class LinearAlgebraError(ShapeError, np.linalg.LinAlgError):
    """A matrix that is singular, not square, or has no such decomposition."""


class TooLargeError(GraphError, OverflowError):
    """A number that a data type does not hold."""


class ValueNeededError(GraphError):
    """A value that must be known while a graph is built and is not; ``names`` says which placeholders it depends on."""

    def __init__(self, message: str, names: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.names = names


class GradientError(GraphError):
    """A gradient that does not exist: no derivative, no loss, or not on a path to the loss."""


class GraphScopeError(GraphError):
    """A graph scope cannot record a call, or an array in it has no values yet."""


class DataTypeError(DL4PyError, TypeError):
    """Data types that do not fit an operation or a declaration."""


class UnknownNameError(DL4PyError, KeyError):
    """No variable, operation or option of that name."""

    def __str__(self) -> str:  # KeyError would show the repr of the text
        return str(self.args[0]) if self.args else ""


class ConfigurationError(DL4PyError, ValueError):
    """An invalid network, layer or training configuration (DL4J's DL4JInvalidConfigException)."""


class MissingOpError(DL4PyError, LookupError):
    """A graph or file names an op, layer or class that is not registered in this process."""


class RegistrationError(DL4PyError, ValueError):
    """A plug-in that cannot be registered: its name is taken or its shape is wrong."""


class FileFormatError(DL4PyError, ValueError):
    """A file that is not what it claims to be."""


class TruncatedFileError(FileFormatError):
    """A file that ends before its content does."""


class UnsupportedVersionError(FileFormatError):
    """A file of a version that cannot be read."""


class LimitError(FileFormatError):
    """A file that is larger or deeper than the caller allows."""


class PathError(DL4PyError, OSError):
    """A path that is none, or that names something else than a regular file: a folder, a device, a FIFO, a socket."""


class MissingPackageError(DL4PyError, ImportError):
    """A package is not installed that dl4py needs for this one thing."""


class NumericalError(DL4PyError, ArithmeticError):
    """NaN or infinity, found because the caller asked to look for it."""


class FloatingTrapError(NumericalError, FloatingPointError):
    """NaN, infinity or a division by zero, found because ``np.errstate`` asks to raise."""


class DeviceError(DL4PyError, RuntimeError):
    """A compute device is missing or was used wrongly."""


class ShutdownError(DL4PyError, RuntimeError):
    """The object that was used has been shut down; requests still waiting will not be answered."""


class WorkerError(DL4PyError, RuntimeError):
    """A worker of a parallel training ended before its work was done."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return ``"; did you mean 'x'?"`` for the nearest known names, or an empty text.

    Examples
    --------
    >>> did_you_mean("sofmax", ["softmax", "relu"])
    "; did you mean 'softmax'?"
    """
    near = difflib.get_close_matches(name, list(known), n=3, cutoff=0.6)
    return "; did you mean " + " or ".join(repr(n) for n in near) + "?" if near else ""
