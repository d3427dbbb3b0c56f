"""User-defined ops: a function or a class becomes an op of every graph."""
from __future__ import annotations

if __name__ == "udf":
    raise ImportError("udf/ is the source folder of dl4py.udf: run `pip install -e .` once, then import dl4py.udf")

from .base import UserOp
from .user_op import UserFunction, user_op

__all__ = ["UserFunction", "UserOp", "user_op"]
