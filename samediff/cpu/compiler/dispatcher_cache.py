"""Machine code of functions that Python calls, on disk.

Numba itself keeps none of functions that are in no file. Importing this fails where Numba's objects are not as they are used here: each
process compiles such functions then.
"""
# mypy: ignore-errors
from __future__ import annotations

import hashlib
import pickle
from typing import Any

from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

from ..cache import store as cache_store

_reduced, _rebuilt = CompileResult._reduce, CompileResult._rebuild


class DispatcherCache(NullCache):
    """The overloads of a function that Python calls, in the cache.

    Numba's own cache takes files by number, of whoever wrote them, and unpickles them. Here a file is bound to its function, signature and
    compiler before it is.

    Parameters
    ----------
    stamp : of all that the code depends on, apart from the signature
    versions : see :func:`dl4py.samediff.cpu.cache.store.read`
    """

    def __init__(self, stamp: str, versions: str) -> None:
        self._stamp, self._versions = stamp, versions

    def _name(self, signature: Any, codegen: Any) -> str:
        text = "\0".join((self._stamp, str(signature), *map(str, codegen.magic_tuple())))
        return hashlib.sha256(text.encode()).hexdigest()[:24] + ".nbc"

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The code for a signature, as it was saved; None where it was not."""
        target_context.refresh()
        content = cache_store.read("numba", self._name(sig, target_context.codegen()), self._versions)
        return None if content is None else _rebuilt(target_context, *pickle.loads(content))

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep the code for a signature, unless it holds addresses of this process."""
        if not data.library.has_dynamic_globals and all(lifted.can_cache for lifted in data.lifted):
            cache_store.write("numba", self._name(sig, data.codegen), self._versions, dumps(_reduced(data)))
