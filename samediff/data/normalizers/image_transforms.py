"""Changed pictures for training: flipped, cropped, several changes with probabilities (DataVec's image transforms)."""
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...configuration.method_builder import MethodBuilder
from ...errors import ConfigurationError, ShapeError

__all__ = ["CropImageTransform", "FlipImageTransform", "ImageTransform", "PipelineImageTransform"]

Picture: TypeAlias = NDArray[np.float32]
Points: TypeAlias = NDArray[np.floating[Any]]
#: A function of a picture (channels, height, width) and a generator: the changed picture of any height and width.
Transform: TypeAlias = Callable[[Picture, np.random.Generator], Any]


class ImageTransform:
    """Base of transforms; any function ``(picture, random) -> picture`` serves as well. DL4J's generators in constructors are accepted and
    have no effect: random numbers come from who applies the transform.

    Shapes: picture (channels, height, width) -> (channels, any, any); iterators bring it back to its size. A sub-class defines
    `__call__`, or `moved` for pictures with boxes in them.
    """

    def __call__(self, picture: Picture, random: np.random.Generator) -> Any:
        return self.moved(picture, np.empty((0, 2)), random)[0]

    def moved(self, picture: Picture, points: Points, random: np.random.Generator) -> tuple[Any, Points]:
        """The changed picture, and where points of the picture come to lie in it.

        Parameters
        ----------
        picture : array (channels, height, width)
        points : array (..., an even number)
            x and y of each point, in pixels from the top left corner.
        random : numpy.random.Generator
        """
        raise NotImplementedError(f"{type(self).__name__} must implement moved(self, picture, points, random), which tells where points "
                                  "come to lie, or __call__(self, picture, random), where nobody asks for these")


def without_random(arguments: Sequence[Any]) -> tuple[Any, ...]:
    """Arguments without a random generator, which DL4J's constructors take: iterators draw from their own seed."""
    return tuple(one for one in arguments if one is not None and not hasattr(one, "next_int"))


class FlipImageTransform(ImageTransform):
    """Mirrors pictures.

    Parameters
    ----------
    *arguments : int
        The mode; a random generator before it, as in DL4J, has no effect.
    flip_mode : int, optional
        0 upside down, 1 left and right, -1 both; without a mode one of these or none, at random.

    Examples
    --------
    >>> picture = np.arange(4, dtype=np.float32).reshape(1, 2, 2)
    >>> FlipImageTransform(1)(picture, np.random.default_rng(0)).tolist()
    [[[1.0, 0.0], [3.0, 2.0]]]
    """

    def __init__(self, *arguments: Any, flip_mode: int | None = None) -> None:
        (flip_mode,) = without_random(arguments) or (flip_mode,)
        if flip_mode not in (None, 0, 1, -1):
            raise ConfigurationError(f"FlipImageTransform: the mode is 0, 1, -1 or None, got {flip_mode!r}")
        self.flip_mode = flip_mode

    def moved(self, picture: Picture, points: Points, random: np.random.Generator) -> tuple[Any, Points]:
        mode = (0, 1, -1, None)[random.integers(4)] if self.flip_mode is None else self.flip_mode
        found = np.array(points)
        for axis, modes, at in ((2, (1, -1), found[..., 0::2]), (1, (0, -1), found[..., 1::2])):
            if mode in modes:
                picture, at[...] = np.flip(picture, axis), picture.shape[axis] - 1 - at
        return picture, found


class CropImageTransform(ImageTransform):
    """Cuts off up to so many rows and columns at each side, at random.

    Parameters
    ----------
    *crop : int or (top, left, bottom, right)
        The most rows and columns to cut off at all sides; or at each of the four.
    """

    def __init__(self, *crop: Any) -> None:
        given: tuple[int, ...] = tuple(n for one in without_random(crop) for n in ((one,) if isinstance(one, int) else one))
        sides = given * 4 if len(given) == 1 else given
        if len(sides) != 4 or min(sides) < 0:
            raise ConfigurationError(f"CropImageTransform takes one number or four (top, left, bottom, right), not below 0; got {given}")
        self.sides = sides

    def moved(self, picture: Picture, points: Points, random: np.random.Generator) -> tuple[Any, Points]:
        top, left, bottom, right = (int(random.integers(n + 1)) for n in self.sides)
        _, height, width = picture.shape
        if top + bottom >= height or left + right >= width:
            raise ShapeError(f"CropImageTransform cuts {top} + {bottom} rows and {left} + {right} columns "
                             f"off a picture of {height} x {width}")
        return picture[:, top:height - bottom, left:width - right], shifted(points, -left, -top)


