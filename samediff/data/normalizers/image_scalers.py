"""Scaling of images: constant maps that need no fitting."""
from __future__ import annotations

from typing import Any

import numpy as np

from ...base.datatype import is_floating
from ...base.java_names import ImageMultiPreProcessingScalerNames, ImagePreProcessingScalerNames, VGG16ImagePreProcessorNames
from ...base.user_code.users_arrays import into_given
from ...errors import ConfigurationError, ShapeError
from ...expressions.arrays import require_numbers, to_numbers
from ..sets.affine import affine, along_axis_1
from ..sets.dataset import DataSet
from ..sets.dataset_arrays import Array, data_array
from ..sets.multi_dataset import MultiDataSet
from .data_normalization import DataNormalization, MultiDataNormalization

__all__ = ["ImageMultiPreProcessingScaler", "ImagePreProcessingScaler", "VGG16ImagePreProcessor"]


class _ImageMap(DataNormalization):
    """Features (and labels of rank 4 after ``fit_label(True)``) times ``scale`` plus ``shift``."""

    def __init__(self, scale: Any, shift: Any) -> None:
        self._scale, self._shift, self._fit_label = scale, shift, False

    def fit(self, data: Any) -> None:
        """Does nothing: there is nothing to fit."""

    def fit_label(self, fit_label: bool) -> None:
        """Whether labels of rank 4 (segmentation) are mapped too."""
        self._fit_label = bool(fit_label)

    def is_fit_label(self) -> bool:
        """Whether labels are mapped too."""
        return self._fit_label

    def _of(self, array: Any, inverse: bool) -> Array:
        x = data_array(array, "images")
        if x is None:
            raise ShapeError(f"{type(self).__name__}: expected images, got None")
        require_numbers(x, "a normalizer")
        if inverse:
            shift = along_axis_1(self._shift, x.ndim) if np.ndim(self._shift) else self._shift
            return np.asarray((x - shift) / self._scale).astype(x.dtype if is_floating(x.dtype) else np.float32)
        if np.ndim(self._shift):
            return affine(x, np.full_like(self._shift, self._scale), self._shift)
        one_channel = x.reshape(len(x), 1, x.size // max(1, len(x)))
        return affine(one_channel, np.array([self._scale]), np.array([self._shift])).reshape(x.shape)

    def _labels(self, labels: Array, inverse: bool) -> Array:
        if labels.ndim != 4:
            raise ShapeError(f"{type(self).__name__}: only labels of rank 4 (segmentation) can be mapped, "
                             f"got {labels.shape}")
        return self._of(labels, inverse)

    def _apply(self, data: Any, inverse: bool) -> Any:
        if not isinstance(data, DataSet):
            return into_given(data, self._of(data, inverse))
        features = self._of(data.features, inverse)
        if self._fit_label:
            data.labels = self._labels(data.labels, inverse)
        data.features = features
        return data

    def transform(self, data: Any) -> Any:
        """Map a data set or DL4J's array in place, other arrays into a new one; returns it."""
        return self._apply(data, False)

    def revert(self, data: Any) -> Any:
        """The inverse of `transform`."""
        return self._apply(data, True)

    def transform_label(self, labels: Any) -> Array:
        """Map labels of rank 4, when `fit_label` asks for it."""
        found = to_numbers(labels, "a normalizer")
        return into_given(labels, self._labels(found, False)) if self._fit_label else found

    def revert_labels(self, labels: Any) -> Array:
        """Map labels of rank 4 back, when `fit_label` asks for it."""
        found = to_numbers(labels, "a normalizer")
        return into_given(labels, self._labels(found, True)) if self._fit_label else found

    def revert_features(self, features: Any) -> Array:
        """Map features back."""
        return into_given(features, self._of(features, True))  # type: ignore[no-any-return]


class ImagePreProcessingScaler(_ImageMap, ImagePreProcessingScalerNames):
    """``x / (2**max_bits - 1) * (high - low) + low``: pixel values to a range.

    Shapes: any; integers become float32.

    Parameters
    ----------
    low, high : float, default 0 and 1
        The range to map to.
    max_bits : int, default 8
        Bits of a pixel value.

    Notes
    -----
    Source: ND4J's ``ImagePreProcessingScaler``.

    Examples
    --------
    >>> ImagePreProcessingScaler(-1, 1).transform([[0.0, 127.5, 255.0]]).tolist()
    [[-1.0, 0.0, 1.0]]
    """

    def __init__(self, low: float = 0.0, high: float = 1.0, max_bits: int = 8) -> None:
        if low >= high or not 1 <= max_bits <= 1023:
            raise ConfigurationError("ImagePreProcessingScaler needs low < high and 1 to 1023 bits, "
                                     f"got {low}, {high}, {max_bits}")
        self.min_range, self.max_range, self.max_pixel_val = float(low), float(high), float(2**max_bits - 1)
        super().__init__((self.max_range - self.min_range) / self.max_pixel_val, self.min_range)

    def __repr__(self) -> str:
        return f"ImagePreProcessingScaler({self.min_range}, {self.max_range}, max_pixel_val={self.max_pixel_val})"


class VGG16ImagePreProcessor(_ImageMap, VGG16ImagePreProcessorNames):
    """Subtracts the mean colour of ImageNet: 103.939, 116.779, 123.68 along axis 1 (blue, green, red).

    Shapes: features (examples, 3, height, width). Source: Simonyan and Zisserman, arXiv:1409.1556.
    """

    MEANS = (103.939, 116.779, 123.68)

    def __init__(self) -> None:
        super().__init__(1.0, -np.array(self.MEANS))


class ImageMultiPreProcessingScaler(MultiDataNormalization, ImageMultiPreProcessingScalerNames):
    """`ImagePreProcessingScaler` for some inputs of a MultiDataSet.

    Parameters
    ----------
    *arguments : int, or float, float[, int], list of int
        The numbers of the inputs; or low, high, optionally the bits of a pixel value, and the list of inputs.

    Examples
    --------
    >>> data = MultiDataSet([[[255.0]], [[255.0]]], [[[1.0]]])
    >>> [a.tolist() for a in ImageMultiPreProcessingScaler(0).transform(data).get_features()]
    [[[1.0]], [[255.0]]]
    """

    def __init__(self, *arguments: Any) -> None:
        plain = [a for a in arguments if not isinstance(a, (list, tuple))]
        indices = [i for a in arguments if isinstance(a, (list, tuple)) for i in a]
        if plain and isinstance(plain[0], float):
            scale, rest = plain[:2], plain[2:]
            bits, rest = (rest[:1], rest[1:]) if indices else ([], rest)
            self._scaler = ImagePreProcessingScaler(*scale, *bits)
        else:
            self._scaler, rest = ImagePreProcessingScaler(), plain
        self.feature_indices = [int(i) for i in (*rest, *indices)]
        if not self.feature_indices:
            raise ConfigurationError("ImageMultiPreProcessingScaler needs the number of at least one input")

    def fit(self, data: Any) -> None:
        """Does nothing: there is nothing to fit."""

    def _apply(self, data: MultiDataSet, inverse: bool) -> MultiDataSet:
        new = {i: self._scaler._apply(data.array("features", i), inverse) for i in self.feature_indices}
        for i, array in new.items():
            data.set_features(i, array)
        return data

    def transform(self, data: MultiDataSet) -> MultiDataSet:
        """Map the inputs in place; returns the data set."""
        return self._apply(data, False)

    def revert(self, data: MultiDataSet) -> MultiDataSet:
        """The inverse of `transform`."""
        return self._apply(data, True)
