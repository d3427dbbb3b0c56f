"""DL4J's classes of ops: ``from dl4py.samediff.nd4j.op_classes import AddOp, AddBpOp, Conv2D``.

Each takes what its op takes in the namespaces, inputs first, as arrays (``Nd4j.exec`` executes it) or as variables of a graph, which may
stand in front (``AddBpOp(sd, x, y, g).outputs()``). Arrays behind the inputs are outputs. Without arguments it is filled by
``add_input_argument``, ``add_i_argument`` and so on. Classes of one's own derive from one of them, or from a base such as
``BaseTransformOp`` or ``BaseReduceOp`` with a method ``op_name`` that names a built-in op; their ``do_diff`` counts in the graph.
"""
from __future__ import annotations

import typing
from functools import cache

from ...base.enums import CropMethod, PadMode, UpdateOp
from ...codecs.legacy_table import LEGACY_NUMBERS
from ...errors import did_you_mean
from ..custom_op import DynamicCustomOp, is_graph
from .composed import composed
from .constructors import constructed
from .op_names import ABSENT, BASES, FURTHER, IN_PLACE, IN_PLACE_ALONE, LEGACY, OP_NAMES, base_of
from .operands import are_operands

__all__ = sorted([*OP_NAMES, *BASES])

#: Enumerations inside of classes.
_NESTED: dict[str, dict[str, typing.Any]] = {"Pad": {"Mode": PadMode}, "ScatterUpdate": {"UpdateOp": UpdateOp},
                                               "CropAndResize": {"Method": CropMethod}}


class NamedOp(DynamicCustomOp):
    """An op of one class; see the module."""

    _compute: typing.Callable[..., typing.Any] | None = None        # in place of one op
    _class_name: typing.ClassVar[str] = ""                          # DL4J's, also of classes that users derive from it

    def __init__(self, *args: typing.Any, **kwargs: typing.Any) -> None:
        self._begin(self.op_id)
        if len(args) > 1 and (args[0] is None or isinstance(args[0], str)) and (is_graph(args[1]) or are_operands(args[1])):
            args = args[1:]                                                                             # Java's own name of the op
        if args and is_graph(args[0]):
            self.same_diff, *rest = args
            args = tuple(rest)
        if args or kwargs:
            name = self._class_name
            made = None if kwargs else composed(name, args)
            if made is not None:
                self._op, inputs, outputs, self._compute = made
                self.input_arguments.extend(inputs)
                self.output_arguments.extend(outputs)
                return
            self._op, inputs, outputs = constructed((self.op_id or self._op_class().id, *FURTHER.get(name, ())), name, args, kwargs)
            self.input_arguments.extend(inputs)
            self.output_arguments.extend(outputs)
            if self.op_id and self._op.id != self.op_id:               # of another class of this name
                self.is_legacy = self._op.id in LEGACY_NUMBERS  # type: ignore[misc]  # its own
            alone = name in IN_PLACE_ALONE and len(args) == len(inputs)
            self.into_first = bool(inputs) and (alone or self._op.id in IN_PLACE)

    def results(self, context: typing.Any, inputs: typing.Sequence[typing.Any]) -> list[typing.Any]:
        return super().results(context, inputs) if self._compute is None else [self._compute(*inputs)]


def _told(name: str) -> str:
    what = "A base of classes that name an op in ``op_name``" if name in BASES else f"The op {OP_NAMES[name]!r}"
    return f"{what}; see :mod:`dl4py.samediff.nd4j.op_classes`."


@cache
def op_class(name: str) -> type[NamedOp]:
    """The class of that name in DL4J."""
    base = base_of(name)
    members = {"op_id": OP_NAMES.get(name, ""), "is_legacy": name in LEGACY, "_class_name": name, "__module__": __name__,
               "__doc__": _told(name)}
    return type(name, (op_class(base) if base else NamedOp,), members | _NESTED.get(name, {}))


def __getattr__(name: str) -> type[NamedOp]:
    if name in OP_NAMES or name in BASES:
        return op_class(name)
    if name in ABSENT:
        raise AttributeError(f"dl4py has no op class {name!r} of DL4J's; instead: {ABSENT[name]}", name=name)
    near = "" if name.startswith("_") else did_you_mean(name, list(OP_NAMES))
    raise AttributeError(f"DL4J's ops have no class {name!r} here{near}", name=name)


def __dir__() -> list[str]:
    return sorted([*globals(), *OP_NAMES, *BASES])

