"""Picture files as arrays; with the transforms, the only place that needs Pillow."""
from __future__ import annotations

import os
from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...codecs.regular_files import open_regular
from ...errors import DL4PyError, FileFormatError
from ..normalizers.pillow import pillow

_MOST_PIXELS = 1 << 24      # of one picture: a small file may claim to be a huge picture
#: Kinds of files that are read; others might have faults that nobody looks for.
FORMATS = ("JPEG", "PNG", "BMP", "GIF", "TIFF", "PPM", "WEBP")


def decoded(data: bytes, height: int, width: int, channels: int, where: str) -> NDArray[np.uint8]:
    """The picture of a JPEG file, brought to a size. Shapes: (channels, height, width); blue, green, red, as in DL4J.

    Raises
    ------
    FileFormatError
        Not a picture, a damaged one, or one of too many pixels.
    MissingPackageError
        Pillow is not installed.
    """
    shown = opened(data, where, ("JPEG",), channels)
    if (shown.width, shown.height) != (width, height):
        shown = shown.resize((width, height), pillow().Resampling.BILINEAR)
    return pixels(shown)


def opened(data: bytes, where: str, formats: tuple[str, ...] = FORMATS, channels: int | None = None) -> Any:
    """Pillow's picture of the bytes of a file, of so many channels (1, 3 or 4; without a number as in the file)."""
    image_module = pillow()
    try:
        with image_module.open(BytesIO(data), formats=list(formats)) as picture:
            if picture.width * picture.height > _MOST_PIXELS:
                raise FileFormatError(f"{where}: {picture.width} x {picture.height} pixels, at most {_MOST_PIXELS} are read")
            mode = {None: "L" if picture.mode in ("1", "L", "I", "F") else "RGB", 1: "L", 3: "RGB", 4: "RGBA"}[channels]
            return picture.convert(mode)
    except (OSError, SyntaxError, ValueError) as error:
        if isinstance(error, DL4PyError):
            raise
        raise FileFormatError(f"{where}: not a {'JPEG picture' if formats == ('JPEG',) else 'picture'} ({error})") from None


def pixels(picture: Any) -> NDArray[np.uint8]:
    """The values of Pillow's picture. Shapes: (channels, height, width); blue, green, red."""
    values = np.asarray(picture, np.uint8)
    if values.ndim == 2:
        return values[None]
    order = [2, 1, 0, *range(3, values.shape[2])]
    return np.ascontiguousarray(values[:, :, order].transpose(2, 0, 1))


def size_of(path: str | os.PathLike[str]) -> tuple[int, int, int]:
    """Channels, height and width of the picture in a file, of which no pixels are read."""
    with open_regular(path) as file:
        try:
            with pillow().open(file, formats=list(FORMATS)) as picture:
                return len(picture.getbands()), picture.height, picture.width
        except (OSError, SyntaxError, ValueError) as error:
            raise FileFormatError(f"{path}: not a picture ({error})") from None
