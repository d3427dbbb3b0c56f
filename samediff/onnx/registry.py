"""The table of ONNX operators: which function adds the nodes of an operator, from which version on."""
from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

from ..base.home import is_ours
from ..errors import RegistrationError, did_you_mean

Convert = Callable[..., Any]
F = TypeVar("F", bound=Convert)

#: Names of the domain of the standard operators.
STANDARD = ("", "ai.onnx")


@dataclass(frozen=True)
class Converter:
    """The conversion of one operator to graph nodes.

    Parameters
    ----------
    operator, domain : str
        Its name, and whose it is; an empty domain is the standard's own.
    since, until : int
        First and last version of the operator set in which it has this meaning.
    convert : function of the ONNX node and its inputs
        Gives the outputs, one or a tuple.
    notes : str
        What users should know.
    """

    operator: str
    domain: str
    since: int
    until: int
    convert: Convert
    notes: str = ""


_NEWEST = 10_000
_TABLE: dict[tuple[str, str], list[Converter]] = {}


def plain_domain(domain: str) -> str:
    """The domain under the name that the table has for it."""
    return "" if domain in STANDARD else domain


def onnx_converter(operator: str, since: int = 1, until: int = _NEWEST, *, domain: str = "", notes: str = "",
                   replace: bool = False) -> Callable[[F], F]:
    """Register a function that adds the nodes of an ONNX operator.

    The function is called with an :class:`~.node.OnnxNode` and the inputs as arrays of the graph, which answer like NumPy's (None:
    input left out); it gives one array or a tuple.

    Parameters
    ----------
    operator : str
        Name of the operator.
    since, until : int
        Versions of the operator set for which it holds; all of them by default.
    domain : str
        Whose operator it is; the standard's by default.
    notes : str
        What users should know, for the table in the documentation.
    replace : bool
        Whether it takes the place of one that is registered already; otherwise that is an error.

    Raises
    ------
    RegistrationError
        Versions of the operator are registered already.

    Examples
    --------
    >>> from dl4py.samediff.onnx import onnx_converter
    >>> @onnx_converter("Twice", domain="org.acme", replace=True)
    ... def twice(node, x):
    ...     return x * 2
    """
    key = (plain_domain(domain), operator)

    def register(convert: F) -> F:
        held = _TABLE.setdefault(key, [])
        meeting = [c for c in held if c.since <= until and since <= c.until]
        if meeting and is_ours(convert) and not any(is_ours(c.convert) for c in meeting):
            return convert                              # users registered theirs before these were loaded
        if meeting and not replace:
            where = f" of domain {domain!r}" if domain else ""
            raise RegistrationError(f"ONNX operator {operator}{where} has a converter for versions {meeting[0].since} to "
                                    f"{meeting[0].until} already, {meeting[0].convert.__name__}; replace=True puts another in its place")
        held[:] = [c for c in held if c not in meeting] + [Converter(operator, key[0], since, until, convert, notes)]
        return convert

    return register


def same_for(*operators: str, domain: str = "", since: int = 1, until: int = _NEWEST, notes: str = "") -> Callable[[F], F]:
    """Register one function for several operators."""
    def register(convert: F) -> F:
        for operator in operators:
            onnx_converter(operator, since, until, domain=domain, notes=notes)(convert)
        return convert
    return register


def converter_of(operator: str, domain: str, version: int) -> Converter | None:
    """The converter of an operator in a version of its operator set."""
    return next((c for c in _TABLE.get((plain_domain(domain), operator), ()) if c.since <= version <= c.until), None)


def known_converters() -> Iterator[Converter]:
    """All of them, by domain, name and version."""
    for _, held in sorted(_TABLE.items()):
        yield from sorted(held, key=lambda c: c.since)


def near_names(operator: str, domain: str) -> str:
    """A hint at operators with similar names."""
    return did_you_mean(operator, [name for d, name in _TABLE if d == plain_domain(domain)])
