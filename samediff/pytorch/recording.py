"""Programs that ``torch.export`` records, as graphs of calls."""
from __future__ import annotations

import operator
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from ..codecs.torch_tensors import array_of, dtype_of, torch
from ..errors import GraphError, MissingOpError, MissingPackageError
from . import converters  # noqa: F401 - fills the table
from .converters.table import known_ops
from .torch_graph import Reference, TorchArray, TorchCall, TorchGraph, TorchInput, needed_calls

#: Calls that compute nothing.
_CHECKS = ("_assert", "sym_constrain_range", "_check")


def program_of(module: Any, args: tuple[Any, ...], options: Mapping[str, Any], dynamic_shapes: Any = None) -> Any:
    """What the module does outside of training, in ops that have converters as far as that is possible.

    Without ``dynamic_shapes`` the first size of each tensor is left open where the module allows it; an empty one leaves none.
    """
    library = torch()
    was_training = module.training
    module.eval()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            program = _exported(library, module, args, dict(options), dynamic_shapes)
            calls = [n for n in program.graph.nodes if n.op == "call_function"]
            if all(_op_name(n.target) in known_ops() or _is_check(n.target) for n in calls) and not any(map(_reaches_others, calls)):
                return program                          # the only form in which dropout is still there
            return program.run_decompositions(_decompositions(library))
    finally:
        module.train(was_training)


