"""Runs that give every value on the way to their outputs: ``exec`` and similar calls."""
from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...errors import GraphError
from ...ir.node import needed
from ...training.listeners.listener import Listener
from .differentiation import as_list
from .fitting import split_by_kind
from .predicting import GraphPredictingMixin


class ExecResult(Mapping[str, Any]):
    """Values of a run: a mapping of names to arrays, with attribute access for names that are identifiers.

    Those that were asked for come first, then the others that were computed on the way.

    Parameters
    ----------
    outputs : dict of array by str
        What was computed.
    """

    def __init__(self, outputs: dict[str, Any]) -> None:
        self._outputs = outputs

    def outputs(self) -> dict[str, Any]:
        """All results by name."""
        return dict(self._outputs)

    def __getitem__(self, name: str) -> Any:
        return self._outputs[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._outputs)

    def __len__(self) -> int:
        return len(self._outputs)

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["_outputs"][name]
        except KeyError:
            raise AttributeError(name) from None

    def __repr__(self) -> str:
        return f"ExecResult({', '.join(f'{n}: {a.dtype}{a.shape}' for n, a in self._outputs.items())})"


class WholeRuns(GraphPredictingMixin):
    """The part of :class:`SameDiff` that computes and keeps everything."""

    def exec(self, placeholders: Mapping[str, Any] | None = None, *variables: Any, backward: bool = False,
             outputs: Any = ()) -> ExecResult:
        """Compute variables and everything on the way to them.

        ``output`` computes what is asked for alone and is faster. The values, those of the placeholders among them, stay readable by
        ``variable.get_arr()`` on this thread, in memory, until its next ``exec``; ``variable.eval()`` computes from them.

        Parameters
        ----------
        placeholders : mapping of name to array, or None
            None takes the values set with ``set_array`` on this thread.
        *variables, outputs : str, SDVariable, or one list of them
            By default those of ``outputs()``. Listeners among them hear of the run.
        backward : bool
            Add the gradients of the losses by all trainable variables, under ``name-grad``; computed in training mode.

        Examples
        --------
        >>> from dl4py.samediff import SameDiff
        >>> sd = SameDiff.create()
        >>> x = sd.var("x", [1.0, 2.0])
        >>> y = (x.mul("doubled", 2.0) + 1).sum("y")
        >>> sd.exec().doubled
        array([2., 4.], dtype=float32)
        >>> y.get_arr()
        INDArray(8., dtype=float32)
        """
        wanted, heard = split_by_kind((*variables, *as_list(outputs)), Listener)
        names = self.tables.names_in(wanted) or self.outputs()
        if not names:
            raise GraphError("exec computes the results of ops, of which the graph has none")
        for name in names:
            self.variable(name)
        nodes = needed(self.nodes(), names)
        whole = list(dict.fromkeys([*names, *(n for node in nodes for n in node.outputs)]))
        read = dict.fromkeys(n for node in nodes for n in node.inputs if n is not None and n not in whole)
        fed = [n for n in read if self.variable(n).is_place_holder()]
        found = self.output(placeholders, *whole, *fed, *heard)
        values = {n: found[n] for n in whole}
        if backward:
            values |= {f"{n}-grad": g for n, g in self.exec_backwards(placeholders).items()}
        self.tables.keep_results(found | values)
        return ExecResult(values)

    def exec_and_end_result(self, placeholders: Mapping[str, Any] | None = None) -> Any:
        """The result of the last op, after :meth:`exec`."""
        nodes = self.nodes()
        values = self.exec(placeholders, *self.outputs(), *(nodes[-1].outputs[:1] if nodes else ()))
        return values[nodes[-1].outputs[0]]

    def exec_backwards(self, placeholders: Mapping[str, Any] | None = None, *variables: Any) -> dict[str, Any]:
        """Gradients of the summed losses by variables, by default by all trainable ones that the losses depend on: ``{name: array}``.

        ``variable.gradient().get_arr()`` gives them too, until the next time on this thread.
        """
        names = self.tables.names_in(variables) or [n for n, g in self._gradients_for([]).found.items() if g is not None]
        found = self.calculate_gradients(placeholders, *names)
        known = self._gradients_for(names)
        known.graph.tables.keep_results({g.name(): found[n] for n in names if (g := known.found[n]) is not None})
        return found

    def keep_results(self, keep: bool = True) -> None:
        """Let ``output`` keep what it computes, for ``variable.get_arr()`` on the thread that ran it, until its next run.

        Off by default: kept arrays take memory, and ``output`` some nanoseconds more.
        """
        self._keeps = bool(keep)
        if not keep:
            self.tables.keep_results({})
