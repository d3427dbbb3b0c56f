"""Changed pictures for training: flipped, cropped, several changes with probabilities (DataVec's image transforms)."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...errors import ConfigurationError, ShapeError

__all__ = ["CropImageTransform", "FlipImageTransform", "ImageTransform", "PipelineImageTransform"]

Picture: TypeAlias = NDArray[np.float32]
#: A function of a picture (channels, height, width) and a generator: the changed picture of any height and width.
Transform: TypeAlias = Callable[[Picture, np.random.Generator], Any]


class ImageTransform:
    """Base of transforms; any function ``(picture, random) -> picture`` serves as well. DL4J's generators in constructors are accepted and
    have no effect: random numbers come from who applies the transform.

    Shapes: picture (channels, height, width) -> (channels, any, any); iterators bring it back to its size.
    """

    def __call__(self, picture: Picture, random: np.random.Generator) -> Any:
        raise NotImplementedError(f"{type(self).__name__} must implement __call__(self, picture, random)")


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

    def __call__(self, picture: Picture, random: np.random.Generator) -> Any:
        mode = (0, 1, -1, None)[random.integers(4)] if self.flip_mode is None else self.flip_mode
        if mode is None:
            return picture
        return picture[:, :: -1 if mode in (0, -1) else 1, :: -1 if mode in (1, -1) else 1]


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

    def __call__(self, picture: Picture, random: np.random.Generator) -> Any:
        top, left, bottom, right = (int(random.integers(n + 1)) for n in self.sides)
        _, height, width = picture.shape
        if top + bottom >= height or left + right >= width:
            raise ShapeError(f"CropImageTransform cuts {top} + {bottom} rows and {left} + {right} columns "
                             f"off a picture of {height} x {width}")
        return picture[:, top:height - bottom, left:width - right]


class PipelineImageTransform(ImageTransform):
    """Several transforms one after the other, each with a probability.

    Parameters
    ----------
    *arguments : transforms, or (transform, probability), or a list of these
        Without a probability a transform is always applied. A last truth value is ``shuffle``.
    shuffle : bool, default False
        In an order drawn for every picture.
    """

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
        order = random.permutation(len(self.steps)) if self.shuffle else range(len(self.steps))
        for i in order:
            transform, probability = self.steps[i]
            if random.random() < probability:
                picture = transform(picture, random)
        return picture


def changed(transform: Transform, pictures: Picture, seeds: Sequence[Sequence[int]]) -> Picture:
    """All pictures transformed, each with random numbers of its own seed, and brought back to their size."""
    _, channels, height, width = pictures.shape
    made = np.empty_like(pictures)
    for i, seed in enumerate(seeds):
        found = np.asarray(transform(pictures[i], np.random.default_rng(seed)), np.float32)
        if found.ndim != 3 or found.shape[0] != channels or not found.size:
            raise ShapeError(f"the image transform made an array of shape {found.shape} of a picture {pictures[i].shape}; "
                             f"expected ({channels}, height, width)")
        made[i] = resized(found, height, width)
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
