"""Small mistakes that a text of Python may hold: one operator, number, order, argument, condition or statement is another."""
from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass

_COMPARED = {ast.Lt: ("<", "<="), ast.LtE: ("<=", "<"), ast.Gt: (">", ">="), ast.GtE: (">=", ">"),
             ast.Eq: ("==", "!="), ast.NotEq: ("!=", "=="), ast.Is: ("is", "is not"), ast.IsNot: ("is not", "is"),
             ast.In: ("in", "not in"), ast.NotIn: ("not in", "in")}
_COMPUTED = {ast.Add: ("+", "-"), ast.Sub: ("-", "+"), ast.Mult: ("*", "/"), ast.Div: ("/", "*"), ast.FloorDiv: ("//", "*"),
             ast.Mod: ("%", "//"), ast.Pow: ("**", "*"), ast.BitAnd: ("&", "|"), ast.BitOr: ("|", "&"), ast.LShift: ("<<", ">>"),
             ast.RShift: (">>", "<<")}
_NAMES = {a: b for pair in ("min max", "any all", "floor ceil", "minimum maximum", "zeros ones", "zeros_like ones_like", "vmin vmax")
          for a, b in (pair.split(), reversed(pair.split()))}
_TYPES = frozenset(("Callable", "Iterable", "Iterator", "Mapping", "Sequence", "dict", "list", "tuple", "type"))
_TEXTS = (ast.JoinedStr, ast.FormattedValue)
#: Whose mistakes tests do not see here: text for a GPU, which other tests emulate.
ELSEWHERE = frozenset(("cuda",))


@dataclass(frozen=True)
class Mistake:
    """A stretch of the text, in bytes, and what stands there by mistake."""

    kind: str
    start: int
    end: int
    text: str

    def made_in(self, source: bytes) -> bytes:
        """The text with the mistake."""
        return source[:self.start] + self.text.encode() + source[self.end:]


class _Text:
    """A text with the places of its nodes."""

    def __init__(self, source: bytes) -> None:
        self.source, self._lines = source, [0]
        for line in source.splitlines(keepends=True):
            self._lines.append(self._lines[-1] + len(line))

    def span(self, node: ast.AST) -> tuple[int, int]:
        """First byte of a node and the one behind it."""
        return (self._lines[node.lineno - 1] + node.col_offset,                         # type: ignore[attr-defined]
                self._lines[node.end_lineno - 1] + node.end_col_offset)                 # type: ignore[attr-defined]

    def of(self, node: ast.AST) -> str:
        """What stands for a node."""
        return self.source[slice(*self.span(node))].decode()

    def instead(self, kind: str, node: ast.AST, text: str) -> Mistake:
        """Another text for a node."""
        return Mistake(kind, *self.span(node), text)

    def between(self, kind: str, left: ast.AST, right: ast.AST, old: str, new: str) -> Mistake:
        """Another operator between two nodes."""
        start, end = self.span(left)[1], self.span(right)[0]
        return Mistake(kind, start, end, self.source[start:end].decode().replace(old, new, 1))


def _operators(text: _Text, node: ast.AST) -> Iterator[Mistake]:
    if isinstance(node, ast.Compare):
        for left, op, right in zip((node.left, *node.comparators), node.ops, node.comparators):
            yield text.between("comparison", left, right, *_COMPARED[type(op)])
    elif isinstance(node, ast.BinOp) and type(node.op) in _COMPUTED and not any(
            isinstance(s, _TEXTS) or (isinstance(s, ast.Constant) and isinstance(s.value, (str, bytes))) for s in (node.left, node.right)):
        yield text.between("arithmetic", node.left, node.right, *_COMPUTED[type(node.op)])
    elif isinstance(node, ast.BoolOp):
        names = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        for left, right in itertools.pairwise(node.values):
            yield text.between("logic", left, right, *names)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.Not, ast.USub)):
        yield text.instead("sign", node, f"({text.of(node.operand)})")


def _values(text: _Text, node: ast.AST) -> Iterator[Mistake]:
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield text.instead("value", node, str(not node.value))
    elif isinstance(node, ast.Constant) and isinstance(node.value, int):
        yield text.instead("value", node, str(node.value + 1))
    elif isinstance(node, ast.Constant) and isinstance(node.value, float):
        yield text.instead("value", node, repr(2 * node.value or 1.0))
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in _NAMES:
        yield text.instead("name", node, _NAMES[node.id])
    elif isinstance(node, ast.Attribute) and node.attr in _NAMES:
        yield text.instead("name", node, f"{text.of(node.value)}.{_NAMES[node.attr]}")


