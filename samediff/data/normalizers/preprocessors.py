"""Preprocessors of data sets: reshape, permute, crop, mask."""
from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from ...base.datatype import is_floating
from ...base.java.java_enum import JavaEnum
from ...base.java_names import UnderSamplingByMaskingPreProcessorNames
from ...configuration.method_builder import MethodBuilder
from ...errors import ConfigurationError, ShapeError
from ..iterators.iterator import DataSetPreProcessor
from ..sets.dataset import DataSet
from ..sets.dataset_arrays import Array
from ..sets.multi_dataset import MultiDataSet

__all__ = [
    "CombinedMultiDataSetPreProcessor", "CombinedPreProcessor", "CompositeDataSetPreProcessor",
    "CompositeMultiDataSetPreProcessor", "CropAndResizeDataSetPreProcessor", "ImageFlatteningDataSetPreProcessor",
    "LabelLastTimeStepPreProcessor", "PermuteDataSetPreProcessor", "RGBtoGrayscaleDataSetPreProcessor",
    "UnderSamplingByMaskingPreProcessor",
]


def _features(data: DataSet, rank: int, who: object) -> Array:
    x = data.features
    if x is None or x.ndim != rank:
        raise ShapeError(f"{type(who).__name__} needs features of rank {rank}, got {None if x is None else x.shape}")
    return x


class CompositeDataSetPreProcessor(DataSetPreProcessor):
    """Several preprocessors, one after the other.

    Parameters
    ----------
    *pre_processors : DataSetPreProcessor
        Normalizers and preprocessors.
    """

    def __init__(self, *pre_processors: DataSetPreProcessor) -> None:
        self.pre_processors = pre_processors

    def pre_process(self, data: Any) -> None:
        """Change the data set."""
        for one in self.pre_processors:
            one.pre_process(data)


class CompositeMultiDataSetPreProcessor(CompositeDataSetPreProcessor):
    """Several preprocessors of `MultiDataSet`, one after the other."""


class CombinedPreProcessor(CompositeDataSetPreProcessor):
    """Several preprocessors, one after the other: DL4J's other name, with a builder.

    Examples
    --------
    >>> first, second = ImageFlatteningDataSetPreProcessor(), LabelLastTimeStepPreProcessor()
    >>> made = CombinedPreProcessor.Builder().addPreProcessor(second).addPreProcessor(0, first).build()
    >>> made.pre_processors == (first, second)
    True
    """

    Builder: ClassVar[type[CombinedPreProcessorBuilder]]


class CombinedMultiDataSetPreProcessor(CombinedPreProcessor):
    """Several preprocessors of `MultiDataSet`, one after the other."""


class CombinedPreProcessorBuilder(MethodBuilder):
    """``CombinedPreProcessor.Builder()``."""

    def add_pre_processor(self, *arguments: Any) -> Self:
        """Add a preprocessor behind the others, or at the place whose number stands before it."""
        chosen: list[Any] = self._values.setdefault("chosen", [])
        chosen.insert(len(chosen) if len(arguments) == 1 else arguments[0], arguments[-1])
        return self

    def build(self) -> CombinedPreProcessor:
        """Return the preprocessor."""
        return CombinedPreProcessor(*self._values.get("chosen", []))


CombinedPreProcessor.Builder = CombinedPreProcessorBuilder


class ImageFlatteningDataSetPreProcessor(DataSetPreProcessor):
    """Images (examples, channels, height, width) to rows (examples, channels * height * width)."""

    def pre_process(self, data: DataSet) -> None:
        """Change the data set."""
        x = data.features
        data.features = x.reshape(x.shape[0], -1)


class LabelLastTimeStepPreProcessor(DataSetPreProcessor):
    """Labels (examples, classes, time) to those of the last time step (examples, classes).

    With a mask, the last unmasked step counts. The mask of the labels is dropped.
    """

    def pre_process(self, data: DataSet) -> None:
        """Change the data set."""
        labels, mask = data.labels, data.labels_mask
        if labels is None or labels.ndim != 3:
            raise ShapeError("LabelLastTimeStepPreProcessor needs labels of rank 3, "
                             f"got {None if labels is None else labels.shape}")
        if mask is None:
            last = np.full(labels.shape[0], labels.shape[2] - 1)
        else:
            last = labels.shape[2] - 1 - np.argmax(np.asarray(mask)[:, ::-1] > 0, axis=1)
        data.labels, data.labels_mask = labels[np.arange(labels.shape[0]), :, last], None


