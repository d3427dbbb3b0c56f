"""The small language in which ops say what stands in which argument slot of a graph file.

========================  ==========================================================================
``"k_h"``                 the attribute ``k_h``
``"k_h?"``                left out when the attribute is None (reading: the class default stays)
``"*axes"``               all values of a sequence attribute; several of them share what is left equally
``"#axes"``               the number of values of ``axes``; an ``"*axes"`` after it has so many
``"~axes"``               only read, when no slot before has told the attribute (files of other writers)
``"=3"``                  a constant: written so, ignored when read
``"name:bool"``           read as bool (written as 0 and 1); also ``:int``, ``:float``
``"name:dtype"``          a data type (its code, or its name where texts are stored)
``"name:A|B|C"``          one of these texts, stored as its position (or as the text where texts are stored)
``"name:99=c|102=f"``     stored = attribute pairs
========================  ==========================================================================
"""
from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import Any

from ..base.datatype import DataType
from ..errors import FileFormatError, GraphError, RegistrationError, did_you_mean

_SLOT = re.compile(r"(?P<role>[*#~]?)(?P<name>[A-Za-z_]\w*)(?P<optional>\??)(?::(?P<rule>.+))?")
_RULES = ("bool", "int", "float", "dtype")
_WORDS: dict[str, Any] = {"true": True, "false": False, "True": True, "False": False, "None": None}


@dataclass(frozen=True)
class Slot:
    """One parsed slot; `role` is ``"*"``, ``"#"``, ``"~"``, ``"="`` or empty."""

    name: str
    role: str = ""
    optional: bool = False
    rule: str = ""
    pairs: tuple[tuple[Any, Any], ...] = ()
    constant: Any = None

    def store(self, value: Any, text: bool) -> Any:
        """Turn an attribute value into what the file holds."""
        if self.pairs:
            label = value.name if isinstance(value, Enum) else value
            for stored, attribute in self.pairs:
                if attribute == label:
                    return _ordinal(self.pairs, stored, text)
            known = [str(a) for _, a in self.pairs]
            raise GraphError(f"attribute {self.name!r}: {value!r} cannot be saved; expected one of {known}"
                             f"{did_you_mean(str(label), known)}")
        if self.rule == "dtype":
            kind = DataType.of(value)
            return kind.name if text else kind.code
        if text:
            return value.name if isinstance(value, Enum) else value
        return int(value) if isinstance(value, bool) else value

    def load(self, stored: Any, text: bool) -> Any:
        """Turn what the file holds into an attribute value."""
        if self.pairs:
            for key, attribute in self.pairs:
                if _ordinal(self.pairs, key, text) == stored:
                    return attribute
            known = [_ordinal(self.pairs, key, text) for key, _ in self.pairs]
            raise FileFormatError(f"argument {self.name!r} is {stored!r}; expected one of {known}")
        convert = _data_type if self.rule == "dtype" else _CONVERT.get(self.rule)
        try:
            return convert(stored) if convert else stored
        except (TypeError, ValueError, OverflowError) as error:
            raise FileFormatError(f"argument {self.name!r} is {stored!r}; expected {self.rule} ({error})") from None

    def accepts(self, stored: Any) -> bool:
        """Tell whether an optional slot can hold this number (only pairs are choosy)."""
        return not self.pairs or any(_ordinal(self.pairs, key, False) == stored for key, _ in self.pairs)


def _data_type(stored: Any) -> DataType:
    if isinstance(stored, str):
        if stored not in DataType.__members__:
            raise ValueError("no such data type")
        return DataType[stored]
    return DataType.from_code(int(stored))


_CONVERT: dict[str, Callable[[Any], Any]] = {"bool": bool, "int": int, "float": float}


def _ordinal(pairs: tuple[tuple[Any, Any], ...], stored: Any, text: bool) -> Any:
    """Texts without a number of their own are stored as their position, except where the file holds texts."""
    if not isinstance(stored, str) or text:
        return stored
    return next(i for i, (key, _) in enumerate(pairs) if key == stored)


