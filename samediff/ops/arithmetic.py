"""Arithmetic of two arrays, and of an array with a number."""
from __future__ import annotations

from ..families import binary, unary

binary("add", "math.add base.add var.add", lambda xp, x, y: x + y, "x + y.", scalar="add_scalar")
binary("subtract", "math.sub base.sub var.sub", lambda xp, x, y: x - y, "x - y.", scalar="sub_scalar")
binary("multiply", "math.mul base.mul var.mul", lambda xp, x, y: x * y, "x * y.", scalar="mul_scalar")
binary("divide", "math.div base.div var.div", lambda xp, x, y: x / y, "x / y.", scalar="div_scalar")
binary("reversesubtract", "math.rsub base.rsub var.rsub", lambda xp, x, y: y - x, "y - x.", scalar="rsub_scalar")
binary("reversedivide", "math.rdiv base.rdiv var.rdiv", lambda xp, x, y: y / x, "y / x.", scalar="rdiv_scalar")
unary("neg", "math.neg base.neg var.neg", lambda xp, x: -x, "-x.", rule="same")
