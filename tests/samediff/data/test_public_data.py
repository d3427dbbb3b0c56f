"""Iterators over public data sets, on small files in the original formats."""
from __future__ import annotations

import gzip
import hashlib
import io
import struct
import tarfile
import zipfile

import numpy as np
import pytest

from dl4py.samediff.data import (
    Cifar10DataSetIterator,
    CifarLoader,
    DataSetType,
    EmnistDataSetIterator,
    EMnistSet,
    IrisDataSetIterator,
    MnistDataSetIterator,
    UciSequenceDataSetIterator,
)
from dl4py.samediff.data.public.fetcher import RESOURCES, Resource
from dl4py.samediff.errors import ConfigurationError, FileFormatError, LimitError, TruncatedFileError


def idx(array):
    return struct.pack(f">I{array.ndim}I", 0x800 + array.ndim, *array.shape) + array.astype(np.uint8).tobytes()


def mnist(folder, images, labels, prefix="train", pack=gzip.compress, ending=".gz"):
    (folder / f"{prefix}-images-idx3-ubyte{ending}").write_bytes(pack(images))
    (folder / f"{prefix}-labels-idx1-ubyte{ending}").write_bytes(pack(labels))
    return folder


def digits(n):
    """Images that show their number in the first two pixels; 30 and 31 next to them."""
    images = np.zeros((n, 28, 28), np.uint8)
    images[:, 0, :4] = [(i % 256, i // 256, 30, 31) for i in range(n)]
    return images


def numbers(it):
    """Numbers of the images of one pass."""
    parts = []
    while it.has_next():
        parts.append(np.rint(it.next().features[:, :2] * 255) @ [1, 256])
    return np.concatenate(parts).astype(int).tolist()


def use(monkeypatch, tmp_path, name, data):
    """Put a file of the test in the place of a public one."""
    monkeypatch.setenv("DL4PY_DATA", str(tmp_path))
    wanted = Resource(RESOURCES[name].file, ("http://127.0.0.1:1/",), hashlib.sha256(data).hexdigest(), len(data))
    monkeypatch.setitem(RESOURCES, name, wanted)
    (tmp_path / wanted.file).parent.mkdir(exist_ok=True)
    (tmp_path / wanted.file).write_bytes(data)


@pytest.mark.parametrize("pack, ending", [(gzip.compress, ".gz"), (bytes, "")])
def test_mnist_in_order(tmp_path, pack, ending):
    mnist(tmp_path, idx(digits(10)), idx(np.arange(10)), pack=pack, ending=ending)
    it = MnistDataSetIterator(4, 7, top_level_dir=tmp_path)
    batch = it.next()
    assert batch.features.dtype == batch.labels.dtype == np.float32
    assert batch.features.shape == (4, 784) and batch.labels.argmax(axis=1).tolist() == [0, 1, 2, 3]
    assert batch.features[0, 3] == np.float32(31) / np.float32(255)
    assert [len(b) for b in it] == [4, 3] and (it.input_columns(), it.total_outcomes(), it.total_examples()) == (784, 10, 7)
    assert MnistDataSetIterator(4, 7, True, top_level_dir=tmp_path).next().features[1, :5].tolist() == [0, 0, 0, 1, 0]


@pytest.mark.slow
def test_the_order_is_that_of_dl4j(tmp_path):
    """First and last numbers of passes, recorded from DL4J 1.0.0-M2.1 with 60,000 such images."""
    mnist(tmp_path, idx(digits(60_000)), idx(np.arange(60_000) % 10), pack=bytes, ending="")
    it = MnistDataSetIterator(50, 170, False, True, True, 123, tmp_path)
    passes = []
    for _ in range(3):
        passes.append(numbers(it))
        it.reset()
    assert [p[:6] for p in passes] == [[6114, 27643, 46982, 57156, 55642, 59672], [53920, 14379, 585, 43866, 1531, 19885],
                                       [42739, 45581, 55642, 2867, 9634, 8502]]
    assert [p[-3:] for p in passes] == [[31259, 15861, 54713], [2209, 37452, 41617], [2209, 34657, 10064]]


def test_the_order_of_whole_parts_is_that_of_dl4j(tmp_path):
    """Recorded from DL4J 1.0.0-M2.1 with 10,000 such images."""
    mnist(tmp_path, idx(digits(10_000)), idx(np.arange(10_000) % 10), "t10k", bytes, "")
    it = MnistDataSetIterator(5000, 10_000, False, False, True, 5, tmp_path)
    first = numbers(it)
    it.reset()
    it.reset()      # a pass that has not begun keeps its order
    second = numbers(it)
    assert (first[:4], first[-3:]) == ([1963, 3600, 5666, 7132], [1388, 8020, 9487])
    assert (second[:4], second[-3:]) == ([6986, 6216, 4519, 6548], [4382, 655, 4243])


def test_mnist_by_part_and_seed(monkeypatch, tmp_path):
    for kind, data in (("images", idx(digits(6))), ("labels", idx(np.arange(6)))):
        use(monkeypatch, tmp_path, f"mnist-test-{kind}", gzip.compress(data))
    it = MnistDataSetIterator(4, False, 12)
    assert sorted(numbers(it)) == list(range(6)) and it.batch() == 4


BAD = {
    "type": (lambda i, j: (b"\0\0\x0d\x03" + i[4:], j), "begins with 00000d03, expected 00000803"),
    "rank": (lambda i, j: (j, j), "begins with 00000801, expected 00000803"),
    "short": (lambda i, j: (i[:-1], j), "ends early, 2352 bytes expected where 2351 are left"),
    "long": (lambda i, j: (i + b"x", j), "more bytes than its shape"),
    "huge": (lambda i, j: (i[:4] + struct.pack(">3I", 2**31, 28, 28), j), "at most"),
    "count": (lambda i, j: (i, idx(np.arange(2))), "3 images and 2 labels"),
    "class": (lambda i, j: (i, idx(np.array([1, 10, 2]))), "example 1 has class 10, expected 0 to 9"),
    "empty": (lambda i, j: (b"", j), "ends early"),
}


@pytest.mark.parametrize("spoil, message", BAD.values(), ids=BAD)
def test_bad_idx_files(tmp_path, spoil, message):
    mnist(tmp_path, *spoil(idx(digits(3)), idx(np.arange(3))), pack=bytes, ending="")
    with pytest.raises(FileFormatError, match=message) as caught:
        MnistDataSetIterator(4, 3, top_level_dir=tmp_path)
    assert isinstance(caught.value, LimitError) == (message == "at most")
    assert isinstance(caught.value, TruncatedFileError) == ("ends early" in message)


def test_bad_gzip_and_missing_files(tmp_path):
    with pytest.raises(FileNotFoundError, match="train-images"):
        MnistDataSetIterator(4, 3, top_level_dir=tmp_path)
    mnist(tmp_path, idx(digits(3)), idx(np.arange(3)), pack=lambda data: gzip.compress(data)[:40])
    with pytest.raises(FileFormatError, match="damaged gzip data"):
        MnistDataSetIterator(4, 3, top_level_dir=tmp_path)


def test_emnist(monkeypatch, tmp_path):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, count, first in (("letters", 5, 1), ("balanced", 3, 40)):
            archive.writestr(f"gzip/emnist-{name}-train-images-idx3-ubyte.gz", gzip.compress(idx(digits(count))))
            archive.writestr(f"gzip/emnist-{name}-train-labels-idx1-ubyte.gz", gzip.compress(idx(np.arange(count) + first)))
    use(monkeypatch, tmp_path, "emnist", stream.getvalue())
    letters = EmnistDataSetIterator("letters", 5, True, shuffle=False)
    batch = letters.next()
    assert batch.labels.argmax(axis=1).tolist() == [0, 1, 2, 3, 4] and batch.labels.shape == (5, 26)
    assert letters.get_labels()[:2] == letters.get_labels_arrays()[:2] == ["A", "B"]
    assert batch.features[1].reshape(28, 28)[:4, 0].tolist() == (np.float32([1, 0, 30, 31]) / np.float32(255)).tolist()
    balanced = EmnistDataSetIterator(EMnistSet.BALANCED, 5, True, 3)
    assert sorted(balanced.next().labels.argmax(axis=1).tolist()) == [40, 41, 42] and balanced.total_outcomes() == 47
    with pytest.raises(FileFormatError, match="no entry gzip/emnist-digits-test-images"):
        EmnistDataSetIterator("DIGITS", 5, False)
    with pytest.raises(ConfigurationError, match="unknown set of EMNIST 'x'; one of COMPLETE"):
        EmnistDataSetIterator("x", 5, False)


def test_the_sets_of_emnist():
    E = EmnistDataSetIterator
    assert [E.num_labels(s) for s in EMnistSet] == [62, 47, 47, 26, 10, 10]
    assert [E.is_balanced(s) for s in EMnistSet] == [False, False, True, False, True, True]
    assert (E.num_examples_train("LETTERS"), E.num_examples_test("LETTERS")) == (88_800, 14_800)
    assert E.get_labels_array("MERGE")[36:38] == ["a", "b"]


def records(first, count):
    """CIFAR records of red, green and blue areas whose values tell the record."""
    out = np.zeros((count, 3073), np.uint8)
    for i in range(count):
        out[i, 0] = (first + i) % 10
        out[i, 1:] = np.repeat([first + i, 100, 200], 1024)
    return out.tobytes()


def cifar(path_of_first="cifar-10-batches-bin/"):
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as archive:
        for i in range(6):
            name = f"data_batch_{i + 1}.bin" if i < 5 else "test_batch.bin"
            info = tarfile.TarInfo(path_of_first + name)
            data = records(10 * i, 2)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return stream.getvalue()


def test_cifar(monkeypatch, tmp_path):
    use(monkeypatch, tmp_path, "cifar10", cifar("../../../"))        # paths of an archive mean nothing
    it = Cifar10DataSetIterator(4, "TRAIN")
    batch = it.next()
    assert batch.features.shape == (4, 3, 32, 32) and batch.features.dtype == np.float32 and it.total_examples() == 10
    assert (batch.features[:, 0] == 200).all() and (batch.features[:, 1] == 100).all()
    assert (batch.features[:, 2, 0, 0] % 10 == batch.labels.argmax(axis=1)).all()
    assert it.get_labels()[3] == "cat" and sorted(p.name for p in tmp_path.iterdir()) == ["cifar10"]
    assert (it.total_outcomes(), it.next().features.shape[2]) == (CifarLoader.NUM_LABELS, CifarLoader.HEIGHT)
    test = Cifar10DataSetIterator(4, "TEST", rgb=True).next()
    assert sorted(test.features[:, 0, 0, 0].tolist()) == [50, 51] and (test.features[:, 2] == 200).all()
    for form in (("TEST",), ([32, 32], DataSetType.TEST), ([32, 32], "TEST", None, 7), (None, "TEST", 7), ("TEST", 7)):
        assert Cifar10DataSetIterator(4, *form, rgb=True).next().features.shape == (2, 3, 32, 32)
    small = [Cifar10DataSetIterator(4, (8, 6), "TRAIN", lambda picture, random: picture + 1, seed).next() for seed in (7, 7, 8)]
    assert small[0].features.shape == (4, 3, 8, 6) and small[0] == small[1] != small[2]
    with pytest.raises(ConfigurationError, match="no validation part"):
        Cifar10DataSetIterator(4, "VALIDATION")
    with pytest.raises(ConfigurationError, match="unknown DataSetType 'all'; one of TRAIN, TEST, VALIDATION"):
        Cifar10DataSetIterator(4, "all")


def test_bad_cifar_files(monkeypatch, tmp_path):
    (tmp_path / "test_batch.bin").write_bytes(records(0, 2)[:-1])
    with pytest.raises(FileFormatError, match="6145 bytes, expected a multiple of 3073"):
        Cifar10DataSetIterator(4, "TEST", folder=tmp_path)
    (tmp_path / "test_batch.bin").write_bytes(records(0, 2).replace(b"\1\1", b"\x0b\1", 1))
    with pytest.raises(FileFormatError, match="example 1 has class 11, expected 0 to 9"):
        Cifar10DataSetIterator(4, "TEST", folder=tmp_path)
    use(monkeypatch, tmp_path, "cifar10", cifar()[:100])
    with pytest.raises(FileFormatError, match="damaged archive"):
        Cifar10DataSetIterator(4)


def test_iris():
    it = IrisDataSetIterator(40, 100)
    batches = list(it)
    assert [len(b) for b in batches] == [40, 40, 20] and it.get_labels() == ["setosa", "versicolor", "virginica"]
    whole = IrisDataSetIterator().next()
    assert whole.features[149].tolist() == np.float32([5.9, 3.0, 5.1, 1.8]).tolist()
    assert whole.features.astype(np.float64).sum(axis=0) == pytest.approx([876.5, 458.1, 563.8, 179.8], rel=1e-5)
    assert whole.labels.sum(axis=0).tolist() == [50, 50, 50]


def charts():
    return "\n".join("  ".join(f"{row + step / 100:.4f}" for step in range(60)) for row in range(600))


def test_control_charts(tmp_path):
    file = tmp_path / "synthetic_control.data"
    file.write_text(charts() + "\n")
    train, test = (UciSequenceDataSetIterator(600, kind, file=file).next() for kind in ("TRAIN", "TEST"))
    assert (train.features.shape, train.labels.shape, test.features.shape) == ((450, 1, 60), (450, 6, 60), (150, 1, 60))
    rows = np.concatenate([train.features, test.features])[:, 0, 0].astype(int)
    assert sorted(rows.tolist()) == list(range(600))
    assert (train.labels.argmax(axis=1) == (rows[:450] // 100)[:, None]).all()
    assert train.features[0, 0, 7] == pytest.approx(rows[0] + 0.07)


@pytest.mark.parametrize("spoil, message", [
    (lambda t: t.rpartition("\n")[0], "599 series, expected 600"),
    (lambda t: t.replace("3.0100 ", "", 1), "series 3 has 59 values, expected 60"),
    (lambda t: t.replace("3.0100", "x", 1), "could not convert"),
    (lambda t: t.replace("3.0100", "nan", 1), "not finite"),
], ids=["rows", "columns", "text", "nan"])
def test_bad_control_charts(tmp_path, spoil, message):
    file = tmp_path / "synthetic_control.data"
    file.write_text(spoil(charts()))
    with pytest.raises(FileFormatError, match=message):
        UciSequenceDataSetIterator(4, file=file)
