"""Windows of 2 x 2 cells that do not overlap, a vector of them at a time, as LLVM code.

Neighbours along a row are told apart by shuffles of whole vectors, which Numba's vectoriser does for long rows only.
"""
# mypy: ignore-errors
from __future__ import annotations

from llvmlite import ir

from ..compiler.jit_functions import intrinsic, types
from ..matrix.tiles import VECTOR, VectorBuilder, real_of

_COUNT = ir.IntType(32)


class _Cells(VectorBuilder):
    """Cells of some windows: upper left, upper right, lower left and lower right ones."""

    def __init__(self, builder, kind, part):
        super().__init__(builder, real_of(kind), VECTOR // (kind.bitwidth // 8) // part.literal_value)

    def read(self, *rows):
        """Vectors of cells from the addresses of two rows."""
        found = []
        for row in rows:
            wide = self.load(row, ir.VectorType(self.real, 2 * self.lanes))
            found += [self.shuffle(wide, wide, range(odd, 2 * self.lanes, 2)) for odd in (0, 1)]
        return found

    def write(self, row, left, right):
        """Put two vectors of cells into a row."""
        order = [k // 2 + (k % 2) * self.lanes for k in range(2 * self.lanes)]
        self.store(self.shuffle(left, right, order), row)

    def shuffle(self, a, b, order):
        order = list(order)
        return self.b.shuffle_vector(a, b, ir.Constant(ir.VectorType(_COUNT, len(order)), order))

    def largest(self, cells):
        a, b, c, d = cells
        return self.larger(self.larger(a, b), self.larger(c, d))

    def larger(self, a, b):
        return self.intrinsic(f"maximum.{self.suffix}", self.vector, a, b, fastmath=("nsz",))


def _max(code, top, bottom, target):
    code.store(code.largest(code.read(top, bottom)), target)


def _max_back(code, top, bottom, given, upper, lower):
    cells, given = code.read(top, bottom), code.load(given)
    most, b = code.largest(cells), code.b
    taken, parts = None, []
    for cell in cells:
        here = b.or_(b.fcmp_ordered("oeq", cell, most), b.fcmp_unordered("uno", cell, cell))
        first = here if taken is None else b.and_(here, b.not_(taken))
        taken = here if taken is None else b.or_(taken, here)
        parts.append(b.select(first, given, code.zero))
    code.write(upper, *parts[:2])
    code.write(lower, *parts[2:])


@intrinsic(prefer_literal=True)
def largest_of_pairs(context, zero, part, top, bottom, target):
    """The largest of each window, NaN if there is one, from two rows."""
    def call(context, builder, signature, args):
        _max(_Cells(builder, zero, part), *args[2:])
        return context.get_dummy_value()
    return types.void(zero, part, *(types.int64,) * 3), call


@intrinsic(prefer_literal=True)
def put_at_largest(context, zero, part, top, bottom, given, upper, lower):
    """A number for each window at the first of its largest cells, 0 at the others; NaN is larger than all numbers."""
    def call(context, builder, signature, args):
        _max_back(_Cells(builder, zero, part), *args[2:])
        return context.get_dummy_value()
    return types.void(zero, part, *(types.int64,) * 5), call


@intrinsic(prefer_literal=True)
def sum_of_pairs(context, zero, part, top, bottom, share, target):
    """The sum of each window times its share."""
    def call(context, builder, signature, args):
        code = _Cells(builder, zero, part)
        a, b, c, d = code.read(*args[2:4])
        total = builder.fadd(builder.fadd(builder.fadd(a, b), c), d)
        code.store(builder.fmul(total, code.spread(args[4])), args[5])
        return context.get_dummy_value()
    return types.void(zero, part, types.int64, types.int64, zero, types.int64), call


@intrinsic(prefer_literal=True)
def put_at_pairs(context, zero, part, given, share, upper, lower):
    """A number for each window times its share, at all of its cells."""
    def call(context, builder, signature, args):
        code = _Cells(builder, zero, part)
        each = builder.fmul(code.load(args[2]), code.spread(args[3]))
        code.write(args[4], each, each)
        code.write(args[5], each, each)
        return context.get_dummy_value()
    return types.void(zero, part, types.int64, zero, types.int64, types.int64), call
