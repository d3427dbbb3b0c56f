"""Java's regular expressions, in which configurations and files say theirs, by Python's."""
from __future__ import annotations

import re
from functools import lru_cache

from ..errors import ConfigurationError

#: What Java's names of kinds of characters stand for, inside of brackets.
_KINDS = {"Lower": "a-z", "Upper": "A-Z", "ASCII": r"\x00-\x7f", "Alpha": "a-zA-Z", "Digit": "0-9", "Alnum": "a-zA-Z0-9",
          "Punct": r"!-/:-@\[-`{-~", "Graph": "!-~", "Print": " -~", "Blank": r" \t", "Cntrl": r"\x00-\x1f\x7f", "XDigit": "0-9a-fA-F",
          "Space": r" \t\n\x0b\f\r"}
#: Those of all languages, and all others.
_LETTERS_AND_DIGITS = {**dict.fromkeys(("L", "IsL", "IsAlphabetic"), (r"(?u:[^\W\d_])", r"(?u:[\W\d_])")),
                       **dict.fromkeys(("N", "Nd", "IsDigit"), (r"(?u:\d)", r"(?u:\D)"))}
#: Escapes that Python writes in another way.
_ESCAPES = {"Z": r"(?=\n?\Z)", "z": r"\Z", "h": r"[ \t\xa0]", "R": r"(?:\r\n|[\n\x0b\f\r\x85\u2028\u2029])", "e": r"\x1b"}
_TOKEN = re.compile(r"""\\Q(?P<quoted>.*?)(?:\\E|\Z) | \\(?P<not>[pP])\{(?P<kind>\w+)\} | \\k<(?P<back>\w+)> | \\(?P<escape>.)
                        | \(\?<(?P<named>[a-zA-Z]\w*)> | (?P<other>.)""", re.VERBOSE | re.DOTALL)


@lru_cache(maxsize=256)
def java_pattern(regex: str) -> re.Pattern[str]:
    r"""The pattern of a regular expression of Java's: classes such as ``\s``, ``\w`` and ``\p{Punct}`` are those of ASCII.

    Raises
    ------
    ConfigurationError
        It is no regular expression, or one with sets inside of sets.

    Examples
    --------
    >>> java_pattern(r"\p{Punct}+").sub("", "it's, well: here!"), bool(java_pattern(r"(?<a>.)\k<a>").fullmatch("xx"))
    ('its well here', True)
    """
    written, inside = [], False
    for token in _TOKEN.finditer(regex):
        other, kind, escape = token["other"], token["kind"], token["escape"]
        if token["quoted"] is not None:
            written.append(re.escape(token["quoted"]))
        elif kind is not None:
            written.append(_class_of(regex, kind, token["not"] == "P", inside))
        elif escape is not None:
            written.append(_ESCAPES[escape] if escape in _ESCAPES and not inside else "\\" + escape)
        elif other is not None:
            if inside and (other == "[" or regex.startswith("&&", token.start())):
                raise ConfigurationError(f"{regex!r} has a set of characters inside of a set, which Python lacks: write one set")
            written.append(other)
            inside = other == "[" or (inside and (other != "]" or written[-2:-1] == ["["]))
        else:
            written.append(f"(?P={token['back']})" if token["back"] else f"(?P<{token['named']}>")
    try:
        return re.compile("".join(written), re.ASCII)
    except re.error as problem:
        raise ConfigurationError(f"{regex!r} is no regular expression: {problem}") from None


def _class_of(regex: str, kind: str, others: bool, inside: bool) -> str:
    if kind in _LETTERS_AND_DIGITS and not inside:
        return _LETTERS_AND_DIGITS[kind][others]
    if kind not in _KINDS or (inside and others):
        raise ConfigurationError(f"{regex!r}: characters {'other than ' * others}{kind!r} are not known here"
                                 f"{' inside of brackets' * inside}; one of {', '.join(_KINDS)}")
    return _KINDS[kind] if inside else f"[{'^' * others}{_KINDS[kind]}]"


def replace_all(text: str, regex: str, new: str) -> str:
    r"""The text with all that matches replaced: ``$1`` and ``${name}`` in the new part are groups, ``\`` takes the next character as it is.

    Raises
    ------
    ConfigurationError
        A ``$`` with neither number nor name, a group that is not there, or a ``\`` at the end.

    Examples
    --------
    >>> replace_all("1-2", r"(\d)-(\d)", "$2+$1")
    '2+1'
    """
    def of(found: re.Match[str]) -> str:
        return _REFERENCE.sub(lambda one: _referred(one, found, new), new)
    return java_pattern(regex).sub(of, text)


_REFERENCE = re.compile(r"\\(.?)|\$(?:\{(\w+)\}|(\d+))?", re.DOTALL)


def _referred(one: re.Match[str], found: re.Match[str], new: str) -> str:
    escaped, name, digits = one.groups()
    if escaped:
        return escaped
    if digits:      # as many digits as there are groups for
        number = digits[:1]
        while len(number) < len(digits) and int(digits[:len(number) + 1]) <= found.re.groups:
            number = digits[:len(number) + 1]
        if int(number) <= found.re.groups:
            return (found[int(number)] or "") + digits[len(number):]
    if name in found.re.groupindex:
        return found[name] or ""
    raise ConfigurationError(f"{new!r} in place of what {found.re.pattern!r} matches: {one[0]!r} is no group; \\$ and \\\\ stand for "
                             "the characters themselves")


def split(text: str, regex: str) -> list[str]:
    """The parts of a text between what matches, without empty ones at the end (Java's ``split``).

    Examples
    --------
    >>> split("1_cat__", "_"), split("a1b", "([0-9])")
    (['1', 'cat'], ['a', 'b'])
    """
    parts, at = [], 0
    for found in java_pattern(regex).finditer(text):
        if found.end():         # a match of nothing in front of the text makes no part
            parts.append(text[at:found.start()])
            at = found.end()
    parts.append(text[at:])
    if len(parts) == 1:
        return parts
    while parts and not parts[-1]:
        parts.pop()
    return parts
