"""Arithmetic methods: ``add``, ``addi``, ``addRowVector`` … as DL4J computes them."""
from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ...errors import ShapeError
from ...ir.translate_errors import refusing
from ..computing import apply, built_in
from ..orders import arranged
from ..pairs import Method, combined, described, in_place, is_array, pairwise, put_into, refuse_bool


def _vectors(name: str, op_id: str, axis: int, changes: bool) -> Method:
    def method(self: Any, vector: Any) -> Any:
        given = vector if hasattr(vector, "shape") else np.asarray(vector)
        made = combined(self, given.reshape(beside(self, given, axis, name)), name, op_id, changes)
        return put_into(self, made, name) if changes else arranged(made, "C")
    what = ("row", "column")[axis]
    how = " In place." if changes else ""
    return described(method, name, f"The same with each {what} of this matrix and a vector as long as that, of rank 1 or 2; a "
                     f"vector has its own elements, and a single element counts for all.{how}")


def beside(x: Any, vector: Any, axis: int, name: str) -> tuple[int, ...]:
    """The shape in which a vector stands beside each row (axis 0) or column (axis 1) of a matrix, or beside another vector."""
    sizes, length = tuple(x.shape), int(np.prod(vector.shape))
    if len(sizes) in (1, 2) and length == sizes[1 - axis if len(sizes) == 2 else 0]:
        return (length,) if len(sizes) == 1 else (1, length) if axis == 0 else (length, 1)
    if length == 1:
        return (1,) * len(sizes)
    what = ("row", "column")[axis]
    raise ShapeError(f"{name} needs a matrix and a vector as long as its {what}s, or two vectors of one length; the array has shape "
                     f"{sizes}, the vector {length} elements")


@refusing("INDArray")
class Arithmetic:
    """Sums, differences, products, quotients, remainders."""

    __slots__ = ()

    add: ClassVar[Method] = pairwise("add", "add", "Sum: x + y.", np.add)
    sub: ClassVar[Method] = pairwise("sub", "subtract", "Difference: x - y.", np.subtract)
    mul: ClassVar[Method] = pairwise("mul", "multiply", "Product of elements: x * y.", np.multiply)
    div: ClassVar[Method] = pairwise("div", "divide", "Quotient: x / y; whole numbers truncate toward zero, and give 0 where y is 0.",
                                     np.true_divide, whole=False)
    rsub: ClassVar[Method] = pairwise("rsub", "reversesubtract", "Difference the other way round: y - x.")
    rdiv: ClassVar[Method] = pairwise("rdiv", "reversedivide", "Quotient the other way round: y / x.")
    addi: ClassVar[Method] = in_place("addi", "add", "Sum: x + y.", np.add)
    subi: ClassVar[Method] = in_place("subi", "subtract", "Difference: x - y.", np.subtract)
    muli: ClassVar[Method] = in_place("muli", "multiply", "Product of elements: x * y.", np.multiply)
    divi: ClassVar[Method] = in_place("divi", "divide", "Quotient: x / y.", np.true_divide)
    rsubi: ClassVar[Method] = in_place("rsubi", "reversesubtract", "Difference the other way round: y - x.")
    rdivi: ClassVar[Method] = in_place("rdivi", "reversedivide", "Quotient the other way round: y / x.")
    remainderi: ClassVar[Method] = in_place("remainderi", "remainder", "Remainder x - y n, with n the whole number nearest to x / y.")
    fmodi: ClassVar[Method] = in_place("fmodi", "fmod", "Remainder with the sign of x (C's fmod).")

    def fmod(self, other: Any, result: Any = None) -> Any:
        """Remainder: by a number with the sign of x (C's fmod), by an array with the sign of that, as DL4J has it."""
        made = combined(self, other, "fmod", "floormod" if is_array(other) else "fmod")
        return arranged(made, "C") if result is None else put_into(result, made, "fmod")

    def remainder(self, other: Any, result: Any = None) -> Any:
        """Remainder x - y n, with n the whole number nearest to x / y (IEEE 754)."""
        made = combined(self, other, "remainder", "remainder")
        return arranged(made, "C") if result is None else put_into(result, made, "remainder")

    def neg(self) -> Any:
        """Opposite: -x."""
        refuse_bool(self, "neg")
        return apply(built_in("neg"), self)

    def negi(self) -> Any:
        """Opposite: -x. In place."""
        return put_into(self, self.neg(), "negi")

    add_row_vector: ClassVar[Method] = _vectors("addRowVector", "add", 0, False)
    sub_row_vector: ClassVar[Method] = _vectors("subRowVector", "subtract", 0, False)
    mul_row_vector: ClassVar[Method] = _vectors("mulRowVector", "multiply", 0, False)
    div_row_vector: ClassVar[Method] = _vectors("divRowVector", "divide", 0, False)
    rsub_row_vector: ClassVar[Method] = _vectors("rsubRowVector", "reversesubtract", 0, False)
    rdiv_row_vector: ClassVar[Method] = _vectors("rdivRowVector", "reversedivide", 0, False)
    add_column_vector: ClassVar[Method] = _vectors("addColumnVector", "add", 1, False)
    sub_column_vector: ClassVar[Method] = _vectors("subColumnVector", "subtract", 1, False)
    mul_column_vector: ClassVar[Method] = _vectors("mulColumnVector", "multiply", 1, False)
    div_column_vector: ClassVar[Method] = _vectors("divColumnVector", "divide", 1, False)
    rsub_column_vector: ClassVar[Method] = _vectors("rsubColumnVector", "reversesubtract", 1, False)
    rdiv_column_vector: ClassVar[Method] = _vectors("rdivColumnVector", "reversedivide", 1, False)
    addi_row_vector: ClassVar[Method] = _vectors("addiRowVector", "add", 0, True)
    subi_row_vector: ClassVar[Method] = _vectors("subiRowVector", "subtract", 0, True)
    muli_row_vector: ClassVar[Method] = _vectors("muliRowVector", "multiply", 0, True)
    divi_row_vector: ClassVar[Method] = _vectors("diviRowVector", "divide", 0, True)
    rsubi_row_vector: ClassVar[Method] = _vectors("rsubiRowVector", "reversesubtract", 0, True)
    rdivi_row_vector: ClassVar[Method] = _vectors("rdiviRowVector", "reversedivide", 0, True)
    addi_column_vector: ClassVar[Method] = _vectors("addiColumnVector", "add", 1, True)
    subi_column_vector: ClassVar[Method] = _vectors("subiColumnVector", "subtract", 1, True)
    muli_column_vector: ClassVar[Method] = _vectors("muliColumnVector", "multiply", 1, True)
    divi_column_vector: ClassVar[Method] = _vectors("diviColumnVector", "divide", 1, True)
    rsubi_column_vector: ClassVar[Method] = _vectors("rsubiColumnVector", "reversesubtract", 1, True)
    rdivi_column_vector: ClassVar[Method] = _vectors("rdiviColumnVector", "reversedivide", 1, True)
