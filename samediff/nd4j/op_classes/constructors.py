"""Arguments of DL4J's constructors of ops, told apart by what they are: inputs, outputs, attributes, and what says nothing here."""
from __future__ import annotations

import dataclasses
import itertools
import typing
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...arrays.indarray import INDArray
from ...arrays.pairs import is_array
from ...base.bounded_cache import BoundedCache
from ...base.datatype import DataType
from ...base.spec import spec_of
from ...errors import DL4PyError
from ...expressions.arrays import as_array
from ...families.backprop import Backprop
from ...files.node_args import takes_inputs
from ...ir import signature as sig
from ...ir.namespaces import refusal
from ...ir.op import OPS, Op, as_tuple
from ...ir.variable import SDVariable
from ..running import plain_number
from .forms import by_form
from .op_names import DEFAULTS
from .operands import Constructed, are_operands, is_operand, is_output


class KnownForm(NamedTuple):
    """The op of arguments of a form, and which of their arrays are its inputs and outputs."""

    op: Op
    inputs: list[int | None]
    outputs: list[int]


_known: BoundedCache[Any, KnownForm] = BoundedCache(1024)


def constructed(op_ids: Sequence[str], name: str, args: Sequence[Any], kwargs: dict[str, Any]) -> Constructed:
    """:func:`bound`, which works out a form of arguments once: shapes and types of arrays, and the values of everything else."""
    arrays: list[Any] = []
    try:
        key = name, _form(args, arrays), _form(list(kwargs.items()), arrays)
        found = _known.get(key)
    except TypeError:                   # something that is no key, such as a variable of a graph
        return bound(op_ids, name, args, kwargs)
    if found is not None:
        return Constructed(found.op, [None if i is None else arrays[i] for i in found.inputs], [arrays[i] for i in found.outputs])
    made = bound(op_ids, name, args, kwargs)
    places = {id(a): i for i, a in enumerate(arrays)}
    read = {id(a) for a in (*made.inputs, *made.outputs) if a is not None}
    if read == places.keys() and len(places) == len(arrays):            # of no array the values counted
        _known[key] = KnownForm(made.op, [None if a is None else places[id(a)] for a in made.inputs], [places[id(a)] for a in made.outputs])
    return made


def _form(values: Sequence[Any], arrays: list[Any]) -> tuple[Any, ...]:
    """What a form of arguments has in common, as a key; the arrays among them join the others. TypeError for variables and lazy arrays."""
    parts: list[Any] = []
    for value in values:
        if isinstance(value, (list, tuple)):
            parts.append(_form(value, arrays))
        elif type(value) is np.ndarray or type(value) is INDArray:
            arrays.append(value)
            parts.append((value.dtype, np.shape(value)))
        elif is_array(value):
            raise TypeError
        else:
            parts.append((type(value), value))
    return tuple(parts)


def bound(op_ids: Sequence[str], name: str, args: Sequence[Any], kwargs: dict[str, Any]) -> Constructed:
    """The op of a constructor's arguments: the first of some ops that they fit, as its methods take them or as DL4J's constructors do.

    Arrays behind those that the op takes are outputs, also in a list, as DL4J's ``INDArray[]``. ``None`` stands for an array or an
    option that is left out. Inputs may stand in a list, options in another sequence, where their types tell them apart; a variable
    with a known value may stand for an option, and a truth value for which the op has no attribute says whether it works in place.

    Raises
    ------
    GraphError
        The arguments fit no constructor.
    """
    classes = [OPS[op_id] for op_id in op_ids]
    made = by_form(classes[0], name, args, kwargs)
    if made is not None:
        return made
    if not any(isinstance(a, bool) for a in args):
        kwargs = DEFAULTS.get(name, {}) | kwargs
    found: list[Constructed] = []
    for cls in classes:
        for way in (_drawn_into, _by_sizes, _as_method, _by_kind):
            try:
                made = way(cls, name, args, kwargs)
            except (DL4PyError, sig.Mismatch):      # the next way, or the error below
                continue
            if made is not None and (len(classes) == 1 or _holds(made)):
                return made
            found += [] if made is None else [made]
    if found:
        return found[0]
    reasons: list[str] = []
    if classes[0].inputs == "x axes?" and sum(map(is_operand, args)) > 1:
        reasons.append("it reads one array: a second one says along which axes, in whole numbers, or takes the results; None leaves it out")
    for cls in classes:         # numbers and lists may stand for arrays
        lenient = not cls.inputs.startswith("*")
        for signature in sig.formals(cls):
            try:
                inputs, attributes = sig.bind(cls, signature, tuple(args), dict(kwargs), is_operand, lenient)
            except sig.Mismatch as mismatch:
                reasons.append(str(mismatch))
                continue
            if _are_meant(cls, inputs) and _are_numbers_of_axes(cls, inputs):
                return Constructed(cls(**attributes), inputs, [])
            reasons.append("numbers stand for arrays beside an array only")
    raise refusal(classes, name, args, kwargs, reasons)


