"""Pictures of detections: boxes with names and confidences, drawn by Pillow."""
from __future__ import annotations

import colorsys
import os
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...layers.types.detection import DetectedObject
from ...samediff.codecs.atomic_files import atomic_write
from ...samediff.errors import MissingPackageError, ShapeError
from .labels import BaseLabels

__all__ = ["draw_detections"]


def draw_detections(image: Any, objects: Iterable[DetectedObject], grid: Sequence[int], labels: BaseLabels | Sequence[str] | None = None,
                    path: str | os.PathLike[str] | None = None, line_width: int = 2) -> NDArray[np.uint8]:
    """Draw the boxes of detected objects into an image, each class in a colour of its own; it needs the package Pillow.

    Parameters
    ----------
    image : array or PIL.Image
        (channels, height, width) or (height, width, channels) with one or three channels, or (height, width): whole numbers from 0 to
        255, or fractions from 0 to 1.
    objects : iterable of DetectedObject
        Those of this image.
    grid : (int, int)
        Number of rows and columns of cells, in which the objects say their places: the last two sizes of the network's output.
    labels : BaseLabels or sequence of str, optional
        Names of the classes, written with the confidence above the boxes; numbers without.
    path : path, optional
        A file that the picture is written to, whose suffix says the kind.
    line_width : int
        Of the boxes, in pixels; 2 by default.

    Returns
    -------
    array (height, width, 3) of UBYTE

    Raises
    ------
    MissingPackageError
        Pillow is not installed.
    ShapeError
        The array is no image.
    """
    try:
        from PIL import Image, ImageDraw
    except ImportError:
        raise MissingPackageError("pictures of detections need the package Pillow: pip install 'dl4py[images]'") from None
    picture = image.convert("RGB") if isinstance(image, Image.Image) else Image.fromarray(_pixels(np.asarray(image)))
    draw = ImageDraw.Draw(picture)
    scale = np.array([picture.width / grid[1], picture.height / grid[0]])
    for found in sorted(objects, key=lambda o: o.confidence):               # the surest on top
        number = found.get_predicted_class()
        colour = _colour(number)
        x0, y0, x1, y1 = (round(float(n)) for n in (*(found.get_top_left_xy() * scale), *(found.get_bottom_right_xy() * scale)))
        draw.rectangle((min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1)), outline=colour, width=line_width)
        text = f"{_name(labels, number)} {found.confidence:.0%}"
        left, top, right, bottom = draw.textbbox((x0, y0), text)
        above = max(0, y0 - (bottom - top) - 4)
        draw.rectangle((x0, above, x0 + right - left + 4, above + bottom - top + 4), fill=colour)
        draw.text((x0 + 2 - (left - x0), above + 2 - (top - y0)), text, fill=(0, 0, 0))
    if path is not None:
        suffix = os.path.splitext(os.fspath(path))[1].lower()
        with atomic_write(path) as stream:
            picture.save(stream, Image.registered_extensions().get(suffix, "PNG"))
    return np.asarray(picture)


def _pixels(image: NDArray[Any]) -> NDArray[np.uint8]:
    """(height, width, 3) from 0 to 255."""
    if image.ndim == 2:
        image = image[..., None]
    if image.ndim != 3 or not {image.shape[0], image.shape[-1]} & {1, 3}:
        raise ShapeError(f"an image is (channels, height, width), (height, width, channels) or (height, width) with one or three channels; "
                         f"got {list(image.shape)}")
    if image.shape[-1] not in (1, 3):
        image = image.transpose(1, 2, 0)
    if image.dtype.kind == "f":
        image = np.clip(np.nan_to_num(image), 0, 1) * 255 + 0.5
    return np.ascontiguousarray(np.broadcast_to(np.clip(image, 0, 255).astype(np.uint8), (*image.shape[:2], 3)))


def _colour(number: int) -> tuple[int, int, int]:
    """Neighbouring classes differ much."""
    red, green, blue = colorsys.hsv_to_rgb(number * 0.618034 % 1, 0.75, 1.0)
    return round(red * 255), round(green * 255), round(blue * 255)


def _name(labels: BaseLabels | Sequence[str] | None, number: int) -> str:
    if labels is None:
        return str(number)
    return labels.get_label(number) if isinstance(labels, BaseLabels) else str(labels[number])
