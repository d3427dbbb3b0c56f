"""Large files of delimited numbers, by Arrow's parser where pyarrow is installed: as exact as NumPy's reader, and several times as fast."""
from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ...codecs.regular_files import open_regular

#: Bytes up to which a file is not worth loading pyarrow.
SMALL = 1 << 20

_BOM = b"\xef\xbb\xbf"


def read_numbers(path: Path, delimiter: str, skip: int) -> NDArray[np.float64] | None:
    """The table of a file of numbers, without its first lines; None where the file is small or needs a reader that knows more.

    That is: values that are no plain finite numbers (quoted ones too), rows of different length, unusual delimiters, lines that end with a
    carriage return only.
    """
    if not delimiter.isascii() or delimiter.isalnum() or delimiter in "+-._\r\n" or path.stat().st_size < SMALL:
        return None
    try:
        import pyarrow as pa
        from pyarrow import csv
    except ImportError:
        return None
    with open_regular(path) as file:
        heads = [file.readline() for _ in range(skip)]
        first = file.readline()
        while first and not first.strip(b"\r\n"):
            first = file.readline()
        if not first or first.startswith(_BOM) or any(b"\r" in line.rstrip(b"\r\n") for line in (*heads, first)):
            return None
        names = [str(k) for k in range(first.count(delimiter.encode()) + 1)]
        file.seek(sum(map(len, heads)))
        try:
            table = csv.read_csv(file, csv.ReadOptions(column_names=names),
                                 csv.ParseOptions(delimiter=delimiter, quote_char=False),
                                 csv.ConvertOptions(check_utf8=False, column_types=dict.fromkeys(names, pa.float64()), null_values=[]))
        except pa.ArrowInvalid:
            return None
    made = np.empty((table.num_rows, len(names)))
    for k, column in enumerate(table.columns):
        made[:, k] = column.to_numpy()
    return made if np.isfinite(made).all() else None
