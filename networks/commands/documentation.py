"""Writes ``docs/formats.md``: layers and ops by format and direction, and what gets lost.

    python -m dl4py.networks.commands.documentation            # after adding a layer, op, converter, exporter or format
"""
from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

from ... import layers  # noqa: F401 - registers them
from ...layers.base.base import Layer
from ...layers.vertices import GraphVertex
from ...samediff import ops  # noqa: F401
from ...samediff.base.home import is_ours
from ...samediff.configuration.classes import registered
from ...samediff.ir.op import METHODS
from ...samediff.onnx import exporting, importing  # noqa: F401 - fill the tables
from ...samediff.onnx.not_sayable import REFUSED
from ...samediff.onnx.registry import known_converters
from ...samediff.pytorch import importing as of_torch  # noqa: F401
from ...samediff.tensorflow import importing as of_tensorflow  # noqa: F401
from ...samediff.tools.onnx_docs import ELSEWHERE
from ...samediff.tools.op_docs import file_support
from ..keras import table as of_keras  # noqa: F401
from ..keras.registry import TABLE
from ..pytorch.weights import has_form
from .formats import FORMATS

MARK = "<!-- below: written by python -m dl4py.networks.commands.documentation -->"
PATH = Path(__file__).resolve().parents[2] / "docs" / "formats.md"


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> Iterator[str]:
    names = list(head)
    yield from (f"| {' | '.join(cells)} |" for cells in (names, ["---"] * len(names), *rows))
    yield ""


def kinds() -> Iterator[tuple[str, ...]]:
    """The kinds of files."""
    for form in FORMATS.values():
        yield (f"{form.name} ({', '.join(f'`{s}`' for s in form.suffixes)})", form.reads or "no", form.lossy_in or "nothing",
               form.writes or "no", (form.lossy_out or "nothing") if form.writes else "")


def layer_rows() -> Iterator[tuple[str, ...]]:
    """Layers and vertices; those with equal cells in one row."""
    from_keras: dict[str, dict[str, None]] = defaultdict(dict)
    for entry in TABLE.values():
        for name in () if entry.own else re.findall(r"`(\w+)`", entry.becomes):
            from_keras[name][entry.name + (f" ({entry.lossy})" if entry.lossy else "")] = None
    found: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for java, cls in registered():
        if issubclass(cls, (Layer, GraphVertex)) and is_ours(cls):
            own = not java.startswith(("org.deeplearning4j", "org.nd4j"))
            found["as a class of dl4py" if own else "both ways", ", ".join(sorted(from_keras[cls.__name__])) or "no",
                  "both ways" if has_form(cls) else "by its own names"].append(f"`{cls.__name__}`")
    for cells, names in sorted(found.items(), key=lambda row: (len(row[1]), row[1])):
        yield (", ".join(sorted(dict.fromkeys(names))), *cells)


def op_rows() -> Iterator[tuple[str, ...]]:
    """Ops with equal cells in one row."""
    found: dict[tuple[str, str], set[str]] = defaultdict(set)
    for classes in METHODS.values():
        for cls in classes:
            if is_ours(cls):
                found[file_support(cls), f"no: {REFUSED[cls.id]}" if cls.id in REFUSED else "yes"].add(cls.id)
    for (held, written), ids in sorted(found.items(), key=lambda row: (row[0][1], row[0][0])):
        yield ", ".join(f"`{i}`" for i in sorted(ids)), "as DL4J does" if held == "DL4J" else "by names of dl4py", written


def operators() -> Iterator[tuple[str, ...]]:
    """What graphs of others may hold."""
    known = [c for c in known_converters() if is_ours(c.convert)]
    for title, names in (("[ONNX](onnx.md)", {f"{c.domain}.{c.operator}".lstrip(".") for c in known if c.domain not in ELSEWHERE}),
                         ("[TensorFlow](tensorflow.md)", {c.operator for c in known if c.domain == "tensorflow"}),
                         ("[PyTorch](pytorch.md)", {c.operator for c in known if c.domain == "torch"})):
        yield title, str(len(names)), ", ".join(sorted(names))


def generate(text: str) -> str:
    """The document with the tables of now."""
    lines = [text.partition(MARK)[0] + MARK, "", "## Kinds of files", "",
             *_table(("kind", "read", "lost in reading", "written", "lost in writing"), kinds()),
             "## Layers and vertices", "",
             "All of them are written as ONNX: the forward pass, outside of training.", "",
             *_table(("layer, vertex", "zips of DL4J", "read from Keras' (and lost or refused)", "weights of PyTorch"), layer_rows()),
             "## Ops", "", *_table(("op", "graphs of SameDiff", "written as ONNX"), op_rows()),
             "## Operators that are read", "", *_table(("from", "", "operators"), operators())]
    return "\n".join(lines)


def main() -> None:
    """Write it."""
    PATH.write_text(generate(PATH.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
