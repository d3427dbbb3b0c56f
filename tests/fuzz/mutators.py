"""Ways to damage files, by what the file is made of. Each takes a generator of random numbers and the bytes."""
from __future__ import annotations

import copy
import io
import json
import random
import zipfile
from collections.abc import Callable

NUMBERS = (0, 1, 2, 7, 8, 127, 128, 255, 256, 65535, 65536, 2**24, 2**31 - 1, 2**31, 2**32 - 1, 2**40, 2**62, 2**63 - 1)
VALUES = (None, True, False, 0, -1, 1, 0.5, 1e308, 2**31, 2**63, -2**63, 10**30, "", "NaN", "Infinity", "x", "\x00", "é" * 40,
          "org.nd4j.linalg.learning.config.Adam", "java.lang.Runtime", "RELU", [], {}, [1, 2], [[]], {"@class": "java.lang.Object"})
Mutator = Callable[[random.Random, bytes], bytes]


def bit(rng: random.Random, data: bytes) -> bytes:
    """One bit turned round."""
    at = rng.randrange(len(data)) if data else 0
    return data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1:] if data else data


def some_bytes(rng: random.Random, data: bytes) -> bytes:
    """A few bytes replaced."""
    made = bytearray(data)
    for _ in range(rng.randint(1, 8)):
        if made:
            made[rng.randrange(len(made))] = rng.choice((0, 1, 0x7f, 0x80, 0xff, rng.randrange(256)))
    return bytes(made)


def number(rng: random.Random, data: bytes) -> bytes:
    """A word replaced by a telling number, in either byte order."""
    size = rng.choice((2, 4, 4, 8))
    if len(data) < size:
        return data
    at = rng.randrange(len(data) - size + 1)
    at -= at % size if rng.random() < 0.7 else 0
    value = rng.choice(NUMBERS) * rng.choice((1, 1, -1)) % 2 ** (8 * size)
    return data[:at] + value.to_bytes(size, rng.choice(("big", "little"))) + data[at + size:]


def cut(rng: random.Random, data: bytes) -> bytes:
    """The beginning only."""
    return data[:rng.randrange(len(data) + 1)]


def moved(rng: random.Random, data: bytes) -> bytes:
    """A piece removed, doubled, or put somewhere else."""
    if len(data) < 2:
        return data
    begin = rng.randrange(len(data))
    piece = data[begin:begin + rng.choice((1, 4, 16, 256))]
    rest = data[:begin] + data[begin + len(piece):] if rng.random() < 0.6 else data
    at = rng.randrange(len(rest) + 1)
    return rest[:at] + piece * rng.choice((0, 1, 1, 2, 50)) + rest[at:]


BINARY: tuple[Mutator, ...] = (bit, some_bytes, number, number, cut, moved)


def any_bytes(rng: random.Random, data: bytes) -> bytes:
    """One to three kinds of damage."""
    for _ in range(rng.choice((1, 1, 2, 3))):
        data = rng.choice(BINARY)(rng, data)
    return data


def json_text(rng: random.Random, data: bytes) -> bytes:
    """A value of the document replaced, a key lost, doubled or renamed, nesting; now and then the text itself damaged."""
    try:
        document = json.loads(data)
    except ValueError:
        return any_bytes(rng, data)
    if rng.random() < 0.1:
        return any_bytes(rng, data)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        places = _places(document)
        if places:
            _damage(rng, *rng.choice(places), places)
    try:
        return json.dumps(document).encode()
    except (RecursionError, ValueError):        # a node put into itself
        return data


def _places(node: object) -> list[tuple[object, object]]:
    found: list[tuple[object, object]] = []
    ahead = [node]
    while ahead:
        value = ahead.pop()
        items = list(value.items()) if isinstance(value, dict) else list(enumerate(value)) if isinstance(value, list) else []
        found += [(value, key) for key, _ in items]
        ahead += [v for _, v in items]
    return found


def _damage(rng: random.Random, parent, key, places) -> None:
    kind = rng.randrange(6)
    if kind <= 2:
        parent[key] = copy.deepcopy(rng.choice(VALUES))
    elif kind == 3 and isinstance(parent, dict):
        value = parent.pop(key)
        if rng.random() < 0.5:
            parent[str(key)[::-1]] = value
    elif kind == 4:
        other, name = rng.choice(places)
        parent[key] = json.loads(json.dumps(other[name])) if other is not parent else None
    else:
        value = parent[key]
        for _ in range(rng.choice((1, 3, 150))):
            value = rng.choice(([value], {"layer": value}))
        parent[key] = value


def zipped(inner: dict[str, Mutator]) -> Mutator:
    """A mutator of archives: an entry damaged (by name) and stored again, an entry lost, doubled or renamed, or raw bytes."""
    def mutate(rng: random.Random, data: bytes) -> bytes:
        if rng.random() < 0.25:
            return any_bytes(rng, data)
        try:
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                entries = {name: archive.read(name) for name in archive.namelist()}
        except Exception:       # a damaged archive is fine: then the bytes are all there is
            return any_bytes(rng, data)
        if not entries:
            return any_bytes(rng, data)
        name = rng.choice(list(entries))
        kind = rng.random()
        if kind < 0.7:
            entries[name] = inner.get(name, any_bytes)(rng, entries[name])
        elif kind < 0.8:
            del entries[name]
        else:
            entries[rng.choice(("../x", "coefficients.bin", "normalizer.bin", "preprocessor.bin", "ä", "x" * 300))] = entries[name]
        made = io.BytesIO()
        with zipfile.ZipFile(made, "w", rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))) as archive:
            for entry, content in entries.items():
                archive.writestr(entry, content)
        return made.getvalue()
    return mutate
