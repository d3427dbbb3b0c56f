"""Bytes and values: FlatBuffers, zip archives, Java's streams, ND4J's arrays. Nothing here knows a graph."""
