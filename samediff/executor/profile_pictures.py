"""Pictures of profiles: a flame graph as a page, and the roofline of the machine."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from typing import Any

from ..drawing.figures import Draw
from ..drawing.pages import page
from ..text.html import html_table

_COLOURS = ("#f2b872", "#f0a35e", "#e8925a", "#f6cf8d", "#eab676")
_STYLE = """<style>
.flame { font-size: 12px; } .flame .row { display: flex; } .flame .part { min-width: 1px; overflow: hidden; }
.flame .name { color: #1b1f24; border: 1px solid var(--back); padding: 1px 4px; }
.flame .name { white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
</style>"""


def flame_page(title: str, steps: Sequence[Any], keys: Sequence[Callable[[Any], str]]) -> str:
    """A page on which widths are shares of the time: below each other the groups by each key, the outermost first.

    Parameters
    ----------
    title : of the page
    steps : with ``seconds``
    keys : of the groups
    """
    total = sum(s.seconds for s in steps) or 1.0
    rows = [[*(key(s) for key in keys), 1e6 * s.seconds, f"{s.seconds / total:.1%}"] for s in sorted(steps, key=lambda s: -s.seconds)]
    table = html_table("Steps", ["phase", "layer", "op", "step", "µs", "share"][-len(keys) - 2:], rows)
    return page(title, f'{_STYLE}<div class="flame" role="img" aria-label="flame graph, the table below has its numbers">'
                       f"{_part('all', steps, keys, total, total, 0)}</div>{table}")


def _part(name: str, steps: Sequence[Any], keys: Sequence[Callable[[Any], str]], whole: float, total: float, depth: int) -> str:
    seconds = sum(s.seconds for s in steps)
    groups: dict[str, list[Any]] = {}
    for s in steps if keys else ():
        groups.setdefault(keys[0](s) or "(none)", []).append(s)
    inner = "".join(_part(n, g, keys[1:], seconds or 1.0, total, depth + 1) for n, g in groups.items() if sum(s.seconds for s in g))
    told = escape(f"{name}: {1e6 * seconds:,.1f} µs, {seconds / total:.1%}", quote=True)
    return (f'<div class="part" style="width:{100 * seconds / whole:.3f}%"><div class="name" title="{told}" '
            f'style="background:{_COLOURS[depth % len(_COLOURS)]}">{escape(name)}</div><div class="row">{inner}</div></div>')


def roofline(steps: Sequence[Any], flops: float, bytes_per_second: float) -> Draw:
    """Operations in a second against operations for each byte, below the most that the machine can do."""
    known = [s for s in steps if s.flops and s.bytes and s.seconds]

    def draw(axes: Any) -> None:
        points = [(s.flops / s.bytes, s.flops / s.seconds / 1e9) for s in known]
        knee = flops / bytes_per_second
        low, high = min([knee / 100, *[x for x, _ in points]]), max([knee * 100, *[x for x, _ in points]])
        axes.plot([low, knee, high], [low * bytes_per_second / 1e9, flops / 1e9, flops / 1e9], color="black", label="machine")
        for phase in dict.fromkeys(s.phase for s in known):
            mine = [p for s, p in zip(known, points) if s.phase == phase]
            axes.scatter([x for x, _ in mine], [y for _, y in mine], label=phase, alpha=0.7)
        for s, (x, y) in sorted(zip(known, points), key=lambda pair: -pair[0].seconds)[:8]:
            axes.annotate(f"{s.layer} {s.op}"[:24], (x, y), fontsize="x-small")
        axes.set(title="roofline", xlabel="operations / byte", ylabel="GFLOP/s", xscale="log", yscale="log")
        axes.legend(fontsize="small")
    return draw
