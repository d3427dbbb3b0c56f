"""User-defined ops: a function or a class becomes an op of every graph.

``@user_op("acme.swish")`` on array code is all; shape rule, gradients and kernels follow from it, and :func:`check_op` looks whether
they are right. :func:`vectorized` runs it over one more axis. DL4J's own form is :class:`UserDefinedCustomOp` with
``@user_defined_op``; :func:`new_op` and :func:`new_layer` write files to start from.
"""
from __future__ import annotations

if __name__ == "udf":
    raise ImportError("udf/ is the source folder of dl4py.udf: run `pip install -e .` once, then import dl4py.udf")

from ..samediff.base.user_code.check_report import Check
from ..samediff.ir.run_context import RunContext
from .checks.check import OpReport, check_op
from .java.java_op import user_defined_op
from .java.java_style import UserDefinedCustomOp
from .java.op_context import LongShapeDescriptor, OpContext
from .ops.base import UserOp
from .ops.user_op import UserFunction, user_op
from .ops.vectorized import Vectorized, vectorized
from .templates.plugin_package import new_plugin
from .templates.scaffold import new_layer, new_op

#: DL4J's spelling of :func:`user_defined_op`.
UserDefinedOp = user_defined_op

__all__ = ["Check", "LongShapeDescriptor", "OpContext", "OpReport", "RunContext", "UserDefinedCustomOp", "UserDefinedOp",
           "UserFunction", "UserOp", "Vectorized", "check_op", "new_layer", "new_op", "new_plugin", "user_defined_op", "user_op",
           "vectorized"]
