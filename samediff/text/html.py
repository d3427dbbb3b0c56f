"""Tables and texts as notebooks show them."""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any


def html_table(caption: str, head: Sequence[str], rows: Iterable[Sequence[Any]], foot: str = "") -> str:
    """A table; numbers stand at the right.

    Examples
    --------
    >>> html_table("A <b>", ["n"], [["a"]], "1")[:60]
    '<table><caption>A &lt;b&gt;</caption><thead><tr><th>n</th></'
    """
    top = "".join(f"<th>{escape(name)}</th>" for name in head)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    below = f'<tfoot><tr><td colspan="{len(head)}">{escape(foot)}</td></tr></tfoot>' if foot else ""
    return f"<table><caption>{escape(caption)}</caption><thead><tr>{top}</tr></thead><tbody>{body}</tbody>{below}</table>"


def html_text(caption: str, text: str) -> str:
    """A text whose columns stand below each other, which can be folded."""
    return f"<details open><summary>{escape(caption)}</summary><pre>{escape(text.strip())}</pre></details>"


def _cell(value: Any) -> str:
    if value is None:
        return "<td></td>"
    if isinstance(value, float):
        return f'<td style="text-align:right">{value:.6g}</td>'
    if isinstance(value, int):
        return f'<td style="text-align:right">{value:,}</td>'
    return f'<td style="text-align:left">{escape(str(value))}</td>'
