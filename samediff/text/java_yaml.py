"""YAML as DL4J writes and reads it: class names as tags, ``layer: !<org.acme.Layer>``, instead of ``@class`` keys."""
from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any

import yaml

from ..errors import LimitError
from .java_text import java_number

_TAG = "@class"
_PLAIN_KEY = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.$-]*")
_LONG_KEY = 128             # from here on a key has a line of its own
_RESERVED = {"true", "false", "null", "yes", "no", "on", "off", "y", "n", "nan"}
_FLOAT = re.compile(r"[-+]?(\d[\d_]*\.[\d_]*|\.\d[\d_]*|\d[\d_]*(?=[eE]))([eE][-+]?\d+)?")


def write_yaml(document: Any) -> str:
    """Return the YAML text of a document, as Jackson writes it.

    Examples
    --------
    >>> print(write_yaml({"layer": {"@class": "acme.Wide", "rates": [0.1, 1e-8], "next": None, "names": []}}), end="")
    ---
    layer: !<acme.Wide>
      rates:
      - 0.1
      - 1.0E-8
      next: null
      names: []
    """
    lines = _lines(document)
    return "---" + lines[0] + "\n" + "".join(f"{line}\n" for line in lines[1:])


def _named_by(value: Mapping[Any, Any]) -> str | None:
    """The key that holds the class: ``@class``, or ``type`` in the JSON of distributions, where it stands first."""
    if _TAG in value:
        return _TAG
    return "type" if next(iter(value), None) == "type" and "." in str(value["type"]) else None


def _lines(value: Any) -> list[str]:
    """What follows a key or dash on its line, with a space in front, and the lines below at indentation 0."""
    if isinstance(value, Mapping):
        named = _named_by(value)
        tag = f" !<{value[named]}>" if named else ""
        members = {k: v for k, v in value.items() if k != named}
        found = [tag] if members else [f"{tag} {{}}"]
        for key, member in members.items():
            if len(str(key)) >= _LONG_KEY:
                found += [f"? {_key(str(key))}", *_item(member, ":")]
                continue
            first, *rest = _lines(member)
            inner = "" if isinstance(member, (list, tuple)) else "  "
            found += [f"{_key(str(key))}:{first}", *(inner + line for line in rest)]
        return found
    if isinstance(value, (list, tuple)):
        found = [""] if value else [" []"]
        for item in value:
            found += _item(item)
        return found
    return [f" {_scalar(value)}"]


def _item(item: Any, sign: str = "-") -> list[str]:
    first, *rest = _lines(item)
    if not first and rest:              # an untagged object or a list begins on the line of the sign
        return [f"{sign} {rest[0]}", *(f"  {line}" for line in rest[1:])]
    return [f"{sign}{first}", *(f"  {line}" for line in rest)]


def _key(key: str) -> str:
    return key if _PLAIN_KEY.fullmatch(key) and key.lower() not in _RESERVED else _quoted(key)


def _scalar(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return java_number(value)
    return str(value) if isinstance(value, int) else "NaN" if value == "NaN" else _quoted(str(value))


def _quoted(text: str) -> str:
    return '"' + "".join(_escaped(c) for c in text) + '"'


def _escaped(character: str) -> str:
    known = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}
    return known.get(character, character if character.isprintable() else f"\\u{ord(character):04x}" if ord(character) < 65536
                     else f"\\U{ord(character):08x}")


#: Reads the text; libyaml, where PyYAML has it, reads it ten times as fast.
_PARSER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_TYPES = {name: "tag:yaml.org,2002:" + name for name in ("null", "bool", "int", "float", "str", "seq", "map")}
_NULL = ("", "~", "null", "Null", "NULL")
_BOOL = yaml.SafeLoader.bool_values
_INT = re.compile(r"[-+]?(0b[0-1_]+|0x[0-9a-fA-F_]+|0[0-7_]+|0|[1-9][0-9_]*)")
_SPECIAL = {".inf": "inf", "+.inf": "inf", "-.inf": "-inf", ".nan": "nan"}
_HALVES = re.compile(r"(?<!\\)((?:\\\\)*)\\u([dD][89a-fA-F][0-9a-fA-F]{2})")
_MOST_DIGITS = 4300         # as Python has it for decimal numbers


def read_yaml(text: str, most_nested: int = 100, most_values: int = 500_000) -> Any:
    """Return the document of a YAML text, of DL4J or with ``@class`` keys; nothing that it names is executed.

    Class names are tags, Java's numbers (``1.0E7``) are numbers, references are not read, and names stay text even where they look
    like numbers. The text is read event by event, so that nothing is built of what exceeds the limits.

    Raises
    ------
    yaml.YAMLError, ValueError
        No such text.
    LimitError
        Deeper or with more values than allowed.
    """
    reader = _YamlReader(most_nested, most_values)
    halves = _Halves(text)
    for event in yaml.parse(halves.hidden, Loader=_PARSER):
        halves.restore(event)
        reader.take(event)
    return reader.document


