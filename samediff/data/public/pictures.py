"""JPEG files as arrays; the only place that needs Pillow."""
from __future__ import annotations

from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import DL4PyError, FileFormatError, MissingPackageError

_MOST_PIXELS = 1 << 24      # of one picture: a small file may claim to be a huge picture


def decoded(data: bytes, height: int, width: int, channels: int, where: str) -> NDArray[np.uint8]:
    """The picture of a JPEG file, brought to a size. Shapes: (channels, height, width); blue, green, red, as in DL4J.

    Raises
    ------
    FileFormatError
        Not a picture, a damaged one, or one of too many pixels.
    MissingPackageError
        Pillow is not installed.
    """
    image_module = _pillow()
    try:
        with image_module.open(BytesIO(data), formats=["JPEG"]) as picture:
            if picture.width * picture.height > _MOST_PIXELS:
                raise FileFormatError(f"{where}: {picture.width} x {picture.height} pixels, at most {_MOST_PIXELS} are read")
            shown = picture.convert("L" if channels == 1 else "RGB")
    except (OSError, SyntaxError, ValueError) as error:
        if isinstance(error, DL4PyError):
            raise
        raise FileFormatError(f"{where}: not a JPEG picture ({error})") from None
    if (shown.width, shown.height) != (width, height):
        shown = shown.resize((width, height), image_module.Resampling.BILINEAR)
    pixels = np.asarray(shown, np.uint8)
    return pixels[None] if channels == 1 else np.ascontiguousarray(pixels[:, :, ::-1].transpose(2, 0, 1))


def _pillow() -> Any:
    try:
        from PIL import Image
    except ImportError:
        raise MissingPackageError("reading JPEG pictures needs Pillow: pip install pillow (or dl4py[images])") from None
    return Image