class PermuteDataSetPreProcessor(DataSetPreProcessor):
    """Permutes the axes of the features.

    Parameters
    ----------
    *order : int, or PermutationTypes
        The new order of all axes, the examples (0) first; or ``PermutationTypes.NCHWtoNHWC`` or ``NHWCtoNCHW``.

    Examples
    --------
    >>> data = DataSet(np.zeros((2, 3, 4, 5)), np.zeros((2, 1)))
    >>> PermuteDataSetPreProcessor(PermuteDataSetPreProcessor.PermutationTypes.NCHWtoNHWC).pre_process(data)
    >>> data.get_features().shape
    (2, 4, 5, 3)
    """

    class PermutationTypes(JavaEnum):
        """The permutations between channels first and channels last."""

        NCHWtoNHWC = (0, 2, 3, 1)
        NHWCtoNCHW = (0, 3, 1, 2)

    def __init__(self, *order: int | PermutationTypes) -> None:
        axes: tuple[Any, ...] = order
        if len(order) == 1 and isinstance(order[0], self.PermutationTypes):
            axes = order[0].value
        if not axes or sorted(axes) != list(range(len(axes))) or axes[0] != 0:
            raise ConfigurationError(f"expected a permutation of all axes that keeps axis 0 first, got {order}")
        self.order: tuple[int, ...] = tuple(axes)

    def pre_process(self, data: DataSet) -> None:
        """Change the data set."""
        data.features = _features(data, len(self.order), self).transpose(self.order)


class RGBtoGrayscaleDataSetPreProcessor(DataSetPreProcessor):
    """``0.3 red + 0.59 green + 0.11 blue``. Shapes: (examples, 3, height, width) -> (examples, height, width)."""

    WEIGHTS = (0.3, 0.59, 0.11)

    def pre_process(self, data: DataSet) -> None:
        """Change the data set."""
        x = _features(data, 4, self)
        if x.shape[1] != 3:
            raise ShapeError(f"RGBtoGrayscaleDataSetPreProcessor needs 3 channels, got {x.shape}")
        dtype = x.dtype if is_floating(x.dtype) else np.dtype(np.float32)
        data.features = np.einsum("nchw,c->nhw", x.astype(dtype), np.array(self.WEIGHTS, dtype))


class CropAndResizeDataSetPreProcessor(DataSetPreProcessor):
    """Cuts a rectangle of the final size out of images with channels last.

    The rectangle is addressed in relative coordinates as in TensorFlow's ``crop_and_resize``: it goes from
    ``start / size`` to ``(start + resized) / size`` of the distance between the first and the last pixel, so that
    bilinear interpolation mixes neighbouring pixels. Points outside the image are 0.

    Shapes: (examples, original height, original width, channels) -> (examples, resized height, resized width,
    channels).

    Parameters
    ----------
    original_height, original_width, y_start, x_start, resized_height, resized_width, num_channels : int
        Size of the images, corner of the rectangle from the top left, its size, and number of channels, all in pixels.
    resize_method : ResizeMethod, default Bilinear
        Ways to find values between pixels.

    Notes
    -----
    Source: ND4J's ``CropAndResizeDataSetPreProcessor``.
    """

    class ResizeMethod(JavaEnum):
        """Ways to find values between pixels."""

        Bilinear = 0
        NearestNeighbor = 1

    def __init__(self, original_height: int, original_width: int, y_start: int, x_start: int, resized_height: int,
                 resized_width: int, num_channels: int, resize_method: ResizeMethod = ResizeMethod.Bilinear) -> None:
        sizes = original_height, original_width, resized_height, resized_width, num_channels
        if min(sizes) < 1 or min(y_start, x_start) < 0:
            raise ConfigurationError("CropAndResizeDataSetPreProcessor: expected positive sizes, starts of at least 0, "
                                     f"got sizes {sizes}, starts {(y_start, x_start)}")
        self._shape = original_height, original_width, num_channels
        self._rows = _positions(original_height, y_start, resized_height)
        self._columns = _positions(original_width, x_start, resized_width)
        self._method = resize_method

    def pre_process(self, data: DataSet) -> None:
        """Change the data set."""
        x = _features(data, 4, self)
        if x.shape[1:] != self._shape:
            raise ShapeError(f"CropAndResizeDataSetPreProcessor is made for images of {self._shape}, got {x.shape}")
        dtype = x.dtype if is_floating(x.dtype) else np.dtype(np.float32)
        out = x
        for axis, at in ((1, self._rows), (2, self._columns)):
            out = self._interpolated(out, axis, at)
        data.features = out.astype(dtype)

    def _interpolated(self, x: Array, axis: int, at: Array) -> Array:
        last = x.shape[axis] - 1
        inside = ((at >= 0) & (at <= last)).reshape(-1, *[1] * (3 - axis))
        at = np.clip(at, 0, last)
        if self._method is self.ResizeMethod.NearestNeighbor:
            nearest: Array = np.take(x, np.floor(at + 0.5).astype(int), axis) * inside
            return nearest
        low = np.floor(at).astype(int)
        part = (at - low).reshape(inside.shape)
        high = np.minimum(low + 1, last)
        mixed: Array = (np.take(x, low, axis) * (1 - part) + np.take(x, high, axis) * part) * inside
        return mixed


