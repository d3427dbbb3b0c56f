"""Files with trained weights, as DL4J publishes them."""
from __future__ import annotations

import os
import zlib
from dataclasses import dataclass
from pathlib import Path

from ...samediff.base.java.java_enum import JavaEnum
from ...samediff.errors import FileFormatError, PathError

_FOLDER = "https://dl4jdata.blob.core.windows.net/"


class PretrainedType(JavaEnum):
    """Data that a model of the zoo was trained on."""

    IMAGENET = "IMAGENET"
    MNIST = "MNIST"
    CIFAR10 = "CIFAR10"
    VGGFACE = "VGGFACE"
    SEGMENT = "SEGMENT"
    IMAGENETLARGE = "IMAGENETLARGE"


@dataclass(frozen=True)
class PretrainedFile:
    """A file that DL4J publishes: its name there, and the Adler-32 checksum that DL4J expects."""

    name: str
    checksum: int

    @property
    def url(self) -> str:
        """Where DL4J finds the file."""
        return _FOLDER + self.name

    def cached(self, model_name: str) -> Path:
        """The place where DL4J keeps the file once it has downloaded it."""
        return Path.home() / ".deeplearning4j" / "models" / model_name / self.name.rpartition("/")[2]

    def found(self, model_name: str) -> Path:
        """The file in DL4J's place.

        Raises
        ------
        PathError
            It is not there; nothing is downloaded.
        FileFormatError
            Its checksum is another one than that of the published file.
        """
        path = self.cached(model_name)
        if not path.is_file():
            raise PathError(f"nothing is downloaded here, and {path}, where DL4J keeps its copy, is no file; DL4J has it from {self.url}. "
                            "Fetch it and pass its place: init_pretrained(path=...)")
        if (found := _adler32(path)) != self.checksum:
            raise FileFormatError(f"{path}: the checksum is {found}, that of DL4J's file {self.checksum}; fetch it again from {self.url}, "
                                  "or pass path= for a file of your own, of which no checksum is expected")
        return path


def _adler32(path: str | os.PathLike[str]) -> int:
    value = 1
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            value = zlib.adler32(block, value)
    return value
