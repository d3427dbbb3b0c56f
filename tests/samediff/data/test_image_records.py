"""Pictures as arrays and records: sizes, channels, labels by folder, transforms; they need Pillow."""
from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest

from dl4py.samediff.data import (
    BoxImageTransform,
    CropImageTransform,
    EqualizeHistTransform,
    FileSplit,
    FlipImageTransform,
    ImagePreProcessingScaler,
    ImageRecordReader,
    JavaRandom,
    MultiImageTransform,
    NativeImageLoader,
    ParentPathLabelGenerator,
    PathLabelGenerator,
    PipelineImageTransform,
    RandomCropTransform,
    RecordReaderDataSetIterator,
    ResizeImageTransform,
    RotateImageTransform,
    ScaleImageTransform,
    ShowImageTransform,
    WarpImageTransform,
)
from dl4py.samediff.errors import DL4PyError

image = pytest.importorskip("PIL.Image")
COLOURS = {"blue": (0, 0, 255), "red": (255, 0, 0)}


def grey(height: int = 4, width: int = 6) -> np.ndarray:
    return np.arange(height * width, dtype=np.uint8).reshape(height, width) * 5


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, colour in COLOURS.items():
        (tmp_path / name).mkdir()
        for k in range(3):
            image.new("RGB", (8, 6), colour).save(tmp_path / name / f"{k}.png")
    return tmp_path


