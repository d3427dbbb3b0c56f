"""NumPy's functions on the variables of a graph."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..base.lazy_property import lazy_property
from ..ir.core import GraphCore
from ..numpy_functions.array_api import ArrayApi
from ..numpy_functions.on_variables import OnVariables


class NumpyMixin(GraphCore):
    """The part of a graph that adds nodes for functions of NumPy and the array API standard."""

    @lazy_property
    def _numpy(self) -> OnVariables:
        return OnVariables(self)

    def numpy_call(self, function: Callable[..., Any], args: Sequence[Any], options: Mapping[str, Any]) -> Any:
        """Call a function of NumPy on variables of this graph; its results are variables.

        Raises
        ------
        GraphError
            It has no node.
        """
        return self._numpy.call(function, args, options)

    def numpy_item(self, variable: Any, index: Any) -> Any:
        """``variable[index]`` with arrays among the indices."""
        return self._numpy.item(variable, index)

    def array_namespace(self) -> ArrayApi:
        """The functions of the array API standard; arrays that they make are constants of this graph.

        Examples
        --------
        >>> from dl4py.samediff import SameDiff
        >>> sd = SameDiff.create()
        >>> xp = sd.array_namespace()
        >>> x = xp.asarray([[1.0, 2.0], [3.0, 4.0]])
        >>> xp.sum(x, axis=0, keepdims=True).eval()
        array([[4., 6.]], dtype=float32)
        """
        return ArrayApi(self)
