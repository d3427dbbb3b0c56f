"""Pillow, where it is installed."""
from __future__ import annotations

from typing import Any

from ...errors import MissingPackageError


def pillow() -> Any:
    """The module PIL.Image.

    Raises
    ------
    MissingPackageError
        It is not installed.
    """
    try:
        from PIL import Image
    except ImportError:
        raise MissingPackageError("reading JPEG pictures and others needs Pillow: pip install pillow (or dl4py[images])") from None
    return Image
