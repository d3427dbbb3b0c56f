"""Many files in few zips."""
from __future__ import annotations

import pytest

pytest.importorskip("pyspark")

from dl4py.samediff.errors import ConfigurationError, FileFormatError, PathError
from dl4py.spark import FileBatch, SparkDataUtils


def test_files_of_a_folder(tmp_path):
    for number in range(5):
        (tmp_path / f"{number}.csv").write_text(str(number))
    (tmp_path / "other.txt").write_text("x")
    made = SparkDataUtils.createFileBatchesLocal(tmp_path, ["csv"], False, tmp_path / "out", 2)
    batch = FileBatch.readFromZip(made[0])
    assert len(made) == 3 and len(batch) == 2 and batch.file_bytes == [b"0", b"1"] and batch.original_uris[1].endswith("1.csv")


@pytest.mark.parametrize("call, kind, text", [
    (lambda at: FileBatch.read_from_zip(at / "no.zip"), FileFormatError, "no batch of files"),
    (lambda at: SparkDataUtils.create_file_batches_local(at / "none", None, True, at, 2), PathError, "no such folder"),
    (lambda at: SparkDataUtils.create_file_batches_local(at, None, True, at, 0), ConfigurationError, "at least 1, got 0"),
], ids=["zip", "folder", "size"])
def test_what_is_refused(tmp_path, call, kind, text):
    (tmp_path / "no.zip").write_text("0")
    with pytest.raises(kind, match=text):
        call(tmp_path)
