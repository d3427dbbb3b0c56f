"""``Nd4j``: DL4J's entry to arrays, as one class of static functions."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..arrays import EagerOps
from ..base.java_names import Nd4jNames
from ..base.javanames import to_snake
from ..errors import UnknownNameError, did_you_mean
from ..ir.namespaces import NAMESPACES, bound, find
from ..ir.typed import BitwiseOps, CNNOps, ImageOps, LinalgOps, LossOps, MathOps, NNOps, RandomOps, RNNOps
from .arranging import Arranging
from .array_files import ArrayFiles
from .compiling import Compiling
from .creating import Creating
from .executing import Executing
from .joining import Joining
from .products import MatrixProducts
from .random_arrays import RandomArrays
from .reducing import Reductions
from .settings import Settings


class CallableOps(EagerOps):
    """The ops of graphs themselves, and all namespaces; also called, as in Java: ``Nd4j.base()``."""

    def __call__(self) -> CallableOps:
        return self


_OPS = CallableOps()

#: What DL4J's class has and this one has not, with what to do instead.
ADVICE = {
    "create_buffer": "an array is its own buffer: Nd4j.create", "create_typed_buffer": "an array is its own buffer: Nd4j.create",
    "create_buffer_detached": "an array is its own buffer: Nd4j.create",
    "create_typed_buffer_detached": "an array is its own buffer: Nd4j.create",
    "create_from_npy_pointer": "there are no native pointers: Nd4j.createFromNpyFile", "convert_to_numpy": "an INDArray is NumPy's array",
    "create_array_from_shape_buffer": "Nd4j.create with shape and strides", "create_from_flat_array": "Nd4j.read and Nd4j.fromByteArray",
    "bilinear_products": "Nd4j.tensorMmul, or numpy.einsum('i,kij,j->k', x, array, y)",
    "allows_specify_ordering": "every factory takes an order", "is_precision_boost_allowed": "the left operand's type counts",
    "is_fallback_mode_enabled": "DL4PY_EXECUTOR=reference runs graphs op by op", "is_experimental_mode": "there is no such mode",
    "init_with_backend": "dl4py.samediff.set_device chooses the device", "set_factory": "there is one factory",
    "set_convolution": "there is one implementation", "check_shape_values": "every factory checks its sizes",
    "enable_fallback_mode": "DL4PY_EXECUTOR=reference runs graphs op by op",
}


class MissingFunctionError(UnknownNameError, AttributeError):
    """A name that ``Nd4j`` does not have; also an AttributeError, so that ``hasattr`` works."""


class _Lookup(type):
    """Ops as functions of the class: ``Nd4j.layerNorm(x, gain, True, 1)`` is found in the namespaces."""

    if not TYPE_CHECKING:       # else no misspelt name would be noticed
        def __getattr__(cls, name: str) -> Any:
            if not name.startswith("_"):
                snake = to_snake(name)
                if snake != name and any(snake in vars(owner) for owner in cls.__mro__):        # getNDArrayFactory
                    return getattr(cls, snake)
                for namespace in ("base", *NAMESPACES):
                    method = find(namespace, name)
                    if method is not None:
                        return bound(_OPS, namespace, method)
                advice = f": {ADVICE[snake]}" if snake in ADVICE else did_you_mean(snake, [n for n in dir(cls) if not n.startswith("_")])
                raise MissingFunctionError(f"Nd4j has no function or op {name!r}{advice}")
            raise AttributeError(name)


class Nd4j(Creating, RandomArrays, Joining, Reductions, Arranging, MatrixProducts, Executing, ArrayFiles, Compiling, Settings, Nd4jNames,
           metaclass=_Lookup):
    """DL4J's functions on arrays, in both spellings, and every op: in namespaces, as in Java also with brackets, or directly.

    Examples
    --------
    >>> from dl4py import Nd4j
    >>> a = Nd4j.create([[1, 2], [3, 4]])
    >>> Nd4j.sum(a, 0).tolist()
    [4.0, 6.0]
    >>> Nd4j.nn.relu(Nd4j.create([-1, 2])).tolist(), Nd4j.math().square(a).tolist()
    ([0.0, 2.0], [[1.0, 4.0], [9.0, 16.0]])
    """

    math: MathOps = _OPS.math
    nn: NNOps = _OPS.nn
    cnn: CNNOps = _OPS.cnn
    rnn: RNNOps = _OPS.rnn
    image: ImageOps = _OPS.image
    linalg: LinalgOps = _OPS.linalg
    loss: LossOps = _OPS.loss
    random: RandomOps = _OPS.random
    bitwise: BitwiseOps = _OPS.bitwise
    base: CallableOps = _OPS
