"""Machine code by Numba for functions that only compiled code calls.

Numba compiles every function as if Python might call it: wrappers, then all optimisations and machine code for each function that it
calls as well as for the code into which that is copied. Here a function that is called stays LLVM code until it is part of an entry,
and is optimised there, once. Numba's passes run without the tests and searches between them that only serve code of users.

That takes parts of Numba that are no promise to anybody. They are named in this file only: importing it, and :func:`check`, fail where one
is missing, and :mod:`.plain` compiles instead.
"""
# mypy: ignore-errors
from __future__ import annotations

import functools
from typing import Any

import numba
from llvmlite import ir
from numba.core import registry, types
from numba.core import typed_passes as typed
from numba.core import untyped_passes as untyped
from numba.core.codegen import JITCodeLibrary, JITCPUCodegen
from numba.core.compiler import CompilerBase, Flags, _LowerResult, compile_extra
from numba.core.compiler_lock import global_compiler_lock
from numba.core.compiler_machinery import PassManager, register_pass
from numba.core.typing.templates import AbstractTemplate

from . import settings
from .objects import Code, emitted, only

#: Versions of Numba that this was written for: the first one, and the first one that nobody has tried.
SINCE, BEFORE = (0, 62), (0, 69)

_USED = ("_final_module", "_linking_libraries", "_shared_module", "_finalized", "_ensure_finalized", "_optimize_final_module",
         "_get_module_for_linking", "add_ir_module", "add_linking_library")
_WRAPPERS = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}


@functools.cache
def _back_end() -> Any:
    """LLVM as kernels are optimised by it. Numba's own may have been started by the program, before it was told the settings."""
    settings.apply()
    return JITCPUCodegen("dl4py")


class CodeLibrary(JITCodeLibrary):
    """LLVM code of one function, and the libraries of those that it calls."""

    _joined = False

    def add_llvm_module(self, module: Any) -> None:
        self._final_module.link_in(module)

    def finalize(self) -> None:
        """Nothing is left to do until somebody wants all of the code."""
        self._finalized, self._joined = True, False

    def _reached(self) -> list[Any]:
        """Libraries of all functions called from here, each once."""
        found: dict[Any, None] = {}
        stack = [self]
        while stack:
            for library in stack.pop()._linking_libraries:
                if library not in found:
                    found[library] = None
                    if isinstance(library, CodeLibrary):
                        stack.append(library)
        return list(found)

    def _own(self) -> Any:
        return super()._get_module_for_linking()

    def _get_module_for_linking(self) -> Any:
        """The complete module, for code that Numba's own pipeline compiles."""
        if not self._joined:
            self.join()
        return self._own()

    def join(self) -> Any:
        """Link in the code of all functions that are called."""
        self._shared_module, self._joined = None, True
        for library in self._reached():
            module = library._own() if isinstance(library, CodeLibrary) and not library._joined else library._get_module_for_linking()
            self._final_module.link_in(module, preserve=True)
        return self._final_module

    def machine_code(self, symbol: str) -> Code:
        """The object file of all code that the function ``symbol`` needs, and names of functions that it does not contain."""
        self._ensure_finalized()
        only(self.join(), symbol)
        self._optimize_final_module()
        return emitted(self._final_module)


@register_pass(mutates_CFG=True, analysis_only=False)
class _Lowering(typed.NativeLowering):
    """Numba's lowering to LLVM, with a :class:`CodeLibrary` as target."""

    _name = "dl4py_lowering"

    def run_pass(self, state: Any) -> bool:
        state.library = CodeLibrary(_back_end(), state.func_id.func_qualname)
        state.flags.no_compile = True
        super().run_pass(state)
        made = state["cr"]
        key = [].append                 # by which callers find the code: dispatchers take nothing but a builtin function
        state.targetctx.insert_user_function(key, made.fndesc, [state.library])
        state["cr"] = _LowerResult(made.fndesc, made.call_helper, cfunc=key, env=made.env)
        return True


class _Passes(PassManager):
    """Passes one after the other, without looking at the code in between."""

    def run(self, state: Any) -> None:
        for kind, _ in self.passes:
            one = kind()
            one.analysis = self._analysis
            one.run_pass(state)


class Pipeline(CompilerBase):
    """Compiler pipeline from Python to LLVM code."""

    def define_pipelines(self) -> list[Any]:
        manager = _Passes("dl4py")
        for kind in (untyped.TranslateByteCode, untyped.FixupArgs, untyped.IRProcessing,
                     untyped.RewriteSemanticConstants, untyped.DeadBranchPrune, untyped.GenericRewrites,
                     untyped.ReconstructSSA, typed.NopythonTypeInference, typed.PreLowerStripPhis, typed.IRLegalization,
                     typed.AnnotateTypes, _Lowering, typed.NoPythonBackend):
            manager.add_pass(kind, "")
        manager.finalize()
        return [manager]


def inner(function: Any, options: dict[str, Any]) -> Any:
    """A dispatcher of Numba, for functions that compiled code calls."""
    return numba.njit(pipeline_class=Pipeline, **{**options, **_WRAPPERS})(function)


def by_type(name: Any, single: Any, double: Any) -> Any:
    """The type of a name that stands for ``single`` in calls with a float32, for ``double`` in calls with a float64."""
    class ByTypeTemplate(AbstractTemplate):
        key = name

        def _chosen(self, args: Any) -> Any:
            return {types.float32: single, types.float64: double}[args[0]]._numba_type_

        def generic(self, args: Any, kws: Any) -> Any:
            return self._chosen(args).get_call_type(self.context, args, kws) if args[0] in (types.float32, types.float64) else None

        def get_impl_key(self, sig: Any) -> Any:
            return self._chosen(sig.args).get_impl_key(sig)
    return types.Function(ByTypeTemplate)


@global_compiler_lock
def machine_code(function: Any, symbol: str, options: dict[str, Any], reference_counts: bool) -> Code:
    """The object file of ``function(table, part, parts)`` as ``symbol`` of the C language, and what it calls elsewhere.

    Code without reference counts of arrays takes a twelfth less time to compile.
    """
    flags = Flags()
    target = registry.cpu_target
    target.options.parse_as_flags(flags, {"nopython": True, "_nrt": reference_counts, **_WRAPPERS, **options})
    made = compile_extra(target.typing_context, target.target_context, function, (types.int64,) * 3, types.void, flags, {},
                         pipeline_class=Pipeline)
    context, library = target.target_context, made.library
    outer = CodeLibrary(_back_end(), symbol)
    module = context.create_module(symbol)
    callee = ir.Function(module, context.call_conv.get_function_type(types.void, made.fndesc.argtypes), made.fndesc.llvm_func_name)
    entry = ir.Function(module, ir.FunctionType(ir.VoidType(), [ir.IntType(64)] * 3), symbol)
    builder = ir.IRBuilder(entry.append_basic_block())
    context.call_conv.call_function(builder, callee, types.void, made.fndesc.argtypes, entry.args)
    builder.ret_void()
    outer.add_ir_module(module)
    outer.add_linking_library(library)
    code = outer.machine_code(symbol)
    context.remove_user_function(made.entry_point)          # no compiled code calls it, and Numba would keep all of it
    return code


def check() -> None:
    """AttributeError where this version of Numba lacks an attribute that is used here."""
    context = registry.cpu_target.target_context
    library = context.codegen().create_library("dl4py")
    for owner, name in (*((library, name) for name in _USED), (context, "remove_user_function")):
        getattr(owner, name)
    numba.njit(lambda: None)._numba_type_  # noqa: B018
