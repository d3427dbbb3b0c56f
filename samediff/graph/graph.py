"""The graph: variables, ops, gradients, training, files."""
from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, overload

from ..base.java.old_names import instead
from ..base.java_names import SameDiffNames
from ..base.javanames import JavaSpelling, to_snake
from ..base.registry import why_missing
from ..errors import GraphError, did_you_mean
from ..ir.graph_class import is_graph_class
from ..ir.namespaces import NAMESPACES, MissingMethodError, Namespace, bound, call_by_id, description, find, is_namespace, method_names
from ..ir.typed import CLASSES, BaseOps, BitwiseOps, CNNOps, ImageOps, LinalgOps, LossOps, MathOps, NNOps, RandomOps, RNNOps
from .control_dependencies import ControlDependenciesMixin
from .flat_access import FlatAccessMixin
from .functions import FunctionsMixin
from .graph_edit import GraphEditMixin
from .importing import ImportingMixin
from .inspection import InspectionMixin
from .lookup import LookupMixin
from .numpy_calls import NumpyMixin
from .running.profiling import ProfilingMixin
from .running.whole_runs import WholeRuns
from .tensor_array import SequencesMixin

if TYPE_CHECKING:
    from ..ir.variable import SDVariable

G = TypeVar("G", bound="SameDiff")


class _Create:
    """``SameDiff.create()`` makes an empty graph, ``sd.create(shape, data_type)`` an array of zeros in one."""

    @overload
    def __get__(self, sd: None, owner: type[G]) -> Callable[[], G]: ...
    @overload
    def __get__(self, sd: SameDiff, owner: type[SameDiff]) -> Callable[..., SDVariable]: ...

    def __get__(self, sd: SameDiff | None, owner: type[SameDiff]) -> Callable[..., Any]:
        def create(*args: Any, **kwargs: Any) -> Any:
            return sd.call("base", "create", *args, **kwargs) if sd is not None and (args or kwargs) else owner()
        create.__doc__ = type(self).__doc__
        create.__signature__ = (  # type: ignore[attr-defined]  # for help and editors
            inspect.Signature(return_annotation=owner) if sd is None else description("base", "create")[1])
        return create


class _SameDiffClass(type):
    """The class of SameDiff, which says of static methods of DL4J that do not exist here what takes their place."""

    if not TYPE_CHECKING:
        def __getattr__(cls, name: str) -> Any:
            raise MissingMethodError(f"class {cls.__name__} has no attribute {name!r}{instead('graph', name)}")


class SameDiff(WholeRuns, ImportingMixin, FunctionsMixin, ControlDependenciesMixin, GraphEditMixin, FlatAccessMixin, SequencesMixin,
               ProfilingMixin, InspectionMixin, LookupMixin, NumpyMixin, BaseOps, SameDiffNames, metaclass=_SameDiffClass):
    """A define-and-run graph with automatic gradients.

    Nothing is computed while the graph is built, but shapes and types are known at once and wrong ones raise at the line
    that makes them. Ops are called through namespaces (``sd.math``, ``sd.nn``, ``sd.cnn``, ``sd.rnn``, ``sd.loss``,
    ``sd.image``, ``sd.linalg``, ``sd.bitwise``, ``sd.random``), on the graph itself (``sd.concat``) or on variables.
    Every name works in DL4J's spelling too (``sd.placeHolder``).

    Any number of threads may run the same graph.

    Examples
    --------
    >>> import numpy as np
    >>> from dl4py.samediff import SameDiff, DataType
    >>> sd = SameDiff.create()
    >>> x = sd.placeholder("x", DataType.FLOAT, -1, 2)
    >>> w = sd.var("w", np.ones((2, 1), np.float32))
    >>> y = sd.nn.sigmoid("y", x.mmul(w))
    >>> sd.output_single({"x": np.zeros((1, 2))}, "y")
    array([[0.5]], dtype=float32)
    """

    math: MathOps
    nn: NNOps
    cnn: CNNOps
    rnn: RNNOps
    loss: LossOps
    image: ImageOps
    linalg: LinalgOps
    bitwise: BitwiseOps
    random: RandomOps

    def __init__(self) -> None:
        super().__init__()
        for name, kind in CLASSES.items():
            setattr(self, name, kind(self, name))

    create = _Create()

    def op(self, op_id: str, *args: Any, **kwargs: Any) -> Any:
        """Add any registered op by its id: ``sd.op("acme.swish", x, beta=2.0)``, with an optional name before the inputs."""
        return call_by_id(self, op_id, args, kwargs)

    call_op = op

    def do_udf(self, op: Any) -> list[SDVariable]:
        """Add a user-defined op of the Java form (``dl4py.udf.UserDefinedCustomOp``); returns its outputs."""
        if isinstance(op, type) or not hasattr(op, "add_to"):
            raise GraphError(f"do_udf takes an instance of a class derived from UserDefinedCustomOp, got {op!r:.60}")
        return op.add_to(self)  # type: ignore[no-any-return]

    if not TYPE_CHECKING:       # else no misspelt name would be noticed
        def __getattr__(self, name: str) -> Any:
            if not name.startswith("_"):
                method = find("base", name)
                if method is not None:
                    return bound(self, "base", method)
            try:
                return JavaSpelling.__getattr__(self, name)
            except AttributeError:
                if name.startswith("_"):
                    raise
                if not is_namespace(name):
                    near = instead("graph", name) or did_you_mean(to_snake(name), [*NAMESPACES, *dir(self)])
                    raise MissingMethodError(f"graphs have no op, method or namespace {name!r}{near}"
                                             + why_missing(f"{name}.")) from None
            return Namespace(self, name)

    def __dir__(self) -> list[str]:
        return sorted({*object.__dir__(self), *method_names("base")})


is_graph_class(SameDiff)