def _are_meant(cls: type[Op], inputs: Sequence[Any]) -> bool:
    """Whether numbers among the inputs stand for arrays: they do beside an array, and where none may be left out; truth values do not."""
    plain = [(t, v) for t, v in zip(cls.inputs.split(), inputs) if isinstance(v, (int, float))]
    return not plain or (any(is_operand(v) for v in inputs) and not any(isinstance(v, bool) or t.endswith("?") for t, v in plain))


def _holds(made: Constructed) -> bool:
    """Whether arrays as inputs fit the op, and outputs its results; for variables graphs find it out."""
    if any(isinstance(v, SDVariable) for v in made.inputs):
        return True
    try:
        specs = as_tuple(made.op.infer(*(None if v is None else spec_of(as_array(v)) for v in made.inputs)))  # type: ignore[arg-type]
    except DL4PyError:
        return False
    return not made.outputs or [s.shape for s in specs] == [tuple(v.shape) for v in made.outputs]


def _drawn_into(cls: type[Op], name: str, args: Sequence[Any], kwargs: dict[str, Any]) -> Constructed | None:
    """Numbers for an array, ``BernoulliDistribution(z, 0.5)``, ``Linspace(z, 0, 1)``: it gives shape and type, and takes them."""
    if cls.id == "linspace_random":
        return _spaced(cls, args)
    if "Distribution" not in name or cls.inputs != "shape_variable?":
        return None
    if not args or not is_output(args[0]) or any(is_operand(v) for v in args[1:]):
        return None
    target, *options = args
    names = [n for n in cls.attribute_names() if n not in ("data_type", "shape")]
    values = dict(zip(names, _STANDARD)) if len(names) == 2 else {}
    values |= dict(zip(names[-len(options):] if options else (), options)) | kwargs
    return Constructed(cls(**values, shape=tuple(target.shape), data_type=DataType.of(target.dtype)), [], [target])


