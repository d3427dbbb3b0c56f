"""User-defined ops: a function or a class becomes an op of every graph.

``@user_op("acme.swish")`` on array code is all; shape rule, gradients and kernels follow from it, and :func:`check_op` looks whether
they are right. DL4J's own form is :class:`UserDefinedCustomOp` with ``@user_defined_op``; :func:`new_op` and :func:`new_layer`
write files to start from.
"""
from __future__ import annotations

if __name__ == "udf":
    raise ImportError("udf/ is the source folder of dl4py.udf: run `pip install -e .` once, then import dl4py.udf")

from ..samediff.base.checks import Check
from .base import UserOp
from .check import OpReport, check_op
from .java_op import user_defined_op
from .java_style import UserDefinedCustomOp
from .op_context import LongShapeDescriptor, OpContext
from .scaffold import new_layer, new_op
from .user_op import UserFunction, user_op

#: DL4J's spelling of :func:`user_defined_op`.
UserDefinedOp = user_defined_op

__all__ = ["Check", "LongShapeDescriptor", "OpContext", "OpReport", "UserDefinedCustomOp", "UserDefinedOp", "UserFunction", "UserOp",
           "check_op", "new_layer", "new_op", "user_defined_op", "user_op"]