def test_loading(tmp_path):
    array = np.stack([grey(), grey() // 2, np.zeros_like(grey())], -1)       # red, green, blue
    picture = image.fromarray(array)
    picture.save(tmp_path / "a.png")
    stream = io.BytesIO((tmp_path / "a.png").read_bytes())
    for given in (tmp_path / "a.png", str(tmp_path / "a.png"), (tmp_path / "a.png").as_uri(), stream, stream.getvalue(), picture, array):
        found = NativeImageLoader(4, 6, 3).asMatrix(given)
        np.testing.assert_array_equal(found, array[:, :, ::-1].transpose(2, 0, 1)[None])
    assert NativeImageLoader().as_matrix(picture).shape == (1, 3, 4, 6) == NativeImageLoader(channels=3).as_matrix(grey()).shape
    assert NativeImageLoader(4, 6, 3).asMatrix(picture, False).shape == (1, 4, 6, 3)
    assert NativeImageLoader(2, 3, 1).asRowVector(picture).shape == (6,)
    np.testing.assert_array_equal(np.asarray(NativeImageLoader().as_image(NativeImageLoader().as_matrix(picture))), array)
    np.testing.assert_allclose(NativeImageLoader(2, 3, 1).as_matrix(grey())[0, 0], grey().reshape(2, 2, 3, 2).mean((1, 3)), atol=0.5)
    np.testing.assert_array_equal(NativeImageLoader(4, 5, 1, True).as_matrix(grey())[0, 0], grey()[:, 1:])        # DL4J cuts one side
    np.testing.assert_array_equal(NativeImageLoader(5, 4, 1, True).as_matrix(grey().T)[0, 0], grey().T[1:])
    for wrong, said in ((tmp_path / "no.png", "no.png"), (b"text", "not a picture"), ([1, 2], "a picture is a path")):
        with pytest.raises((DL4PyError, OSError), match=said):
            NativeImageLoader(2, 2, 1).as_matrix(wrong)


def test_records(folder):
    reader = ImageRecordReader(6, 8, 3, ParentPathLabelGenerator())
    reader.initialize(FileSplit(folder, NativeImageLoader.ALLOWED_FORMATS, JavaRandom(5)))
    assert reader.getLabels() == ["blue", "red"] and reader.numLabels() == 2
    array, label = reader.next()
    assert array.shape == (1, 3, 6, 8) and array[0, :, 0, 0].tolist() == list(COLOURS[reader.getLabels()[label]])[::-1]
    it = RecordReaderDataSetIterator(reader, 4, 1, 2)
    it.setPreProcessor(ImagePreProcessingScaler(0, 1))
    it.setCollectMetaData(True)
    passes = [list(it) for _ in range(3)]
    first, second = passes[0]
    assert first.features.shape == (4, 3, 6, 8) and second.labels.shape == (2, 2) and first.label_names == ["blue", "red"]
    assert len({tuple(place.uri for batch in one for place in batch.example_meta_data) for one in passes}) > 1      # shuffled anew
    for batch in (batch for one in passes for batch in one):
        np.testing.assert_array_equal(it.loadFromMetaData(batch.example_meta_data).features, batch.features)
        for features, hot, place in zip(batch.features, batch.labels, batch.example_meta_data):
            name = Path(place.uri).parent.name
            assert features[:, 0, 0].tolist() == [c / 255 for c in COLOURS[name][::-1]] and hot[["blue", "red"].index(name)] == 1
    assert it.loadFromMetaData(first.example_meta_data[:1]).features.shape == (1, 3, 6, 8)
    assert [len(batch) for batch in it] == [4, 2]
    with pytest.raises(DL4PyError, match="from 0 to 0, got 1; the files have 2 classes"):
        RecordReaderDataSetIterator(reader, 4, 1, 1)
    assert RecordReaderDataSetIterator(ImageRecordReader(6, 8, 1).initialize(folder), 4).next().features.shape == (4, 1, 6, 8)


class Number(PathLabelGenerator):
    def getLabelForPath(self, path):
        return float(Path(path).stem)

    def inferLabelClasses(self):
        return False


def test_numbers_as_labels(folder):
    it = RecordReaderDataSetIterator(ImageRecordReader(6, 8, 1, Number()).initialize(folder), 6, 1, 1, True)
    assert it.next().labels.ravel().tolist() == [0, 1, 2, 0, 1, 2]


#: A transform, and the size of what it makes of 4 x 6 pixels.
CHANGES = {
    "flip": (FlipImageTransform(JavaRandom(1)), (4, 6)), "warp": (WarpImageTransform(JavaRandom(1), 1), (4, 6)),
    "rotate": (RotateImageTransform(30), (4, 6)), "resize": (ResizeImageTransform(3, 2), (2, 3)),
    "scale": (ScaleImageTransform(0.0), (4, 6)),
    "crop": (CropImageTransform(JavaRandom(1), 0), (4, 6)), "part": (RandomCropTransform(2, 3), (2, 3)),
    "box": (BoxImageTransform(8, 2), (2, 8)),
    "equal": (EqualizeHistTransform(), (4, 6)), "show": (ShowImageTransform("title"), (4, 6)),
    "several": (MultiImageTransform(FlipImageTransform(0), FlipImageTransform(0)), (4, 6)),
    "pipeline": (PipelineImageTransform([(FlipImageTransform(1), 1.0), (FlipImageTransform(1), 1.0)], False), (4, 6)),
}
SAME = {"scale", "crop", "show", "several", "pipeline"}


@pytest.mark.parametrize("name", CHANGES)
def test_changes(name):
    change, size = CHANGES[name]
    picture = np.stack([grey().astype(np.float32)] * 3)
    found = np.asarray(change(picture, np.random.default_rng(0)))
    assert found.shape == (3, *size) and found.min() >= 0 and found.max() <= 255
    if name in SAME:
        np.testing.assert_array_equal(found, picture)


def test_changed_records(folder):
    reader = ImageRecordReader(6, 8, 3, ParentPathLabelGenerator()).initialize(FileSplit(folder), FlipImageTransform(1))
    assert RecordReaderDataSetIterator(reader, 6, 1, 2).next().features.shape == (6, 3, 6, 8)
    still = WarpImageTransform(0.0)(np.stack([grey().astype(np.float32)]), np.random.default_rng(0))
    np.testing.assert_allclose(still[0, 1:-1, 1:-1], grey()[1:-1, 1:-1], atol=1e-3)
