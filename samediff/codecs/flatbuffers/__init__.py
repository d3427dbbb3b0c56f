"""SameDiff graph files: FlatBuffers tables as dataclasses, read and written."""
