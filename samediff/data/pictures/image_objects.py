"""Objects that pictures show, and files that say where they are."""
from __future__ import annotations

import os
import xml.etree.ElementTree as Xml
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...base.java_names import ImageObjectLabelProviderNames, ImageObjectNames
from ...codecs.regular_files import open_regular
from ...errors import FileFormatError, MissingPackageError
from ..splits.input_split import path_of

__all__ = ["ImageObject", "ImageObjectLabelProvider", "SvhnLabelProvider", "VocLabelProvider"]

Named = str | os.PathLike[str]


@dataclass(frozen=True)
class ImageObject(ImageObjectNames):
    """An object in a picture: its class and its box, in pixels from the top left corner.

    Parameters
    ----------
    x1, y1, x2, y2 : int
        Left, top, right and bottom.
    label : str
        The name of its class.

    Examples
    --------
    >>> ImageObject(5, 6, 25, 30, "dog").getXCenterPixels()
    15.0
    """

    x1: int
    y1: int
    x2: int
    y2: int
    label: str

    def get_x_center_pixels(self) -> float:
        """The middle between left and right."""
        return (self.x1 + self.x2) / 2

    def get_y_center_pixels(self) -> float:
        """The middle between top and bottom."""
        return (self.y1 + self.y2) / 2


class ImageObjectLabelProvider(ImageObjectLabelProviderNames):
    """Base of what knows the objects of pictures; a sub-class defines `get_image_objects_for_path`."""

    def get_image_objects_for_path(self, path: Named) -> list[ImageObject]:
        """The objects in the picture of that file."""
        raise NotImplementedError(f"{type(self).__name__} must implement get_image_objects_for_path(self, path)")


class VocLabelProvider(ImageObjectLabelProvider):
    """Objects by the XML files of Pascal VOC, in ``Annotations`` beside ``JPEGImages``.

    Parameters
    ----------
    base_directory : path
        The folder that holds both, such as ``VOCdevkit/VOC2012``.

    Raises
    ------
    FileFormatError
        There is no such folder, or no file for a picture, or an object in it without a name or a box.

    Notes
    -----
    Source: DataVec's ``VocLabelProvider``.
    """

    def __init__(self, base_directory: Named) -> None:
        self._folder = path_of(base_directory) / "Annotations"
        if not self._folder.is_dir():
            raise FileFormatError(f"Pascal VOC: {path_of(base_directory)} has no folder Annotations with a file NAME.xml for each picture")

    def get_image_objects_for_path(self, path: Named) -> list[ImageObject]:
        file = self._folder / f"{path_of(path).stem}.xml"
        if not file.is_file():
            raise FileFormatError(f"Pascal VOC: there is no {file} for the picture {path_of(path).name}")
        with open_regular(file) as stream:
            text = stream.read()
        if b"<!DOCTYPE" in text or b"<!ENTITY" in text:
            raise FileFormatError(f"{file}: declares entities, which no file of Pascal VOC does")
        try:
            return [_voc_object(one) for one in Xml.fromstring(text).iter("object")]
        except (Xml.ParseError, ValueError) as error:
            raise FileFormatError(f"{file}: {error}") from None


def _voc_object(element: Any) -> ImageObject:
    label = element.findtext("name")
    sides = [element.findtext(f"bndbox/{side}") for side in ("xmin", "ymin", "xmax", "ymax")]
    if label is None or None in sides:
        raise ValueError("an object has a name, and a bndbox of xmin, ymin, xmax and ymax")
    x1, y1, x2, y2 = (round(float(side)) for side in sides)
    return ImageObject(x1, y1, x2, y2, label.strip())


class SvhnLabelProvider(ImageObjectLabelProvider):
    """Digits of house numbers (SVHN) by the file ``digitStruct.mat`` that lies with the pictures; it needs the package ``h5py``.

    Parameters
    ----------
    folder : path
        The folder of the pictures and that file.

    Raises
    ------
    FileFormatError
        There is no such file, or it has another structure, or does not know a picture.

    Notes
    -----
    Source: DataVec's ``SvhnLabelProvider``. The digit 0, which the file calls 10, is "0".
    """

    def __init__(self, folder: Named) -> None:
        self._file = path_of(folder) / "digitStruct.mat"
        try:
            import h5py
        except ImportError:
            raise MissingPackageError("labels of SVHN are in a file of HDF5: pip install h5py") from None
        if not self._file.is_file():
            raise FileFormatError(f"SVHN: there is no {self._file}")
        try:
            with h5py.File(self._file, "r") as file:
                struct = file["digitStruct"]
                self._objects = {_text(file[name]): _digits(file, file[box])
                                 for name, box in zip(struct["name"][()].ravel(), struct["bbox"][()].ravel())}
        except (KeyError, OSError, ValueError, TypeError, IndexError) as error:
            raise FileFormatError(f"{self._file}: not the structure of SVHN ({error})") from None

    def get_image_objects_for_path(self, path: Named) -> list[ImageObject]:
        name = Path(path_of(path)).name
        if name not in self._objects:
            raise FileFormatError(f"{self._file} has no boxes for the picture {name}")
        return list(self._objects[name])


def _text(letters: Any) -> str:
    return "".join(map(chr, letters[()].ravel()))


def _digits(file: Any, boxes: Any) -> list[ImageObject]:
    """Values stand in the arrays themselves for one digit, and are referred to for several."""
    def values(name: str) -> list[int]:
        found = boxes[name][()].ravel()
        return [round(float(file[one][()].ravel()[0] if boxes[name].dtype.kind == "O" else one)) for one in found]

    columns = (values(name) for name in ("left", "top", "width", "height", "label"))
    return [ImageObject(x, y, x + width, y + height, str(digit % 10)) for x, y, width, height, digit in zip(*columns)]
