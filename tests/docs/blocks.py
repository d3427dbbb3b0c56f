"""Python blocks of a Markdown document."""
from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
_PART = re.compile(r"^(?P<marks>##?#?) (?P<heading>[^\n]+)$|^```(?P<language>\w*)\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    """Code under a heading, with the line of its first line in the document."""

    heading: str
    code: str
    line: int


def blocks(document: str, language: str = "python") -> list[Block]:
    """The blocks of a document in that language, in order."""
    text, heading, found = (ROOT / document).read_text(encoding="utf-8"), "", []
    for part in _PART.finditer(text):
        if part["heading"]:
            heading = part["heading"]
        elif part["language"] == language:
            found.append(Block(heading, part["code"], text.count("\n", 0, part.start("code")) + 1))
    return found


def run(block: Block, names: dict, document: str) -> dict:
    """Run a block with these names; tracebacks show the lines of the document."""
    exec(compile("\n" * (block.line - 1) + block.code, str(ROOT / document), "exec"), names)
    return names
