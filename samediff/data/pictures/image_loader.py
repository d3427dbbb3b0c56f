"""Pictures as arrays in DL4J's order: channels first, blue, green, red."""
from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...base.java_names import NativeImageLoaderNames
from ...base.user_code.users_arrays import users_array
from ...codecs.regular_files import open_regular
from ...errors import ConfigurationError, DataTypeError, ShapeError
from ..normalizers.image_transforms import Transform, applied, resized
from ..normalizers.pillow import pillow
from ..splits.input_split import path_of
from .decoding import opened, pixels

__all__ = ["BaseImageLoader", "ImageLoader", "Java2DNativeImageLoader", "NativeImageLoader"]


class NativeImageLoader(NativeImageLoaderNames):
    """Loads pictures.

    Parameters
    ----------
    height, width : int, optional
        The size that pictures are brought to, bilinear as in OpenCV; that of the file without.
    channels : int, optional
        1 for grey, 3 for colours, 4 with transparency; as in the file without.
    *options : bool or ImageTransform
        Whether pictures whose sides differ are cut at the start of the longer side, by half of the difference; or a transform for every
        picture.
    center_crop_if_needed : bool, default False
        The first of these.
    image_transform : function of (picture, random), optional
        The second.

    Notes
    -----
    Source: DataVec's ``NativeImageLoader``. Pillow decodes; its values may differ from OpenCV's by 1 or 2 of 255 in JPEG files.

    Examples
    --------
    >>> grey = np.arange(4, dtype=np.uint8).reshape(2, 2)
    >>> NativeImageLoader(2, 2, 1).asMatrix(grey).tolist()
    [[[[0.0, 1.0], [2.0, 3.0]]]]
    """

    ALLOWED_FORMATS = ("bmp", "gif", "jpg", "jpeg", "pbm", "pgm", "ppm", "pnm", "png", "tif", "tiff", "webp")

    def __init__(self, height: int | None = None, width: int | None = None, channels: int | None = None, *options: Any,
                 center_crop_if_needed: bool = False, image_transform: Transform | None = None) -> None:
        for one in options:
            if isinstance(one, bool):
                center_crop_if_needed = one
            elif callable(one):
                image_transform = one
        if channels not in (None, 1, 3, 4) or (height is None) != (width is None) or (height is not None and min(height, width or 0) < 1):
            raise ConfigurationError("NativeImageLoader takes height and width, at least 1, and 1, 3 or 4 channels; "
                                     f"got {height}, {width}, {channels}")
        self.height, self.width, self.channels = height, width, channels
        self.center_crop_if_needed, self.image_transform = bool(center_crop_if_needed), image_transform
        self._random = np.random.default_rng(0)

    def as_matrix(self, image: Any, nchw: bool = True) -> NDArray[np.float32]:
        """The picture. Shapes: (1, channels, height, width), or (1, height, width, channels) without ``nchw``; values 0 to 255.

        Parameters
        ----------
        image : path, bytes, open file, picture of Pillow, or array
            Arrays are (height, width) or (height, width, channels) with red first, as Pillow, matplotlib and imageio give them.
        nchw : bool, default True
            Whether channels come first.
        """
        transform, random = self.image_transform, self._random
        picture = self.picture(image, None if transform is None else lambda found: applied(transform, found, random))
        return users_array((picture if nchw else picture.transpose(1, 2, 0))[None])  # type: ignore[no-any-return]

    def picture(self, image: Any, change: Callable[[NDArray[np.float32]], NDArray[np.float32]] | None = None) -> NDArray[np.float32]:
        """The picture, changed before it is brought to its size; without the loader's transform. Shapes: (channels, height, width)."""
        found = _values(image, self.channels).astype(np.float32)
        if change is not None:
            found = change(found)
        if self.height is None or self.width is None or found.shape[1:] == (self.height, self.width):
            return found
        if self.center_crop_if_needed:
            found = _cropped(found)
        return np.rint(resized(found, self.height, self.width))

    def as_row_vector(self, image: Any) -> NDArray[np.float32]:
        """The picture as one row. Shapes: (values,)."""
        return users_array(np.asarray(self.as_matrix(image)).ravel())  # type: ignore[no-any-return]

    def as_image(self, matrix: Any) -> Any:
        """Pillow's picture of an array as `as_matrix` gives it."""
        values = np.asarray(matrix)
        values = values[0] if values.ndim == 4 else values
        if values.ndim != 3 or values.shape[0] not in (1, 3, 4):
            raise ShapeError(f"expected an array (1, channels, height, width) of 1, 3 or 4 channels, got {np.shape(matrix)}")
        values = np.clip(np.rint(values), 0, 255).astype(np.uint8)
        order = [2, 1, 0, 3][:len(values)] if len(values) > 1 else [0]
        return pillow().fromarray(np.ascontiguousarray(values[order].transpose(1, 2, 0)) if len(values) > 1 else values[0])

    def get_allowed_formats(self) -> list[str]:
        """Endings of the files that are read."""
        return list(self.ALLOWED_FORMATS)


#: DL4J's others, which load in another way with the same result, and their base.
BaseImageLoader = NativeImageLoader
ImageLoader = NativeImageLoader
Java2DNativeImageLoader = NativeImageLoader


def _cropped(picture: NDArray[np.float32]) -> NDArray[np.float32]:
    """The longer side without half of what it is longer, at its start: DL4J's crop, of the middle or not."""
    _, height, width = picture.shape
    return picture[:, max(0, height - width) // 2:, max(0, width - height) // 2:]


def _values(image: Any, channels: int | None) -> NDArray[Any]:
    """Shapes: (channels, height, width)."""
    if isinstance(image, (str, os.PathLike)):
        path = path_of(image)
        with open_regular(path) as file:
            return pixels(opened(file.read(), str(path), channels=channels))
    if isinstance(image, (bytes, bytearray)):
        return pixels(opened(bytes(image), "bytes of a picture", channels=channels))
    if hasattr(image, "read"):
        return pixels(opened(image.read(), str(getattr(image, "name", "open file")), channels=channels))
    if hasattr(image, "convert") and hasattr(image, "mode"):
        mode = {None: "L" if image.mode in ("1", "L") else "RGB", 1: "L", 3: "RGB", 4: "RGBA"}[channels]
        return pixels(image.convert(mode))
    array = np.asarray(image)
    if array.dtype.kind not in "iuf" or array.ndim not in (2, 3):
        raise DataTypeError(f"a picture is a path, bytes, an open file, a picture of Pillow, or an array (height, width[, channels]); got "
                            f"{type(image).__name__}{array.shape if array.ndim else ''}")
    if array.ndim == 3:
        array = array[:, :, [2, 1, 0, *range(3, array.shape[2])]] if array.shape[2] >= 3 else array
        if channels == 1 and array.shape[2] >= 3:
            array = (array[:, :, :3] @ np.array([0.114, 0.587, 0.299]))[:, :, None]
        array = array.transpose(2, 0, 1)
    else:
        array = array[None]
    return np.repeat(array, channels, 0) if channels in (3, 4) and len(array) == 1 else array