def _by_sizes(cls: type[Op], name: str, args: Sequence[Any], kwargs: dict[str, Any]) -> Constructed | None:
    """``Upsampling3dBp(x, gradient, ncdhw)``: how often cells were repeated, their sizes tell."""
    if cls.id != "upsampling3d_bp" or len(args) != 3 or not (are_operands(args[:2]) and isinstance(args[2], bool)):
        return None
    first = 2 if args[2] else 1
    old, new = (tuple(v.shape)[first:first + 3] for v in args[:2])
    if len(old) < 3 or len(new) < 3 or not all(isinstance(n, int) for n in (*old, *new)):
        return None
    scales = dict(zip(("scale_d", "scale_h", "scale_w"), (n // max(m, 1) for m, n in zip(old, new))))
    return Constructed(cls(ncdhw=args[2], **scales), list(args[:2]), [])


def _spaced(cls: type[Op], args: Sequence[Any]) -> Constructed | None:
    """``Linspace(z, from, to)``, with a step behind these; ``Linspace(from, length, step, data_type)``."""
    first, *numbers = args
    if is_output(first) and len(numbers) in (2, 3) and not any(map(is_operand, numbers)):
        names = dict(zip(("from_", "to", "step"), map(plain_number, numbers)))
        return Constructed(cls(**names, length=first.size, data_type=DataType.of(first.dtype)), [], [first])
    if len(args) == 4 and isinstance(args[2], float) and type(args[1]) is int:
        return Constructed(cls(from_=plain_number(first), to=0.0, length=args[1], step=args[2], data_type=DataType.of(args[3])), [], [])
    return None


#: Mean and deviation, or bounds, of distributions where an array alone is given, and the first of both with the second.
_STANDARD = (0.0, 1.0)


def _as_method(cls: type[Op], name: str, args: Sequence[Any], kwargs: dict[str, Any]) -> Constructed | None:
    """The arguments as methods take them; arrays too many are outputs."""
    given, outputs = list(args), list[Any]()
    if given and are_operands(given[0]):
        count = len(given[0])
        rest = given[1:]
        while rest and (rest[0] is None or is_output(rest[0]) or (are_operands(rest[0]) and all(map(is_output, rest[0])))):
            first = rest.pop(0)
            outputs += [] if first is None else list(first) if isinstance(first, (list, tuple)) else [first]
        given = [*given[0], *rest]
        if not cls.inputs.startswith("*") and count > len(cls.inputs.split()):
            return None
    arrays = [i for i, a in enumerate(given) if is_output(a)]
    if issubclass(cls, Backprop):
        for i in reversed(arrays[_with_gradients(cls, [given[i] for i in arrays]):]):
            outputs.insert(0, given.pop(i))
        arrays = []
    while True:
        for signature in sig.formals(cls):
            try:
                inputs, attributes = sig.bind(cls, signature, tuple(given), dict(kwargs), is_operand, False)
            except sig.Mismatch:
                continue
            if _are_numbers_of_axes(cls, inputs):
                return Constructed(cls(**attributes), inputs, outputs)
        if len(arrays) < 2:
            return None
        outputs.insert(0, given.pop(arrays.pop()))


def _with_gradients(cls: type[Backprop], arrays: Sequence[Any]) -> int:
    """How many of the arrays an op ``<op>_bp`` reads: behind the inputs of the op and one gradient, arrays for its results may stand."""
    inputs, of = len(arrays) - 1, cls.gradient_of
    if takes_inputs(of, inputs) and not ("axes?" in of.inputs and inputs == 2 and DataType.of(arrays[-1].dtype).is_floating):
        return len(arrays)
    half = inputs // 2
    return half + 1 if inputs == 2 * half and takes_inputs(of, half) else len(arrays)


def _are_numbers_of_axes(cls: type[Op], inputs: Sequence[Any]) -> bool:
    """Whether an input ``axes`` consists of whole numbers: else it is an output."""
    pairs = zip(cls.inputs.split(), inputs)
    return all(not is_operand(v) or DataType.of(v.dtype).is_integer for t, v in pairs if t == "axes?")


def _by_kind(cls: type[Op], name: str, args: Sequence[Any], kwargs: dict[str, Any]) -> Constructed | None:
    """The arguments of a constructor by their types; None where they fit none."""
    flat = list(itertools.chain.from_iterable(a if are_operands(a) else [a] for a in args))
    last = max((i for i, a in enumerate(flat) if a is not None and not is_operand(a)), default=len(flat))
    operands = [a for i, a in enumerate(flat) if is_operand(a) or (a is None and i < last)]
    inputs, left = _inputs_among(cls, operands)
    if inputs is None or not _are_numbers_of_axes(cls, inputs):
        return None
    if cls.inputs.startswith("*") and are_operands(args[0]) and not all(any(a is b for b in args[0]) for a in inputs):
        return None
    outputs = [v for v in left if is_output(v)]
    options = [a for a in flat if a is not None and (not is_operand(a) or any(a is v for v in left))]
    ways = (_without_arrays, _with_values)
    for read in ways if outputs and not all(_is_whole_number(v) for v in outputs) else reversed(ways):
        for names in _orders(cls):
            attributes = _attributes(cls, names, read(options))
            if attributes is not None and not _missing(cls, attributes | kwargs):
                return Constructed(cls(**attributes, **kwargs), inputs, outputs if read is _without_arrays else [])
    return None


def _inputs_among(cls: type[Op], operands: list[Any]) -> tuple[list[Any] | None, list[Any]]:
    """Inputs, None where some are missing, and the operands that are left."""
    tokens, left, inputs = cls.inputs.split(), list(operands), list[Any]()
    for i, token in enumerate(tokens):
        if token.startswith("*"):
            count = max(len(left) - sum(not t.endswith("?") for t in tokens[i + 1:]), 0)
            inputs, left = [*inputs, *(v for v in left[:count] if v is not None)], left[count:]
        elif token.endswith("?"):
            optional = left.pop(0) if left and (left[0] is None or len(left) == 1 or tokens[i + 1:]) else None
            inputs.append(optional)
        else:
            left = left[next((k for k, v in enumerate(left) if v is not None), len(left)):]
            if not left:
                return None, []
            inputs.append(left.pop(0))
    while inputs and inputs[-1] is None:
        inputs.pop()
    return inputs, [v for v in left if v is not None]


def _without_arrays(options: Sequence[Any]) -> list[Any] | None:
    """The options, among which no variable may be; arrays are outputs."""
    return None if any(isinstance(v, SDVariable) for v in options) else [v for v in options if not is_array(v)]


def _with_values(options: Sequence[Any]) -> list[Any] | None:
    """The options with the numbers of arrays and of constants; None where a variable has no value yet."""
    found = []
    for v in options:
        if isinstance(v, SDVariable):
            if not v.is_constant():
                return None
            v = v.get_arr()
        found.append(np.asarray(v).reshape(-1).tolist() if is_array(v) else v)
    return [v[0] if isinstance(v, list) and len(v) == 1 and not isinstance(v[0], list) else v for v in found]


def _is_whole_number(value: Any) -> bool:
    return bool(np.size(value) == 1 and not DataType.of(value.dtype).is_floating)


def _orders(cls: type[Op]) -> Iterator[list[str]]:
    """The attributes in the orders in which the ways to call the op have them, the others behind."""
    every = list(cls.attribute_names())
    for formals in sig.formals(cls):
        first = [f.name for f in formals if f.kind == "attribute"]
        yield [*first, *(n for n in every if n not in first)]


def _missing(cls: type[Op], values: dict[str, Any]) -> bool:
    """Whether an attribute without a default is not among them."""
    unset = dataclasses.MISSING
    return any(f.name not in values and f.default is unset and f.default_factory is unset
               for f in dataclasses.fields(cls))  # type: ignore[arg-type]  # every registered op is a dataclass


def _attributes(cls: type[Op], names: list[str], options: Sequence[Any] | None) -> dict[str, Any] | None:
    """Each option for the first free attribute of its type, by preference behind the one before; None where one has no place.

    Truth values that find none say nothing here; where the op has some, True may only stand last, where it asks for work in place.
    """
    if options is None:
        return None
    hints = sig.attribute_types(cls)
    found: dict[str, Any] = {}
    at, left = 0, [v for v in options if not (isinstance(v, (list, tuple)) and not v)]
    while left:
        option = left.pop(0)
        for name in [*names[at:], *names[:at]]:
            if name in found:
                continue
            several = _takes_several(hints[name], option)
            fits, made = _fits(hints[name], [option, *left] if several else option, name)
            if fits:
                found[name], at = made, names.index(name) + 1
                left = [] if several else left
                break
        else:
            if dataclasses.is_dataclass(option) and not isinstance(option, type):
                own = {f.name: getattr(option, f.name) for f in dataclasses.fields(option)}
                found |= {n: v for n, v in own.items() if n in names}
            elif not isinstance(option, (bool, np.bool_)) or (option and left and bool in hints.values()):
                return None
    return found


def _takes_several(hint: Any, option: Any) -> bool:
    """Whether an attribute takes this option and those behind it, as Java's ``int...`` and ``int[]...`` do."""
    inner = typing.get_args(hint)[:1] if typing.get_origin(hint) in (tuple, list) else ()
    nested = bool(inner) and typing.get_origin(inner[0]) in (tuple, list)
    if isinstance(option, (list, tuple)):
        return nested and all(isinstance(v, (int, np.integer)) for v in option)
    return bool(inner) and not nested and isinstance(option, (int, np.integer)) and not isinstance(option, bool)


def _fits(hint: Any, value: Any, name: str) -> tuple[bool, Any]:
    """Whether a value is one of the type, and what becomes of it: numbers like 2.0 are whole ones, too."""
    attempts = [value]
    if isinstance(value, float) and value.is_integer():
        attempts.append(int(value))
    for attempt in attempts:
        try:
            return True, sig.coerce(hint, attempt, name)
        except sig.Mismatch:
            continue
    return False, None
