"""Places of pictures."""
from __future__ import annotations

from ...base.java_names import RecordMetaDataImageURINames
from ..records.record_meta_data import RecordMetaDataLine
from .decoding import size_of

__all__ = ["RecordMetaDataImageURI"]


class RecordMetaDataImageURI(RecordMetaDataLine, RecordMetaDataImageURINames):
    """The file of a picture; its size is read when somebody asks for it."""

    def get_orig_h(self) -> int:
        """Height of the picture in its file."""
        return size_of(self.uri)[1]

    def get_orig_w(self) -> int:
        """Width of the picture in its file."""
        return size_of(self.uri)[2]

    def get_orig_c(self) -> int:
        """Channels of the picture in its file."""
        return size_of(self.uri)[0]

    def get_location(self) -> str:
        return self.uri