class _Halves:
    """Escaped halves of characters, which Java's texts may hold and libyaml refuses: they pass the parser behind a mark.

    Attributes
    ----------
    hidden : the text for the parser
    """

    def __init__(self, text: str) -> None:
        self._mark = ""
        self.hidden = text
        if _HALVES.search(text):
            self._mark = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]     # which the text cannot hold
            self.hidden = _HALVES.sub(rf"\g<1>{self._mark}\g<2>", text)

    def restore(self, event: yaml.Event) -> None:
        """Put the halves into a text; two that belong together become one character."""
        if not self._mark or not isinstance(event, yaml.ScalarEvent) or self._mark not in event.value:
            return
        if event.style == '"':
            text = re.sub(f"{self._mark}(....)", lambda found: chr(int(found[1], 16)), event.value)
            event.value = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
        else:                           # nothing is escaped here
            event.value = event.value.replace(self._mark, "\\u")


class _YamlReader:
    """Makes a document of events; ``open`` are the objects and lists that have begun and the key that waits for its value."""

    def __init__(self, most_nested: int, most_values: int) -> None:
        self.document: Any = None
        self._open: list[tuple[Any, list[Any]]] = []
        self._most_nested, self._left = most_nested, most_values
        self._documents = 0

    def take(self, event: yaml.Event) -> None:
        """One more event."""
        if isinstance(event, yaml.ScalarEvent):
            self._put(event.value if self._is_key() else _scalar_of(event), event)
        elif isinstance(event, yaml.MappingStartEvent):
            self._begin({_TAG: event.tag} if _names_class(event) else {}, event)
        elif isinstance(event, yaml.SequenceStartEvent):
            if event.tag not in (None, "!", _TYPES["seq"]):
                raise _error(f"the tag {event.tag!r} is not a class name before an object", event)
            self._begin([], event)
        elif isinstance(event, (yaml.MappingEndEvent, yaml.SequenceEndEvent)):
            self._open.pop()
        elif isinstance(event, yaml.AliasEvent):
            raise _error("references (*name) are not read", event)
        elif isinstance(event, yaml.DocumentStartEvent):
            self._documents += 1
            if self._documents > 1:
                raise _error("expected a single document", event)

    def _is_key(self) -> bool:
        return bool(self._open) and isinstance(self._open[-1][0], dict) and not self._open[-1][1]

    def _begin(self, made: Any, event: yaml.Event) -> None:
        if self._is_key():
            raise _error("expected a text as name of a value", event)
        self._put(made, event)
        self._open.append((made, []))
        if len(self._open) > self._most_nested:
            raise LimitError(f"the YAML text is nested too deeply: more than {self._most_nested} levels")

    def _put(self, value: Any, event: yaml.Event) -> None:
        self._left -= 1
        if self._left < 0:
            raise LimitError("the YAML text has more values than a configuration may have")
        if not self._open:
            self.document = value
            return
        made, key = self._open[-1]
        if isinstance(made, list):
            made.append(value)
        elif key:
            made[key.pop()] = value
        else:
            key.append(value)


def _names_class(event: yaml.MappingStartEvent) -> bool:
    if event.tag in (None, "!", _TYPES["map"]):
        return False
    if event.tag.startswith(("tag:", "!")):
        raise _error(f"the tag {event.tag!r} is not a class name before an object", event)
    return True


def _scalar_of(event: yaml.ScalarEvent) -> Any:
    text, tag = event.value, event.tag
    if tag is None:
        tag = _type_of(text) if event.implicit[0] else _TYPES["str"]
    if tag in ("!", _TYPES["str"]):
        return text
    try:
        if tag == _TYPES["null"]:
            return None
        if tag == _TYPES["bool"]:
            return _BOOL[text.lower()]
        if tag == _TYPES["int"]:
            return _int(text)
        if tag == _TYPES["float"]:
            return float(_SPECIAL.get(text.lower(), text.replace("_", "")))
    except (ValueError, KeyError) as problem:
        raise _error(f"{text!r:.60} is no {tag.rpartition(':')[2]} ({problem})", event) from None
    raise _error(f"the tag {tag!r} is not a class name before an object", event)


def _type_of(text: str) -> str:
    """The type of a text without quotes."""
    if text in _NULL:
        return _TYPES["null"]
    if text.lower() in _BOOL and text in (text.lower(), text.upper(), text.capitalize()):
        return _TYPES["bool"]
    if text[0] in "+-.0123456789":
        if _INT.fullmatch(text):
            return _TYPES["int"]
        if _FLOAT.fullmatch(text) or text.lower() in _SPECIAL:
            return _TYPES["float"]
    return _TYPES["str"]


def _int(text: str) -> int:
    digits = text.replace("_", "")
    if len(digits) > _MOST_DIGITS:
        raise ValueError(f"{len(digits)} digits, at most {_MOST_DIGITS} are read")
    plain = digits.lstrip("+-")
    base = 2 if plain[:2] == "0b" else 16 if plain[:2] == "0x" else 8 if plain[0] == "0" and len(plain) > 1 else 10
    return int(digits, base)


def _error(text: str, event: yaml.Event) -> yaml.MarkedYAMLError:
    mark: Any = event.start_mark        # of either parser
    return yaml.MarkedYAMLError(None, None, text, mark)
