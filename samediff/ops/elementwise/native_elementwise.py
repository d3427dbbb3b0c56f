"""Elementwise ops that DL4J's graph files hold and no namespace offers."""
from __future__ import annotations

from typing import Any

from ...codecs.file_args import FileArgs
from ...families.families import binary


def _through_tanh(xp: Any, x: Any, upstream: Any) -> Any:
    t = xp.tanh(x)
    return upstream * (1 - t * t)


def _through_relu(xp: Any, x: Any, upstream: Any) -> Any:
    return xp.where(x > 0, upstream, 0)


binary("tanh_bp", "", _through_tanh, "upstream (1 - tanh(x)^2): gradient of tanh.", rule="match_float", inputs="x upstream",
       file=FileArgs())
binary("relu_bp", "", _through_relu, "upstream where x > 0, else 0: gradient of relu.", rule="match_float", inputs="x upstream",
       file=FileArgs())
