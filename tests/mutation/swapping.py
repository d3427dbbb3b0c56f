"""Functions of a running process get other code."""
from __future__ import annotations

import gc
import types
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

Code = types.CodeType


def _inside(code: Code) -> list[Code]:
    return [c for c in code.co_consts if isinstance(c, Code)]


def pairs(old: Code, new: Code) -> Iterator[tuple[Code, Code]]:
    """Code of two texts, with what stands inside it as long as there is as much in both."""
    yield old, new
    if len(_inside(old)) == len(_inside(new)):
        for a, b in zip(_inside(old), _inside(new)):
            yield from pairs(a, b)


def _meaning(code: Code) -> tuple[object, ...]:
    """What code does, wherever it stands; what those inside it do is theirs."""
    return (code.co_code, code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars, code.co_flags,
            [type(c) if isinstance(c, Code) else (type(c), repr(c)) for c in code.co_consts])


def swapped(codes: Mapping[Path, Mapping[Code, Code]]) -> int:
    """Give the functions of files their new code; how many there are of them."""
    path = cache(lambda name: Path(name).resolve())
    count = 0
    for f in gc.get_objects():
        if type(f) is types.FunctionType:      # no isinstance: it asks proxies
            new = codes.get(path(f.__code__.co_filename), {}).get(f.__code__)
            if new is not None and new.co_freevars == f.__code__.co_freevars:
                f.__code__ = new
                count += 1
    return count


def changed_functions(file: Path, old: bytes, new: bytes) -> int:
    """Make a change of a file in its functions; how many there are of them, none where it is not in a function."""
    before, after = (compile(text, str(file), "exec", dont_inherit=True) for text in (old, new))
    return swapped({file.resolve(): {a: b for a, b in pairs(before, after) if any(_meaning(c) != _meaning(d) for c, d in pairs(a, b))}})
