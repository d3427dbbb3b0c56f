"""Data types: what DL4J's methods say of them."""
import pytest

from dl4py.samediff import DataType

#: Whole, floating, numerical, signed, bytes: as DL4J answers.
FACTS = {
    "DOUBLE": (0, 1, 1, 1, 8), "FLOAT": (0, 1, 1, 1, 4), "HALF": (0, 1, 1, 1, 2), "BFLOAT16": (0, 1, 1, 1, 2), "LONG": (1, 0, 1, 1, 8),
    "INT": (1, 0, 1, 1, 4), "SHORT": (1, 0, 1, 1, 2), "BYTE": (1, 0, 1, 1, 1), "UBYTE": (1, 0, 1, 0, 1), "UINT16": (1, 0, 1, 0, 2),
    "UINT32": (1, 0, 1, 0, 4), "UINT64": (1, 0, 1, 0, 8), "BOOL": (0, 0, 0, 0, 1), "UTF8": (0, 0, 0, 0, -1),
    "COMPRESSED": (0, 0, 0, 0, -1), "UNKNOWN": (0, 0, 0, 0, -1),
}


@pytest.mark.parametrize("kind", DataType)
def test_facts_of_types(kind):
    assert (kind.isIntType(), kind.isFPType(), kind.isNumerical(), kind.isSigned(), kind.width()) == FACTS[kind.name]
    assert (kind.is_int_type(), kind.is_fp_type(), kind.is_numerical(), kind.is_signed()) == FACTS[kind.name][:4]