@cache
def parse_slot(text: str) -> Slot:
    """Parse one slot; see the table at the top of the module."""
    if text.startswith("="):
        return Slot("", "=", constant=_literal(text[1:]))
    match = _SLOT.fullmatch(text)
    if match is None:
        raise RegistrationError(f"argument slot {text!r}: expected name, name?, *name, #name, ~name, =value")
    rule = match["rule"] or ""
    pairs: tuple[tuple[Any, Any], ...] = ()
    if rule and rule not in _RULES:
        if "|" not in rule:
            raise RegistrationError(f"argument slot {text!r}: unknown rule {rule!r}; expected one of {_RULES} or A|B|C")
        pairs = tuple(_pair(item) for item in rule.split("|"))
    return Slot(match["name"], match["role"], bool(match["optional"]) or match["role"] == "~", rule, pairs)


def _pair(item: str) -> tuple[Any, Any]:
    stored, given, attribute = item.partition("=")
    return (_literal(stored), _literal(attribute)) if given else (item, item)


def _literal(text: str) -> Any:
    if text in _WORDS:
        return _WORDS[text]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def store_slots(slots: Iterable[str], attributes: Mapping[str, Any], text: bool = False) -> list[Any]:
    """Return the values of one argument vector."""
    values: list[Any] = []
    absent = ""
    for slot in map(parse_slot, slots):
        if slot.role == "=":
            values.append(slot.constant)
        if slot.role in "=~" and slot.role:
            continue
        value = attribute(attributes, slot.name)
        if slot.role == "*":
            values.extend(slot.store(item, text) for item in _items(value))
        elif slot.role == "#":
            values.append(len(_items(value)))
        elif value is not None:
            if absent:
                raise GraphError(f"attribute {absent!r} needs a value, because {slot.name!r}, stored after it, has one")
            values.append(slot.store(value, text))
        elif slot.optional:
            absent = absent if slot.pairs else slot.name
        else:
            raise GraphError(f"attribute {slot.name!r} has no value, but is needed to save the graph")
    return values


def load_slots(
    slots: Sequence[str], values: Sequence[Any], text: bool = False, found: dict[str, Any] | None = None
) -> dict[str, Any]:
    """Add the attributes of one argument vector to `found`; those beyond the end of a short vector are left out."""
    found = {} if found is None else found
    counts: dict[str, int] = {}
    parsed = [parse_slot(text_) for text_ in slots]
    position = 0
    for index, slot in enumerate(parsed):
        rest = parsed[index + 1 :]
        spare = len(values) - position - sum(s.role != "*" and not s.optional for s in rest)
        if slot.role == "*":
            stars = 1 + sum(s.role == "*" and f"#{s.name}" not in slots for s in rest)
            take = counts.get(slot.name, max(spare, 0) // stars)
            items = values[position : position + take]
            found[slot.name] = tuple(slot.load(item, text) for item in items)
            position += len(items)
            continue
        if position >= len(values) or (slot.optional and (spare < 1 or not slot.accepts(values[position]))):
            continue
        if slot.role == "#":
            counts[slot.name] = max(int(values[position]), 0)
        elif slot.role != "=" and not (slot.role == "~" and slot.name in found):
            found[slot.name] = slot.load(values[position], text)
        position += 1
    return found


def attribute(attributes: Mapping[str, Any], name: str) -> Any:
    """Return an attribute, or fail naming the nearest ones."""
    try:
        return attributes[name]
    except KeyError:
        near = did_you_mean(name, attributes)
        raise GraphError(f"the op has no attribute {name!r}{near}; it has {sorted(attributes)}") from None


def _items(value: Any) -> Sequence[Any]:
    if value is None:
        return ()
    return value if isinstance(value, Sequence) and not isinstance(value, str) else (value,)
