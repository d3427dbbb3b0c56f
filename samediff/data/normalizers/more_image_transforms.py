"""Pictures turned, warped, resized and equalized, by Pillow."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...errors import ConfigurationError, ShapeError
from .image_transforms import ImageTransform, Picture, PipelineImageTransform, Points, resized, scaled, shifted, without_random
from .pillow import pillow

__all__ = [
    "BoxImageTransform", "EqualizeHistTransform", "MultiImageTransform", "RandomCropTransform", "ResizeImageTransform",
    "RotateImageTransform", "ScaleImageTransform", "ShowImageTransform", "WarpImageTransform",
]


def _each_channel(picture: Picture, change: Callable[[Any, Any], Any]) -> Picture:
    image = pillow()
    return np.stack([np.asarray(change(image, image.fromarray(np.ascontiguousarray(c, np.float32))), np.float32) for c in picture])


def _numbers(name: str, given: tuple[Any, ...], *counts: int) -> tuple[float, ...]:
    found = tuple(float(n) for n in without_random(given))
    if len(found) not in counts:
        raise ConfigurationError(f"{name} takes {' or '.join(map(str, counts))} numbers, got {found}")
    return found


class RotateImageTransform(ImageTransform):
    """Turns pictures about their middle, by up to so many degrees to either side, at random.

    Parameters
    ----------
    *angle : float
        The most degrees.
    """

    def __init__(self, *angle: Any) -> None:
        self.angle, = _numbers("RotateImageTransform", angle, 1)

    def moved(self, picture: Picture, points: Points, random: np.random.Generator) -> tuple[Any, Points]:
        angle = float(random.uniform(-self.angle, self.angle))
        across, down = np.cos(np.radians(angle)), np.sin(np.radians(angle))
        middle = np.array([picture.shape[2], picture.shape[1]]) / 2
        turned = (points.reshape(-1, 2) - middle) @ np.array([[across, -down], [down, across]]) + middle
        return _each_channel(picture, lambda image, c: c.rotate(angle, image.Resampling.BILINEAR)), turned.reshape(points.shape)


class WarpImageTransform(ImageTransform):
    """Moves the corners of pictures by up to so many pixels, at random.

    Parameters
    ----------
    *delta : float
        The most pixels; or eight numbers, across and down for each corner: top left, top right, bottom right, bottom left.
    """

    def __init__(self, *delta: Any) -> None:
        given = _numbers("WarpImageTransform", delta, 1, 8)
        self.deltas = given * 8 if len(given) == 1 else given

    def moved(self, picture: Picture, points: Points, random: np.random.Generator) -> tuple[Any, Points]:
        _, height, width = picture.shape
        corners = np.array([[0, 0], [width, 0], [width, height], [0, height]], float)
        moved = corners + np.array([random.uniform(-d, d) for d in self.deltas]).reshape(4, 2)
        try:
            back, there = _perspective(moved, corners), _perspective(corners, moved)
        except np.linalg.LinAlgError:
            return picture, points
        x, y, scale = np.append(there, 1).reshape(3, 3) @ np.column_stack([points.reshape(-1, 2), np.ones(points.size // 2)]).T
        return _each_channel(picture, lambda image, c: c.transform(
            (width, height), image.Transform.PERSPECTIVE, back.tolist(), image.Resampling.BILINEAR)), \
            np.stack([x / scale, y / scale], 1).reshape(points.shape)


def _perspective(places: Points, wanted: Points) -> Points:
    """Eight numbers of the perspective that moves these four places there."""
    rows = []
    for (u, v), (x, y) in zip(wanted, places):
        rows += [[x, y, 1, 0, 0, 0, -u * x, -u * y], [0, 0, 0, x, y, 1, -v * x, -v * y]]
    return np.linalg.solve(np.array(rows), wanted.reshape(-1))


class ScaleImageTransform(ImageTransform):
    """Stretches pictures by up to so many pixels, at random.

    Parameters
    ----------
    *delta : float
        The most pixels; or two numbers, across and down.
    """

    def __init__(self, *delta: Any) -> None:
        self.across, self.down = (*_numbers("ScaleImageTransform", delta, 1, 2), *_numbers("ScaleImageTransform", delta, 1, 2))[:2]

    def moved(self, picture: Picture, points: Points, random: np.random.Generator) -> tuple[Any, Points]:
        _, height, width = picture.shape
        size = [max(1, round(n + float(random.uniform(-d, d)))) for n, d in ((height, self.down), (width, self.across))]
        return resized(picture, size[0], size[1]), scaled(points, (height, width), size)


class ResizeImageTransform(ImageTransform):
    """Brings pictures to a size.

    Parameters
    ----------
    width, height : int
        The size, in DL4J's order.
    """

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = int(width), int(height)

    def moved(self, picture: Picture, points: Points, random: np.random.Generator) -> tuple[Any, Points]:
        return resized(picture, self.height, self.width), scaled(points, picture.shape, (self.height, self.width))


class RandomCropTransform(ImageTransform):
    """Cuts out a part of a size, at a random place.

    Parameters
    ----------
    *size : int
        Height and width.
    """

    def __init__(self, *size: Any) -> None:
        self.height, self.width = (int(n) for n in _numbers("RandomCropTransform", size[:3] if size and hasattr(size[0], "next_int")
                                                            else size[:2], 2))

    def moved(self, picture: Picture, points: Points, random: np.random.Generator) -> tuple[Any, Points]:
        _, height, width = picture.shape
        if height < self.height or width < self.width:
            raise ShapeError(f"RandomCropTransform cuts {self.height} x {self.width} pixels out of a picture of {height} x {width}")
        top, left = int(random.integers(height - self.height + 1)), int(random.integers(width - self.width + 1))
        return picture[:, top:top + self.height, left:left + self.width], shifted(points, -left, -top)


class BoxImageTransform(ImageTransform):
    """Puts pictures in the middle of a box, which cuts them off or surrounds them with a border.

    Parameters
    ----------
    width, height : int
        The size of the box, in DL4J's order.
    border_value : float, default 0
        What surrounds smaller pictures.
    """

    def __init__(self, width: int, height: int, border_value: float = 0.0) -> None:
        self.width, self.height, self.border_value = int(width), int(height), float(border_value)

    def moved(self, picture: Picture, points: Points, random: np.random.Generator) -> tuple[Any, Points]:
        made = np.full((len(picture), self.height, self.width), self.border_value, np.float32)
        (to_y, from_y), (to_x, from_x) = (_middle(n, have) for n, have in zip(made.shape[1:], picture.shape[1:]))
        made[:, to_y, to_x] = picture[:, from_y, from_x]
        return made, shifted(points, to_x.start - from_x.start, to_y.start - from_y.start)


def _middle(size: int, have: int) -> tuple[slice, slice]:
    length = min(size, have)
    return slice((size - length) // 2, (size - length) // 2 + length), slice((have - length) // 2, (have - length) // 2 + length)


class EqualizeHistTransform(ImageTransform):
    """Spreads the values of each channel over 0 to 255.

    Parameters
    ----------
    *arguments
        As in DL4J, without effect.
    """

    def __init__(self, *arguments: Any) -> None:
        pass

    def moved(self, picture: Picture, points: Points, random: np.random.Generator) -> tuple[Any, Points]:
        from PIL import ImageOps
        image = pillow()
        bytes_ = np.clip(picture, 0, 255).astype(np.uint8)
        return np.stack([np.asarray(ImageOps.equalize(image.fromarray(c)), np.float32) for c in bytes_]), points


class MultiImageTransform(PipelineImageTransform):
    """Several transforms one after the other.

    Parameters
    ----------
    *transforms : ImageTransform
        In their order.
    """

    def __init__(self, *transforms: Any) -> None:
        super().__init__(list(without_random(transforms)))


class ShowImageTransform(ImageTransform):
    """Shows nothing: pictures go through as they are (DL4J opens a window).

    Parameters
    ----------
    *arguments
        As in DL4J, without effect.
    """

    def __init__(self, *arguments: Any) -> None:
        pass

    def moved(self, picture: Picture, points: Points, random: np.random.Generator) -> tuple[Any, Points]:
        return picture, points