def _positions(size: int, start: int, count: int) -> Array:
    first, end = start / size * (size - 1), (start + count) / size * (size - 1)
    return np.linspace(first, end, count) if count > 1 else np.array([(first + end) / 2])


class UnderSamplingByMaskingPreProcessor(DataSetPreProcessor, UnderSamplingByMaskingPreProcessorNames):
    """Masks labels of the more frequent class of a two-class time series, so that the rarer one gets the wanted share.

    In every window of ``window_length`` steps all steps of the minority class (label 1) stay; a step of the other class
    stays with the probability that gives the share ``target``. A window without the minority class is masked as a
    whole, unless `donot_mask_all_majority_windows` was called.

    Shapes: labels (examples, 1 or 2, time), mask (examples, time).

    Parameters
    ----------
    target : float
        Wanted share of the minority class, above 0 and at most 0.5.
    window_length : int
        Usually the length of truncated backpropagation.
    seed : int, optional
        Of the steps that stay; without it they differ every time.

    Notes
    -----
    Source: ND4J's class of the same name; the drawn steps differ.
    """

    def __init__(self, target: float, window_length: int, seed: int | None = None) -> None:
        if not 0 < target <= 0.5 or window_length < 1:
            raise ConfigurationError("target must lie in (0, 0.5] and the window must be positive, "
                                     f"got {target}, {window_length}")
        self._target, self._window, self._random = target, window_length, np.random.default_rng(seed)
        self._minority, self._mask_whole = 1, True

    def override_minority_default(self) -> None:
        """Class 0 is the rarer one."""
        self._minority = 0

    def donot_mask_all_majority_windows(self) -> None:
        """Sample windows without the minority class as if they had one step of it."""
        self._mask_whole = False

    def pre_process(self, data: DataSet | MultiDataSet) -> None:
        """Change the mask of the labels."""
        labels = data.labels if isinstance(data, DataSet) else data.array("labels", 0)
        if labels is None or labels.ndim != 3 or labels.shape[1] > 2:
            raise ShapeError("expected labels of shape (examples, 1 or 2, time), "
                             f"got {None if labels is None else labels.shape}")
        mask = data.labels_mask if isinstance(data, DataSet) else data.array("labels_masks", 0)
        counted = np.ones((labels.shape[0], labels.shape[2])) if mask is None else np.asarray(mask)
        rare = (np.asarray(labels)[:, -1] > 0.5) == bool(self._minority)
        kept = np.concatenate([self._kept(rare[:, i:i + self._window], counted[:, i:i + self._window])
                               for i in range(0, labels.shape[2], self._window)], axis=1).astype(counted.dtype)
        if isinstance(data, DataSet):
            data.labels_mask = kept
        else:
            data.set_labels_mask_array(0, kept)

    def _kept(self, rare: Array, counted: Array) -> Array:
        minority = (rare * counted).sum(axis=1, keepdims=True)
        majority = counted.sum(axis=1, keepdims=True) - minority
        wanted = minority if self._mask_whole else np.maximum(minority, 1)
        chance = wanted * (1 - self._target) / (self._target * np.maximum(majority, 1))
        kept: Array = counted * (rare | (self._random.random(rare.shape) < chance))
        return kept
