"""Parts of arrays by index descriptors, small integer arrays that may be computed."""
from __future__ import annotations

from collections.abc import Sequence

from ...base.spec import Shape, TensorSpec
from ...codecs.file_args import FileArgs
from ...errors import ShapeError
from ...ir.op import Specs, op
from .slicing import Entry, Sliced

#: How many numbers each kind of descriptor has.
_LENGTHS = {0: 5, 1: 7, 2: 4, 3: 4}


@op("create_view", api="base.create_view", inputs="x *indices", file=FileArgs())
class CreateView(Sliced):
    """The part of x that index descriptors name, one for each leading axis; changing x later does not change the result.

    A descriptor holds its kind, how many positions it has, a reserved number, the positions, and whether the end is included:

    | descriptor | selects |
    |---|---|
    | ``[0, 1, 1, position, 1]`` | one position; the axis goes away |
    | ``[1, 2, 1, begin, end, stride, inclusive]`` | an interval |
    | ``[2, 0, 1, 1]`` | the whole axis |
    | ``[3, 1, 10, 1]`` | a new axis of size 1 |

    Negative positions count from the end.
    """

    def infer(self, *specs: TensorSpec) -> Specs:
        for i, spec in enumerate(specs[1:]):
            if not spec.dtype.is_integer:
                raise ShapeError(f"index descriptor {i} must hold integers, got {spec.dtype.name}")
        return super().infer(*specs)

    def entries(self, rank: int, *numbers: Sequence[int]) -> list[Entry]:
        """One slice, index or new axis for each descriptor."""
        return [_entry(n) for n in numbers]

    def unknown(self, rank: int, *numbers: TensorSpec) -> Shape | None:
        """Points take axes away, new ones come."""
        return None


def _entry(numbers: Sequence[int]) -> Entry:
    kind = numbers[0] if len(numbers) else -1
    if _LENGTHS.get(kind) != len(numbers):
        raise ShapeError(f"index descriptor {list(numbers)} is none of [0, 1, 1, position, 1], [1, 2, 1, begin, end, stride, inclusive], "
                         "[2, 0, 1, 1] and [3, 1, 10, 1]")
    if kind == 0:
        return ("point", numbers[3], False)
    if kind == 1:
        begin, end, stride, inclusive = numbers[3:]
        return ("slice", begin, (end + 1 or None) if inclusive else end, stride)
    return ("slice", None, None, 1) if kind == 2 else "new"
