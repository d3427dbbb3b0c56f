"""Sizes of one convolution, and into what pieces its work is divided."""
from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...base.datatype import DataType
from ...base.spec import TensorSpec
from ...plans.window_geometry import WindowGeometry
from .window_geometry import offsets, served

if TYPE_CHECKING:
    from ...ops.conv.convolving import Geometry

#: Work is divided until there are so many blocks; not by the device at hand, so that all of them give the same bits.
BLOCKS = 264
#: Inner indices of a share at least, and at most where a result is the sum of very many.
SHORTEST, LONGEST = 128, 1 << 14
#: Elements of all shares together at most.
PART_ELEMENTS = 1 << 25


@dataclass(frozen=True)
class ConvolutionTile:
    """Rows and columns of a block, and of each of its threads."""

    rows: int
    columns: int
    own_rows: int
    own_columns: int

    @property
    def threads(self) -> int:
        """Number of threads of a block."""
        return self.rows // self.own_rows * (self.columns // self.own_columns)

    def blocks(self, rows: int, columns: int) -> tuple[int, int]:
        """Number of blocks along both axes."""
        return -(-rows // self.rows), -(-columns // self.columns)


TILES = LARGE, SQUARE, NARROW = ConvolutionTile(128, 128, 8, 8), ConvolutionTile(64, 64, 8, 4), ConvolutionTile(128, 32, 8, 4)


def tile_for(rows: int, columns: int) -> ConvolutionTile:
    """The one that leaves the least idle."""
    if columns <= 32:
        return NARROW
    return LARGE if columns > 64 and math.prod(LARGE.blocks(rows, columns)) >= BLOCKS // 2 else SQUARE


def shares_of(blocks: int, inner: int, size: int, sums_all: bool) -> int:
    """Into how many shares the inner indices are divided."""
    wanted = -(-BLOCKS // max(blocks, 1)) if blocks < BLOCKS // 2 else 1
    shares = max(1, min(wanted, inner // SHORTEST))
    if sums_all:
        shares = max(shares, -(-inner // LONGEST))
    return max(1, min(shares, PART_ELEMENTS // max(size, 1), 65535))


@dataclass(frozen=True)
class CudaConvolutionSizes:
    """Sizes of one convolution, and how weights lie in memory; ``last``: channels of images are next to each other."""

    grid: WindowGeometry
    dtype: DataType
    last: bool
    weights_format: str
    batch: int
    channels: int
    columns: int
    offsets: str

    @classmethod
    def of(cls, geometry: Geometry, x: TensorSpec, w: TensorSpec, *others: TensorSpec | None) -> CudaConvolutionSizes | None:
        """The sizes of a convolution; None where no kernel serves its inputs."""
        shape = x.shape or ()
        grid = WindowGeometry.of(geometry.window, shape[1:-1] if geometry.channels_last else shape[2:]) if served(x, w, *others) else None
        if grid is None:
            return None
        _, given, out = geometry.weight_sizes(w.shape or ())
        single = max(math.prod(grid.sizes), grid.places) == 1
        offset = offsets(x, w, TensorSpec((shape[0], out, grid.places), x.dtype))
        return cls(grid, x.dtype, geometry.channels_last or single, geometry.weights_format, shape[0], given, out, offset)

    @property
    def is_product(self) -> bool:
        """Whether it is a plain product of matrices."""
        return self.grid.is_identity and 0 not in (self.batch, self.channels, self.columns)

    def distances(self) -> tuple[int, int, int]:
        """Between neighbours along in, out and taps of the weights."""
        taps, given, out = self.grid.taps, self.channels, self.columns
        return {"YXIO": (out, 1, given * out), "OIYX": (taps, given * taps, 1), "OYXI": (1, given * taps, given)}[self.weights_format]

    def matrix(self, w: Any) -> Any:
        """Weights of a single tap as (in, out)."""
        return w.reshape(self.channels, self.columns) if self.weights_format == "YXIO" else w.reshape(self.columns, self.channels).T

    def repeated(self, matrix: Any, times: int) -> Any:
        """A matrix as a batch of equal ones, without a copy."""
        return np.broadcast_to(matrix, (times, *matrix.shape))

    def images(self, x: Any, channels: int) -> Any:
        """Images as matrices: (1, batch * places, channels) or (batch, channels, places)."""
        places = self.grid.places
        return x.reshape(1, self.batch * places, channels) if self.last else x.reshape(self.batch, channels, places)
