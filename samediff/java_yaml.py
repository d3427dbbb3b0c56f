"""YAML as DL4J writes and reads it: class names as tags, ``layer: !<org.acme.Layer>``, instead of ``@class`` keys."""
from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import yaml

from .java_text import java_number

_TAG = "@class"
_PLAIN_KEY = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.$-]*")
_RESERVED = {"true", "false", "null", "yes", "no", "on", "off", "y", "n", "nan"}
_FLOAT = re.compile(r"[-+]?(\d+\.\d*|\.\d+|\d+(?=[eE]))([eE][-+]?\d+)?$")


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


def _item(item: Any) -> list[str]:
    first, *rest = _lines(item)
    if not first and rest:              # an untagged object or a list begins on the line of the dash
        return [f"- {rest[0]}", *(f"  {line}" for line in rest[1:])]
    return [f"-{first}", *(f"  {line}" for line in rest)]


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


class _Loader(yaml.SafeLoader):
    """The safe loader, with class names as tags and Java's numbers (``1.0E7``), but no references."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            raise yaml.composer.ComposerError(None, None, "references (*name) are not read", None)
        return super().compose_node(parent, index)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode):
                key.tag = "tag:yaml.org,2002:str"       # names stay text even where they look like numbers
        return super().construct_mapping(node, deep)


def _tagged(loader: _Loader, name: str, node: yaml.Node) -> Any:
    if not isinstance(node, yaml.MappingNode) or name.startswith(("tag:", "!")):
        raise yaml.constructor.ConstructorError(None, None, f"the tag {name!r} is not a class name before an object", node.start_mark)
    return {_TAG: name, **loader.construct_mapping(node, deep=True)}


_Loader.yaml_implicit_resolvers = {k: list(v) for k, v in yaml.SafeLoader.yaml_implicit_resolvers.items()}
_Loader.add_implicit_resolver("tag:yaml.org,2002:float", _FLOAT, list("-+.0123456789"))
_Loader.add_multi_constructor("", _tagged)


def read_yaml(text: str) -> Any:
    """Return the document of a YAML text, of DL4J or with ``@class`` keys; nothing that it names is executed."""
    return yaml.load(text, _Loader)