class PipelineImageTransform(ImageTransform):
    """Several transforms one after the other, each with a probability.

    Parameters
    ----------
    *arguments : transforms, or (transform, probability), or a list of these
        Without a probability a transform is always applied. A last truth value is ``shuffle``.
    shuffle : bool, default False
        In an order drawn for every picture.
    """

    Builder: ClassVar[type[PipelineImageTransformBuilder]]

    def __init__(self, *arguments: Any, shuffle: bool = False) -> None:
        given = list(without_random(arguments))
        shuffle = given.pop() if given and isinstance(given[-1], bool) else shuffle
        transforms = given[0] if len(given) == 1 and isinstance(given[0], (list, tuple)) else given
        self.steps = [step if isinstance(step, tuple) else (step, 1.0) for step in transforms]
        for transform, probability in self.steps:
            if not callable(transform) or not 0 <= probability <= 1:
                raise ConfigurationError(f"PipelineImageTransform takes transforms with probabilities in [0, 1], "
                                         f"got {(transform, probability)}")
        self.shuffle = shuffle

    def __call__(self, picture: Picture, random: np.random.Generator) -> Any:
        for transform in self._chosen(random):
            picture = transform(picture, random)
        return picture

    def moved(self, picture: Picture, points: Points, random: np.random.Generator) -> tuple[Any, Points]:
        for transform in self._chosen(random):
            if not isinstance(transform, ImageTransform):
                raise ConfigurationError(f"PipelineImageTransform: {transform!r:.60} does not tell where boxes come to lie; that does an "
                                         "ImageTransform, by moved(picture, points, random)")
            picture, points = transform.moved(picture, points, random)
        return picture, points

    def _chosen(self, random: np.random.Generator) -> Iterator[Any]:
        order = random.permutation(len(self.steps)) if self.shuffle else range(len(self.steps))
        for i in order:
            transform, probability = self.steps[i]
            if random.random() < probability:
                yield transform


class PipelineImageTransformBuilder(MethodBuilder):
    """``PipelineImageTransform.Builder()``."""

    def add_image_transform(self, transform: Transform, probability: float = 1.0) -> Self:
        """Apply a transform behind the others, with a probability."""
        self._values.setdefault("steps", []).append((transform, probability))
        return self

    def seed(self, seed: int) -> Self:
        """Has no effect: random numbers come from who applies the transform."""
        return self

    def build(self) -> PipelineImageTransform:
        """Return the transform."""
        return PipelineImageTransform(self._values.get("steps", []))


PipelineImageTransform.Builder = PipelineImageTransformBuilder


def shifted(points: Points, across: float, down: float) -> Points:
    """Points moved by so much."""
    moved: Points = points + np.tile([across, down], points.shape[-1] // 2)
    return moved


def scaled(points: Points, before: Sequence[int], after: Sequence[int]) -> Points:
    """Points of a picture (..., height, width) in one of another size."""
    moved: Points = points * np.tile([after[-1] / before[-1], after[-2] / before[-2]], points.shape[-1] // 2)
    return moved


def applied(transform: Transform, picture: Picture, random: np.random.Generator) -> Picture:
    """The transformed picture, which has its channels but any size."""
    found = np.asarray(transform(picture, random), np.float32)
    if found.ndim != 3 or found.shape[0] != picture.shape[0] or not found.size:
        raise ShapeError(f"the image transform made an array of shape {found.shape} of a picture {picture.shape}; "
                         f"expected ({picture.shape[0]}, height, width)")
    return found


def changed(transform: Transform, pictures: Picture, seeds: Sequence[Sequence[int]]) -> Picture:
    """All pictures transformed, each with random numbers of its own seed, and brought back to their size."""
    made = np.empty_like(pictures)
    for i, seed in enumerate(seeds):
        made[i] = resized(applied(transform, pictures[i], np.random.default_rng(seed)), *pictures.shape[2:])
    return made


def resized(picture: Picture, height: int, width: int) -> Picture:
    """A picture brought to a size, bilinear between the centres of its pixels."""
    for axis, size in ((1, height), (2, width)):
        n = picture.shape[axis]
        if n != size:
            at = np.clip((np.arange(size) + 0.5) * n / size - 0.5, 0, n - 1)
            low = np.floor(at).astype(np.int64)
            share = (at - low).astype(np.float32).reshape((-1, 1) if axis == 1 else (-1,))
            high = np.minimum(low + 1, n - 1)
            picture = picture.take(low, axis) * (1 - share) + picture.take(high, axis) * share
    return picture
