"""Models from paths, bytes and objects."""
from __future__ import annotations

import os
from typing import Any

from ..codecs.regular_files import open_regular, path_of
from ..errors import FileFormatError, GraphError, MissingPackageError
from .bulk import without_bulk

MOST_BYTES = 2 << 30            # what the encoding of such files can hold


def model_of(source: Any) -> tuple[Any, str]:
    """The model, and the path of its file (empty: there is none), which has the bytes of large tensors."""
    try:
        from onnx import ModelProto
    except ImportError:
        raise MissingPackageError("importing ONNX models needs the package onnx: pip install onnx (or dl4py[onnx])") from None
    if isinstance(source, ModelProto):
        return source, ""
    if isinstance(source, (str, os.PathLike)):
        path = path_of(source)
        with open_regular(path) as stream:
            try:
                data = without_bulk(stream, MOST_BYTES)
            except FileFormatError as error:
                raise type(error)(f"{path}: {error}") from error
        return _parsed(ModelProto, data, f"{path}: "), os.path.abspath(path)
    if isinstance(source, (bytes, bytearray, memoryview)):
        return _parsed(ModelProto, bytes(source), ""), ""
    if hasattr(source, "read"):
        return _parsed(ModelProto, source.read(), ""), ""
    raise GraphError(f"an ONNX model is given as a path, bytes, a binary stream or a ModelProto; got {type(source).__name__}")


def _parsed(kind: Any, data: bytes, where: str) -> Any:
    from google.protobuf.message import DecodeError
    model = kind()
    try:
        model.ParseFromString(data)
    except DecodeError as error:
        raise FileFormatError(f"{where}this is no ONNX model: {error}") from error
    if not model.HasField("graph"):
        raise FileFormatError(f"{where}this is no ONNX model: it holds no graph")
    _check_texts(model, where)
    return model


def _check_texts(message: Any, where: str) -> None:
    """Names that are no UTF-8 come as bytes, which nothing that takes names takes."""
    for field, value in message.ListFields():
        if field.type == field.TYPE_STRING:
            if any(isinstance(v, bytes) for v in ([value] if isinstance(value, (str, bytes)) else value)):
                raise FileFormatError(f"{where}this is no ONNX model: {field.name} is no text: {value!r:.80}")
        elif field.type == field.TYPE_MESSAGE:
            for one in [value] if hasattr(value, "ListFields") else value:
                _check_texts(one, where)