def _exported(library: Any, module: Any, args: tuple[Any, ...], options: dict[str, Any], dynamic_shapes: Any) -> Any:
    export = library.export.export
    if dynamic_shapes is not None:
        return export(module, args, options, dynamic_shapes=dynamic_shapes or None)

    def hint(value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return type(value)(map(hint, value))
        if isinstance(value, dict):
            return {k: hint(v) for k, v in value.items()}
        return {0: library.export.Dim.AUTO} if isinstance(value, library.Tensor) and value.ndim else None

    def twice(value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return type(value)(map(twice, value))
        return library.cat([value, value]) if isinstance(value, library.Tensor) and value.ndim and value.shape[0] == 1 else value

    shapes = {**_named(module, args, hint), **{k: hint(v) for k, v in options.items()}}
    given = twice(args), {k: twice(v) for k, v in options.items()}        # a size of 1 is never left open
    for these, those in (given, (args, options)):
        try:
            return export(module, these, those, dynamic_shapes=shapes)
        except Exception:                                                 # of many kinds; the last try tells
            continue
    return export(module, args, options)


def _named(module: Any, args: Sequence[Any], hint: Any) -> dict[str, Any]:
    import inspect
    found: dict[str, Any] = {}
    for p in inspect.signature(module.forward).parameters.values():
        if p.kind is p.VAR_POSITIONAL:
            found[p.name] = tuple(hint(a) for a in args[len(found):])
        elif len(found) < len(args):
            found[p.name] = hint(args[len(found)])
    return found


def _decompositions(library: Any) -> Any:
    known = known_ops()
    table = library.export.default_decompositions()
    for op in list(table):
        if _op_name(op) in known:
            del table[op]
    return table


def _reaches_others(node: Any) -> bool:
    """Whether a call that changes an array in place changes others, too: views of it, what it is a view of, states of the module."""
    schema = getattr(node.target, "_schema", None)
    if schema is None or not schema.is_mutable:
        return False
    changed = [a for a, spec in zip(node.args, schema.arguments) if spec.alias_info is not None and spec.alias_info.is_write]
    return any(a.op != "call_function" or _is_view(a) or any(map(_is_view, a.users)) for a in changed)


def _is_view(node: Any) -> bool:
    schema = getattr(node.target, "_schema", None)
    return schema is not None and any(r.alias_info is not None and not r.alias_info.is_write for r in schema.returns)


def _is_check(target: Any) -> bool:
    return any(mark in _op_name(target) for mark in _CHECKS)


def _op_name(target: Any) -> str:
    """The name of an op, without that of its overload, and without the mark of those that work in place."""
    if hasattr(target, "overloadpacket"):
        name = str(target.overloadpacket)
        return name.removesuffix("_") if target._schema.is_mutable else name
    if target is operator.getitem:
        return "getitem"
    return f"{getattr(target, '__module__', '')}.{getattr(target, '__name__', target)}".replace("_operator.", "operator.")


def graph_of(module: Any, args: tuple[Any, ...], options: Mapping[str, Any], dynamic_shapes: Any = None) -> TorchGraph:
    """The calls that a module makes for an example.

    Raises
    ------
    GraphError
        ``torch.export`` cannot record the module: it decides by values, or calls what is no op.
    MissingOpError
        Some ops have no converter; all of them are named.
    """
    try:
        program = program_of(module, args, options, dynamic_shapes)
    except (MissingPackageError, MissingOpError):
        raise
    except Exception as error:                              # whatever PyTorch raises while it records
        text = str(error).strip().splitlines() or [""]
        raise GraphError(f"torch.export cannot record {type(module).__name__}: {type(error).__name__}: {text[0]}") from error
    return read_program(program)


def read_program(program: Any) -> TorchGraph:
    """The calls of an exported program."""
    library, made = torch(), TorchGraph()
    signature = program.graph_signature
    kinds = {spec.arg.name: spec for spec in signature.input_specs if hasattr(spec.arg, "name")}
    newest: dict[str, str] = {}                         # of arrays that were changed in place
    for node in program.graph.nodes:
        if node.op == "placeholder":
            _place(library, program, made, node, kinds[node.name])
        elif node.op == "call_function":
            name = _op_name(node.target)
            if _is_check(node.target):
                continue
            made.calls.append(_call(library, node, name, newest))
            if getattr(getattr(node.target, "_schema", None), "is_mutable", False):
                newest[node.args[0].name] = node.name
        elif node.op == "output":
            names = _output_names(library, program)
            shown = [s.arg for s in signature.output_specs if s.kind.name == "USER_OUTPUT"]
            made.outputs = [(n, newest.get(a.name, a.name)) for n, a in zip(names, shown) if getattr(a, "name", "")]
        elif node.op == "get_attr":
            raise MissingOpError(f"node {node.name!r} of the program holds a program of its own (torch.cond, while_loop and the like), "
                                 "which cannot be imported; torch.where chooses element by element")
    made.calls = needed_calls(made)
    unknown = {c.op_type: c.name for c in reversed(made.calls) if c.op_type not in known_ops()}
    if unknown:
        listed = ", ".join(f"{op} (node {node!r})" for op, node in sorted(unknown.items()))
        raise MissingOpError(f"no converter for these ops of PyTorch: {listed}. Register each: "
                             '@torch_converter("aten.name") of dl4py.samediff.pytorch above a function of the node and the arguments')
    return made


def _place(library: Any, program: Any, made: TorchGraph, node: Any, spec: Any) -> None:
    if spec.kind.name in ("PARAMETER", "BUFFER", "CONSTANT_TENSOR"):
        if not node.users:
            return
        key = spec.target
        tensor = program.state_dict[key] if key in program.state_dict else program.constants[key]
        train = spec.kind.name == "PARAMETER" and bool(getattr(tensor, "requires_grad", False))
        made.arrays.append(TorchArray(node.name, key, array_of(tensor), train))
        return
    value = node.meta.get("val")
    if isinstance(value, library.Tensor):
        made.inputs.append(TorchInput(node.name, dtype_of(value.dtype), _shape(value)))


def _shape(value: Any) -> tuple[int, ...]:
    return tuple(n if isinstance(n, int) else -1 for n in value.shape)


def _call(library: Any, node: Any, name: str, newest: Mapping[str, str]) -> TorchCall:
    def plain(value: Any) -> Any:
        if isinstance(value, library.fx.Node):
            return Reference(newest.get(value.name, value.name))
        if isinstance(value, (list, tuple)):
            return [plain(v) for v in value]
        if isinstance(value, library.dtype):
            return dtype_of(value)
        return value if isinstance(value, (bool, int, float, str)) else None          # devices, layouts, orders in memory

    value = node.meta.get("val")
    several = isinstance(value, (tuple, list))
    first = next((v for v in value if isinstance(v, library.Tensor)), None) if several else value
    dtype = dtype_of(first.dtype) if isinstance(first, library.Tensor) else None
    return TorchCall(node.name, name, [plain(a) for a in node.args], {k: plain(v) for k, v in node.kwargs.items()}, dtype, several)


def _output_names(library: Any, program: Any) -> list[str]:
    """What the results are called: ``output``, keys of a dictionary, or ``output_0``, ``output_1`` ..."""
    spec = program.call_spec.out_spec
    count = spec.num_leaves
    tree = library.utils._pytree.tree_unflatten(list(range(count)), spec)
    if isinstance(tree, int):
        return ["output"]
    if isinstance(tree, dict) and all(isinstance(v, int) for v in tree.values()):
        return [str(k) for k, _ in sorted(tree.items(), key=lambda pair: pair[1])]
    return [f"output_{i}" for i in range(count)]
