"""Iterators over photographs, on archives made here; they need Pillow."""
from __future__ import annotations

import io
import sys
import tarfile
import zipfile

import numpy as np
import pytest

from dl4py.samediff.data import DataSetType, LFWDataSetIterator, TinyImageNetDataSetIterator
from dl4py.samediff.errors import ConfigurationError, FileFormatError, MissingPackageError


def jpeg(color, size=(8, 6)):
    image = pytest.importorskip("PIL.Image").new("RGB", size, color)
    stream = io.BytesIO()
    image.save(stream, "JPEG", quality=100)
    return stream.getvalue()


def faces(path, people):
    with tarfile.open(path, "w:gz") as archive:
        for name, photos in people.items():
            for i, data in enumerate(photos):
                info = tarfile.TarInfo(f"../lfw/{name}/{name}_{i:04}.jpg")
                info.size = len(data)
                archive.addfile(info, io.BytesIO(data))
    return path


def imagenet(path, pictures, annotations="v.JPEG\tn02\t0\t0\t9\t9\n", classes="n02\nn01\n"):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("tiny-imagenet-200/wnids.txt", classes)
        archive.writestr("tiny-imagenet-200/val/val_annotations.txt", annotations)
        for name, data in pictures.items():
            archive.writestr(f"tiny-imagenet-200/{name}", data)
    return path


def test_faces(tmp_path):
    file = faces(tmp_path / "lfw.tgz", {"Ann": [jpeg("red")], "Bob": [jpeg("lime")] * 3, "Cid": [jpeg("blue")] * 2})
    it = LFWDataSetIterator(6, img_dim=(6, 8, 3), file=file)
    batch = it.next()
    assert batch.features.shape == (6, 3, 6, 8) and it.get_labels() == ["Ann", "Bob", "Cid"]
    expected = np.array([[0, 0, 255], [0, 255, 0], [255, 0, 0]])[batch.labels.argmax(axis=1)]      # blue, green, red
    assert np.abs(batch.features.mean(axis=(2, 3)) - expected).max() < 4
    two = LFWDataSetIterator(6, img_dim=(3, 4, 1), num_labels=2, file=file)
    assert two.get_labels() == ["Bob", "Cid"] and two.next().features.shape == (5, 1, 3, 4)
    parts = [LFWDataSetIterator(9, None, (6, 8), None, train, 0.5, file=file).next() for train in (True, False)]
    assert [len(p) for p in parts] == [3, 3]
    assert (parts[0].labels.sum(axis=0) + parts[1].labels.sum(axis=0)).tolist() == [1, 3, 2]


def test_tiny_imagenet(tmp_path):
    file = imagenet(tmp_path / "tiny.zip", {"train/n01/images/n01_0.JPEG": jpeg("red"), "train/n02/images/n02_0.JPEG": jpeg("blue"),
                                            "val/images/v.JPEG": jpeg("blue"), "train/n01/n01_boxes.txt": b""})
    train = TinyImageNetDataSetIterator(4, file=file)
    batch = train.next()
    assert batch.features.shape == (2, 3, 64, 64) and train.get_labels() == ["n01", "n02"]
    assert (np.abs(batch.features[:, 0, 9, 9] - [0, 255][::1] @ batch.labels.T) < 4).all()
    test = TinyImageNetDataSetIterator(4, (6, 8), "TEST", file=file).next()
    assert test.features.shape == (1, 3, 6, 8) and test.labels.tolist() == [[0, 1]]
    assert test == TinyImageNetDataSetIterator(4, [6, 8], DataSetType.TEST, None, 9, file=file).next()


def test_bad_archives(tmp_path):
    with pytest.raises(FileFormatError, match="class n02 is not in wnids.txt"):
        TinyImageNetDataSetIterator(4, None, "TEST", file=imagenet(tmp_path / "a.zip", {}, classes="n01"))
    with pytest.raises(FileFormatError, match="no entry tiny-imagenet-200/val/images/v.JPEG"):
        TinyImageNetDataSetIterator(4, None, "TEST", file=imagenet(tmp_path / "b.zip", {}))
    with pytest.raises(FileFormatError, match="no pictures"):
        TinyImageNetDataSetIterator(4, file=imagenet(tmp_path / "c.zip", {}))
    with pytest.raises(FileFormatError, match="no photographs"):
        LFWDataSetIterator(4, file=faces(tmp_path / "d.tgz", {}))
    (tmp_path / "e.tgz").write_bytes(b"no archive")
    with pytest.raises(FileFormatError, match="damaged archive"):
        LFWDataSetIterator(4, file=tmp_path / "e.tgz")
    with pytest.raises(ConfigurationError, match="above 0 and at most 1"):
        LFWDataSetIterator(4, split_train_test=0.0)


def test_bad_pictures(tmp_path):
    pytest.importorskip("PIL.Image")
    it = LFWDataSetIterator(4, file=faces(tmp_path / "lfw.tgz", {"Ann": [b"no picture"]}))
    with pytest.raises(FileFormatError, match="picture 0: not a JPEG picture"):
        it.next()


def test_without_pillow(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(MissingPackageError, match="pip install pillow"):
        LFWDataSetIterator(4, file=faces(tmp_path / "lfw.tgz", {"Ann": [b"any"]})).next()
