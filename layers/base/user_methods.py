"""Calling the methods of custom layers: what goes wrong inside names the layer and the author's line."""
from __future__ import annotations

import functools
import traceback
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from ...samediff.base.spec import TensorSpec
from ...samediff.errors import DL4PyError, GraphError
from ...samediff.ir.op import Op, Specs, op
from ...samediff.ir.variable import SDVariable
from ..ops.step_ops import mask_shape

if TYPE_CHECKING:
    from ...samediff.graph.graph import SameDiff


def call(owner: Any, function: Callable[..., Any], *args: Any) -> Any:
    """``function(*args)``, a method of ``owner``; exceptions that are none of dl4py's become a GraphError.

    Raises
    ------
    GraphError
        Names the layer, the method, the author's line and the original exception, which is its cause.
    """
    try:
        return function(*args)
    except DL4PyError as error:
        error.add_note(f"in {_name(owner, function)}{_line(function, error)}")
        raise
    except Exception as error:
        raise GraphError(f"{_name(owner, function)} raised {type(error).__name__}: {error}{_line(function, error)}") from error


def variable(owner: Any, function: Callable[..., Any], *args: Any) -> SDVariable:
    """The variable that a method returns; anything else is refused."""
    found = call(owner, function, *args)
    if not isinstance(found, SDVariable):
        raise GraphError(f"{_name(owner, function)} must return the variable of its result; got {found!r:.60}{_place(function)}")
    return found


def _name(owner: Any, function: Any) -> str:
    return f"{owner.label}: {getattr(function, '__name__', 'a method')}"


def _code(function: Any) -> Any:
    while isinstance(function, functools.partial):
        function = function.func
    return getattr(getattr(function, "__wrapped__", function), "__code__", None)


def _line(function: Any, error: BaseException) -> str:
    """The innermost line of the author's file that the exception passed."""
    code = _code(function)
    if code is None:
        return ""
    lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == code.co_filename]
    return f" ({code.co_filename}, line {lines[-1]})" if lines else ""


def _place(function: Any) -> str:
    code = _code(function)
    return f" ({code.co_filename}, line {code.co_firstlineno})" if code is not None else ""


def bound(function: Callable[..., Any], owner: Any) -> Callable[..., Any]:
    """``function`` as a method of ``owner``, keeping its name."""
    return functools.update_wrapper(functools.partial(function, owner), function)


def routed(cls: type, name: str, through: str) -> None:
    """Redirect calls of a method that ``cls`` itself defines to ``self.<through>(method, *args)``."""
    function = vars(cls).get(name)
    if function is None:
        return

    @functools.wraps(function)
    def method(self: Any, *args: Any) -> Any:
        return getattr(self, through)(bound(function, self), *args)

    setattr(cls, name, method)


class Guarded:
    """Mix-in: the methods by which users build graphs are called through :func:`variable`."""

    guarded_methods: ClassVar[tuple[str, ...]] = ()
    label: Any

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if not cls.__module__.startswith("dl4py.") and not hasattr(cls, "_define"):
            for name in cls.guarded_methods:
                routed(cls, name, "_guarded")

    def _guarded(self, author: Callable[..., Any], *args: Any) -> SDVariable:
        return variable(self, author, *args)


@op("checked_input", inputs="*xs", stateful=True, heeds="has its input checked by code of a user")
class CheckedInput(Op):
    """The inputs themselves, after the layer's ``validate_input`` has seen their arrays."""

    owner: Any

    def infer(self, *specs: TensorSpec) -> Specs:
        found = tuple(TensorSpec(s.shape, s.dtype) for s in specs)
        return found if len(found) > 1 else found[0]

    def compute(self, xp: Any, *xs: Any, context: Any = None) -> Any:
        """Copies: results are arrays of their own."""
        several = self.owner.validates_several
        call(self.owner, self.owner.validate_input, list(xs) if several else xs[0])
        return tuple(x.copy() for x in xs) if len(xs) > 1 else xs[0].copy()

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        return list(output_grads)


@op("default_mask", shape_inputs=(0,))
class DefaultMask(Op):
    """The mask that a layer's ``ones_mask_for_input`` makes for its input."""

    owner: Any

    def infer(self, *specs: TensorSpec) -> Specs:
        """The shape of the usual mask; unknown where the author's class overrides it."""
        shape = specs[0].shape
        usual = shape is not None and type(self.owner).ones_mask_for_input is type(self.owner).usual_mask
        return TensorSpec(mask_shape(shape) if usual and shape is not None else None, specs[0].dtype)

    def compute(self, xp: Any, x: Any) -> Any:
        """The result of the author's method, in the type of the input."""
        return xp.asarray(call(self.owner, self.owner.ones_mask_for_input, x), x.dtype)

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        return [None]


def checked(owner: Any, sd: SameDiff, xs: list[SDVariable], default: Any) -> list[SDVariable]:
    """The inputs behind the layer's own check, where it has one."""
    if type(owner).validate_input is default:
        return xs
    found = sd.add_op(CheckedInput(owner), xs)
    return list(found) if isinstance(found, (tuple, list)) else [found]
