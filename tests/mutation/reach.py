"""Which compiled code uses a module, so that a change of it recompiles what it must and nothing else."""
from __future__ import annotations

import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any


def _named(code: types.CodeType) -> Iterator[str]:
    """The names that a function uses, with those of the functions inside."""
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            yield from _named(inner)


def _functions(value: Any) -> Iterator[types.FunctionType]:
    """The functions of Python that a name of compiled code stands for."""
    if isinstance(value, types.FunctionType):
        yield value
        return
    for name in ("py_func", "single", "double", "_define"):
        if (found := getattr(value, name, None)) is not None:
            yield from _functions(found)


def reaches(values: Sequence[Any], module: str) -> bool:
    """Whether code that uses these values uses functions of a module."""
    seen: set[types.FunctionType] = set()
    waiting = [f for v in values for f in _functions(v)]
    while waiting:
        f = waiting.pop()
        if f.__module__ == module:
            return True
        if f in seen:
            continue
        seen.add(f)
        names = set(_named(f.__code__))
        used = [f.__globals__[n] for n in names if n in f.__globals__] + [c.cell_contents for c in f.__closure__ or ()]
        used += [getattr(m, n) for m in used if isinstance(m, types.ModuleType) for n in names if hasattr(m, n)]
        waiting += [g for v in used for g in _functions(v)]
    return False


def recompile(module: str, change: str) -> None:
    """From now on, machine code that a changed module is part of has names of its own in the cache."""
    from dl4py.samediff.cpu.compiler import sources as cache
    from dl4py.samediff.cpu.native import instruction
    toolchain, changed = cache.toolchain(), False

    def telling(values: Callable[..., Sequence[Any]], function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **options: Any) -> Any:
            nonlocal changed
            before, changed = changed, reaches(values(*args), module)
            try:
                return function(*args, **options)
            finally:
                changed = before
        return call
    cache.toolchain = lambda: f"{toolchain} {change}" if changed else toolchain         # type: ignore[assignment]
    instruction.compiled_entry = telling(lambda source, names: [v for n, v in names().items() if n in source], instruction.compiled_entry)
    cache._dispatcher = telling(lambda function, options: [function], cache._dispatcher)