def _conditions(text: _Text, node: ast.AST) -> Iterator[Mistake]:
    tests = [node.test] if isinstance(node, (ast.If, ast.IfExp)) else node.ifs if isinstance(node, ast.comprehension) else []
    for test in tests:
        for constant in ("True", "False"):
            yield text.instead("condition", test, constant)


def _unordered(node: ast.AST) -> list[ast.AST]:
    """Those parts of a node in which no order counts."""
    if isinstance(node, ast.Compare) and isinstance(node.ops[-1], (ast.In, ast.NotIn)):
        return node.comparators[-1:]        # type: ignore[return-value]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("isinstance", "issubclass", "frozenset"):
        return node.args[-1:]               # type: ignore[return-value]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("startswith", "endswith"):
        return node.args[:1]                # type: ignore[return-value]
    if isinstance(node, ast.SetComp):
        return [g.iter for g in node.generators]
    if isinstance(node, ast.ExceptHandler) and node.type is not None:
        return [node.type]
    return []


def _unknown_sizes(node: ast.AST) -> list[ast.AST]:
    """The numbers of sizes that ``reshape`` is to find out: any negative one says so."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "reshape":
        return [n.operand for a in node.args for n in (a, *getattr(a, "elts", ())) if isinstance(n, ast.UnaryOp)]
    return []


def _arguments(text: _Text, node: ast.AST) -> Iterator[Mistake]:
    several = node.args if isinstance(node, ast.Call) else node.elts if isinstance(node, (ast.Tuple, ast.List)) else []
    for a, b in itertools.pairwise(several):
        if text.of(a) != text.of(b) and not isinstance(getattr(node, "ctx", None), ast.Store):
            start, end = text.span(a)[0], text.span(b)[1]
            gap = text.source[text.span(a)[1]:text.span(b)[0]].decode()
            yield Mistake("order", start, end, f"{text.of(b)}{gap}{text.of(a)}")
    if isinstance(node, ast.Call):
        places = [text.span(a) for a in (*node.args, *node.keywords)]
        for k in node.keywords:
            i = places.index(text.span(k))
            if k.arg is not None and i:
                yield Mistake("left out", places[i - 1][1], places[i][1], "")


def _statements(text: _Text, node: ast.AST) -> Iterator[Mistake]:
    if isinstance(node, ast.AugAssign) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)):
        yield text.instead("left out", node, "pass")
    elif isinstance(node, ast.With) and all(i.optional_vars is None for i in node.items):
        yield Mistake("left out", text.span(node)[0], text.span(node.items[-1].context_expr)[1], "if True")
    elif isinstance(node, ast.Break):
        yield text.instead("left out", node, "continue")


KINDS: tuple[Callable[[_Text, ast.AST], Iterator[Mistake]], ...] = (_operators, _values, _conditions, _arguments, _statements)


def _left_out(node: ast.AST) -> bool:
    """Whether a part never runs, gives up, is a name of a type, or is for others; the order of public names is for readers."""
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and (node.targets[0].id == "__all__" or (
            isinstance(node.value, ast.Subscript) and isinstance(node.value.value, ast.Name) and node.value.value.id in _TYPES)):
        return True
    return isinstance(node, (ast.Raise, ast.Assert, *_TEXTS)) or (isinstance(node, ast.FunctionDef) and node.name in ELSEWHERE) or (
        isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING")


def _children(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of a node that run: no types, no messages of errors, no assertions."""
    for name, value in ast.iter_fields(node):
        if name not in ("annotation", "returns", "type_comment"):
            parts = (v for v in (value if isinstance(value, list) else [value]) if isinstance(v, ast.AST))
            yield from (v for v in parts if not _left_out(v))


def mistakes_in(source: bytes) -> Iterator[Mistake]:
    """All that may be made in a text, one at a time."""
    text, waiting = _Text(source), [ast.parse(source)]
    unordered, unknown = list[ast.AST](), list[ast.AST]()
    while waiting:
        node = waiting.pop()
        unordered += _unordered(node)
        unknown += _unknown_sizes(node)
        if node in unknown:
            continue
        for kind in KINDS:
            yield from (m for m in kind(text, node) if m.kind != "order" or node not in unordered)
        waiting.extend(_children(node))
