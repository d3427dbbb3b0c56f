"""Python programs in Java's spelling, derived from those in snake_case."""
from __future__ import annotations

import io
import tokenize

from dl4py.samediff.base.javanames import to_camel

ELSEWHERE = {"np"}     # objects whose attributes are not dl4py's


def camel_case(code: str) -> str:
    """The program with methods, fields and keyword arguments in Java's spelling."""
    lines = code.splitlines(keepends=True)
    tokens = list(tokenize.generate_tokens(io.StringIO(code).readline))
    for owner, before, token, after in reversed(list(zip(tokens, tokens[1:], tokens[2:], tokens[3:]))):
        name = token.string
        if token.type != tokenize.NAME or "_" not in name.strip("_") or name.startswith("_") or name.isupper():
            continue
        declares = token.line.lstrip().startswith("def ")
        member = (before.string == "." and owner.string not in ELSEWHERE) or before.string == "def"
        field = after.string == ":" and token.line.strip().startswith(name)
        option = after.string == "=" and before.string in ("(", ",") and not declares
        if member or field or option:
            (row, start), (_, end) = token.start, token.end
            lines[row - 1] = lines[row - 1][:start] + to_camel(name) + lines[row - 1][end:]
    return "".join(lines)
