"""Check that an op is restored from the fields it saves: its runs and its files have nothing else of it."""
from __future__ import annotations

import collections
import dataclasses
import functools
import types
from typing import Any

import numpy as np

from ...samediff.codecs.flatbuffers.properties import make_property
from ...samediff.errors import DL4PyError, GraphError
from ...samediff.graph.graph import SameDiff
from ...samediff.ir.op import Op
from .java_style import PASSING, UserDefinedCustomOp


def check_restored(op: UserDefinedCustomOp, restored: UserDefinedCustomOp) -> None:
    """GraphError when a fresh instance with the saved properties differs from the one that was configured; names what is lost."""
    what = f"op {op.op_name()!r} ({type(op).__name__})"
    before, after = op.properties_for_function(), restored.properties_for_function()
    lost = [k for k in before if k not in after or not same(before[k], after[k])]
    if lost:
        raise GraphError(f"{what}: set_properties_for_function does not restore {', '.join(lost)}: "
                         + "; ".join(f"{k} was {before[k]!r:.80}, is {after.get(k)!r:.80}" for k in lost))
    fresh = type(op)()
    mine, its, default = _state(op), _state(restored), _state(fresh)
    lost = [k for k, v in mine.items() if not (k in its and same(v, its[k], (op, restored)))
            and not (k in default and same(v, default[k], (op, fresh)))]
    if lost:
        raise GraphError(f"{what}: every run and every file makes a fresh instance, which lacks what this one has: "
                         + "; ".join(f"{k} is {mine.get(k)!r:.80}, there {its.get(k)!r:.80}" for k in lost)
                         + ". Return it from properties_for_function and set it in set_properties_for_function, or pass it as an argument "
                           "(add_i_argument ...) and read it in configure_from_arguments; input variables are self.arg(i)")


def check_hidden(op: Op) -> None:
    """GraphError when an op holds more than its attributes and what follows from them: files and equal ops would not have it."""
    def kept(name: str) -> bool:
        return name not in op.attribute_names() and not isinstance(getattr(type(op), name, None), functools.cached_property)
    mine = {n: v for n, v in vars(op).items() if kept(n)}
    again = type(op)(*op.values()) if mine else op
    fresh = vars(again)
    lost = [n for n, v in mine.items() if n not in fresh or not same(v, fresh[n], (op, again))]
    if lost:
        held = ", ".join(f"{n} = {mine[n]!r:.60}" for n in lost)
        raise GraphError(f"op {op.id!r} ({type(op).__name__}) holds {held}, which is no attribute: graphs and files would lose it. "
                         "Declare it as an annotated field of the class, or pass it as an input")


def _state(op: Any) -> dict[str, Any]:
    slots = {n: getattr(op, n) for c in type(op).__mro__ for n in vars(c).get("__slots__", ()) if hasattr(op, n)}
    return {n: v for n, v in (slots | vars(op)).items() if n not in PASSING and not isinstance(v, SameDiff)}


def same(a: Any, b: Any, *owners: tuple[Any, Any]) -> bool:
    """Whether two values mean the same: by value for data, by code for functions, by what they hold for other objects.

    Each pair of ``owners`` counts as the same, wherever the values lead back to it.
    """
    return _same(a, b, {(id(x), id(y)): (x, y) for x, y in owners})


def _same(a: Any, b: Any, met: dict[tuple[int, int], tuple[Any, Any]]) -> bool:
    """``met`` holds the pairs that are looked at already: one difference anywhere is enough, so nothing is looked at twice."""
    if a is b or (id(a), id(b)) in met:
        return True
    met[id(a), id(b)] = a, b
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        a, b = np.asarray(a), np.asarray(b)
        return bool(a.shape == b.shape and np.all((a == b) | ((a != a) & (b != b))))       # NaN is the same as NaN
    if isinstance(a, (list, tuple, collections.deque)) and isinstance(b, (list, tuple, collections.deque)):
        return len(a) == len(b) and all(_same(x, y, met) for x, y in zip(a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_same(v, b[k], met) for k, v in a.items())
    if isinstance(a, (float, np.generic)) and isinstance(b, (float, np.generic)) and a != a and b != b:
        return True
    if type(a) is not type(b):
        return isinstance(a, (bool, int, float, np.generic)) and isinstance(b, (bool, int, float, np.generic)) and bool(a == b)
    if isinstance(a, types.FunctionType):
        return a.__code__ is b.__code__ and _same([_closure(a), a.__defaults__, a.__kwdefaults__],
                                                  [_closure(b), b.__defaults__, b.__kwdefaults__], met)
    if isinstance(a, types.MethodType):
        return _same([a.__func__, a.__self__], [b.__func__, b.__self__], met)
    if isinstance(a, functools.partial):
        return _same([a.func, a.args, a.keywords], [b.func, b.args, b.keywords], met)
    if dataclasses.is_dataclass(a):
        return all(_same(getattr(a, f.name), getattr(b, f.name), met) for f in dataclasses.fields(a) if f.compare)
    if type(a).__eq__ is not object.__eq__:  # type: ignore[comparison-overlap]
        return bool(a == b)
    return _same(_held(a), _held(b), met)


def _held(value: Any) -> dict[str, Any]:
    """The attributes of an object, in slots and in its dictionary."""
    found = dict(getattr(value, "__dict__", {}))
    for slots in (vars(c).get("__slots__", ()) for c in type(value).__mro__):
        found |= {n: getattr(value, n) for n in ([slots] if isinstance(slots, str) else slots) if n != "__dict__" and hasattr(value, n)}
    found.pop("__weakref__", None)
    return found


def _closure(function: types.FunctionType) -> list[Any]:
    return [_content(cell) for cell in function.__closure__ or ()]


def _content(cell: types.CellType) -> Any:
    """The value of a closure variable; a text where it was never set."""
    try:
        return cell.cell_contents
    except ValueError:
        return "unset"


def check_storable(what: str, properties: dict[str, Any]) -> None:
    """GraphError for a property that no file can hold."""
    for name, value in properties.items():
        try:
            make_property(name, value)
        except (DL4PyError, TypeError, ValueError, OverflowError) as error:
            raise GraphError(f"{what}: properties_for_function gives {name!r} = {value!r:.80}, which no file can hold ({error}); "
                             "give numbers, texts, arrays or lists of them") from error
