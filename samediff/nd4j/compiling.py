"""Graph scopes, compiled functions, and branches and loops that they can hold."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..ir.translate_errors import refusing
from ..scopes import control_flow
from ..scopes.compiled import CompiledGraphFunction, compile_function
from ..scopes.graph_scope import GraphScope


@refusing("Nd4j")
class Compiling:
    """Recording and compiling."""

    @staticmethod
    def graph_scope(seed: int | None = None) -> GraphScope:
        """A scope that records what is called in it, and computes it as one graph: see :class:`GraphScope`.

        Examples
        --------
        >>> from dl4py import Nd4j
        >>> a = Nd4j.ones(2, 3)
        >>> with Nd4j.graphScope():
        ...     b = Nd4j.matmul(a, a.transpose())
        >>> b.tolist()
        [[3.0, 3.0], [3.0, 3.0]]
        """
        return GraphScope(seed)

    @staticmethod
    def compile(inputs: int, function: Callable[[list[Any]], Any]) -> CompiledGraphFunction:
        """Compile a function of a list of ``inputs`` arrays: traced once for each form, replayed by ``execute``.

        Examples
        --------
        >>> from dl4py import Nd4j
        >>> fn = Nd4j.compile(2, lambda inputs: [Nd4j.matmul(inputs[0], inputs[1])])
        >>> fn.execute(Nd4j.ones(1, 2), Nd4j.ones(2, 1))[0].tolist()
        [[2.0]]
        """
        return compile_function(inputs, function)

    if_cond = staticmethod(control_flow.if_cond)
    while_loop = staticmethod(control_flow.while_loop)
    scan = staticmethod(control_flow.scan)
