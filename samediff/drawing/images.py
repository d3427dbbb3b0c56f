"""Arrays as pictures: filters, activations and examples, side by side."""
from __future__ import annotations

import base64
import math
import struct
import zlib
from typing import Any

import numpy as np

from ..errors import ShapeError

#: Tiles of one picture, and pixels that each side of a small tile is enlarged to.
MOST_TILES, SIDE = 64, 24


def tiles(array: Any, most: int = MOST_TILES, channels_last: bool = False) -> np.ndarray[Any, Any]:
    """Pictures (count, height, width), or (count, channels, height, width), beside each other: pixels (height, width, 3) of 0 to 255.

    One or three channels are gray or colours, of others each is a picture of its own. Each picture is stretched to its own
    range; what is not finite is black.

    Examples
    --------
    >>> import numpy as np
    >>> tiles(np.zeros((5, 3, 8, 8))).shape
    (51, 76, 3)
    """
    given = np.asarray(array)
    if given.ndim == 2:
        given = given[None]
    if given.ndim == 4 and channels_last:
        given = given.transpose(0, 3, 1, 2)
    if given.ndim == 4 and given.shape[1] not in (1, 3):
        given = given.reshape(-1, *given.shape[2:])
    if given.ndim == 3:
        given = given[:, None]
    if given.ndim != 4 or not given.size:
        raise ShapeError(f"pictures are arrays (count, height, width) or (count, channels, height, width); got {np.shape(array)}")
    given = given[:most].transpose(0, 2, 3, 1).astype(np.float64)
    times = max(1, math.ceil(SIDE / max(given.shape[1:3])))
    shown = [np.repeat(np.repeat(_stretched(one), times, 0), times, 1) for one in given]
    columns = math.ceil(math.sqrt(len(shown)))
    rows = math.ceil(len(shown) / columns)
    height, width = shown[0].shape[0] + 1, shown[0].shape[1] + 1
    canvas = np.full((rows * height + 1, columns * width + 1, 3), 128, np.uint8)
    for k, one in enumerate(shown):
        top, left = 1 + k // columns * height, 1 + k % columns * width
        canvas[top:top + height - 1, left:left + width - 1] = one
    return canvas


def _stretched(picture: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    finite = np.where(np.isfinite(picture), picture, np.nan)
    low, high = (np.nanmin(finite), np.nanmax(finite)) if np.isfinite(picture).any() else (0.0, 0.0)
    scaled = np.nan_to_num((finite - low) / (high - low)) if high > low else np.zeros_like(picture)
    return np.round(255 * scaled).astype(np.uint8)


def as_pictures(array: Any, most: int = MOST_TILES) -> np.ndarray[Any, Any] | None:
    """The pictures in weights (out, in, height, width) or activations (batch, …), None where these are no pictures.

    Of activations (batch, channels, height, width) those of the first example, of (batch, width) all as the rows of one.
    """
    given = np.asarray(array)
    if given.ndim == 4 and min(given.shape) > 0:
        return tiles(given, most)
    if given.ndim == 3 and min(given.shape) > 0:
        return tiles(given[:1], most)
    if given.ndim == 2 and min(given.shape) > 0:
        return tiles(given[:most], most)
    return None


def png(pixels: np.ndarray[Any, Any]) -> bytes:
    """Pixels (height, width, 3) of 0 to 255 as a PNG file.

    Examples
    --------
    >>> import numpy as np
    >>> png(np.zeros((2, 2, 3), np.uint8))[:4]
    b'\\x89PNG'
    """
    height, width, _ = pixels.shape
    rows = np.concatenate([np.zeros((height, 1), np.uint8), pixels.reshape(height, -1)], 1)      # 0: rows as they are
    parts = [(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)), (b"IDAT", zlib.compress(rows.tobytes(), 6)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in parts)


def data_uri(data: bytes, kind: str = "image/png") -> str:
    """Bytes as an address that a page can hold."""
    return f"data:{kind};base64,{base64.b64encode(data).decode('ascii')}"
