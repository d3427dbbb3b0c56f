"""Padding by mirroring, as a kernel of its own."""
from __future__ import annotations

from ...base.enums import PadMode
from ...codecs.file_args import FileArgs
from ...ir.op import op
from .alias import AliasOp
from .pad import Pad


@op("mirror_pad", inputs="x padding", file=FileArgs(ints=("symmetric:bool",), properties={"isSymmetric": "b:symmetric"}))
class MirrorPad(AliasOp):
    """``pad`` in mode REFLECT, or SYMMETRIC: mirrored without the border element or with it."""

    symmetric: bool = False

    def target_op(self) -> Pad:
        """The ``pad`` op in the mode of the attribute."""
        return Pad(PadMode.SYMMETRIC if self.symmetric else PadMode.REFLECT)
