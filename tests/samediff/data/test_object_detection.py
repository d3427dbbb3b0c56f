"""Pictures with the objects in them: files that name these, grids of labels, boxes under transforms."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff.data import (
    BoxImageTransform,
    CollectionInputSplit,
    CropImageTransform,
    EqualizeHistTransform,
    FileSplit,
    FlipImageTransform,
    ImageObject,
    ImageObjectLabelProvider,
    ImageTransform,
    ObjectDetectionRecordReader,
    PipelineImageTransform,
    RandomCropTransform,
    RecordReaderDataSetIterator,
    ResizeImageTransform,
    RotateImageTransform,
    ScaleImageTransform,
    SvhnLabelProvider,
    VocLabelProvider,
    WarpImageTransform,
)
from dl4py.samediff.errors import ConfigurationError, FileFormatError

image = pytest.importorskip("PIL.Image")

OBJECTS = [[("dog", 5, 6, 25, 30), ("cat", 20, 10, 31, 39)], [("cat", 2, 3, 30, 60)]]
#: Of the first picture on a grid of 4 x 4 cells, as DL4J has them: channel, row, column, value.
CELLS = [(0, 1, 1, 1 / 3), (0, 2, 1, 4 / 3), (1, 1, 1, 0.6), (1, 2, 1, 1.0), (2, 1, 1, 5 / 3), (2, 2, 1, 31 / 15), (3, 1, 1, 3.0),
         (3, 2, 1, 3.9), (4, 2, 1, 1.0), (5, 1, 1, 1.0)]
FLIPPED = [(0, 1, 2, 34 / 15), (0, 2, 2, 28 / 15), (1, 1, 2, 0.6), (1, 2, 2, 1.0), (2, 1, 2, 3.6), (2, 2, 2, 2.6), (3, 1, 2, 3.0),
           (3, 2, 2, 3.9), (4, 2, 2, 1.0), (5, 1, 2, 1.0)]


@pytest.fixture()
def voc(tmp_path):
    for name in ("JPEGImages", "Annotations"):
        (tmp_path / name).mkdir()
    for k, (width, height) in enumerate([(60, 40), (32, 64)]):
        pixels = np.random.default_rng(k).integers(0, 255, (height, width, 3), dtype=np.uint8)
        image.fromarray(pixels).save(tmp_path / "JPEGImages" / f"im{k}.jpg")
        objects = "".join(
            f"<object><name>{name}</name><part><name>head</name><bndbox><xmin>1</xmin></bndbox></part><bndbox><xmin>{x1}</xmin><ymin>{y1}</ymin>"
            f"<xmax>{x2}</xmax><ymax>{y2}</ymax></bndbox></object>" for name, x1, y1, x2, y2 in OBJECTS[k])
        (tmp_path / "Annotations" / f"im{k}.xml").write_text(f"<annotation><filename>im{k}.jpg</filename>{objects}</annotation>")
    return tmp_path


def cells(label):
    return [(*map(int, place), pytest.approx(float(label[tuple(place)]))) for place in np.argwhere(label)]


def reader(folder, *options, height=32, width=32):
    made = ObjectDetectionRecordReader(height, width, 3, 4, 4, *options, VocLabelProvider(folder))
    return made.initialize(CollectionInputSplit([folder / "JPEGImages" / f"im{k}.jpg" for k in range(2)]))


def test_files_of_pascal_voc(voc):
    found = VocLabelProvider(str(voc)).getImageObjectsForPath(voc / "JPEGImages" / "im0.jpg")
    assert found == [ImageObject(5, 6, 25, 30, "dog"), ImageObject(20, 10, 31, 39, "cat")]
    assert (found[0].getXCenterPixels(), found[0].getYCenterPixels(), found[0].getX1(), found[0].getLabel()) == (15, 18, 5, "dog")


def test_records_have_cells_of_boxes(voc):
    made = reader(voc)
    picture, label = made.next()
    assert made.get_labels() == ["cat", "dog"] and np.shape(picture) == (1, 3, 32, 32) and cells(np.asarray(label)[0]) == CELLS
    last = reader(voc, False)
    picture, label = last.next()
    assert np.shape(picture) == (1, 32, 32, 3) and cells(np.asarray(label)[0].transpose(2, 0, 1)) == CELLS


def test_batches_know_classes_and_places(voc):
    iterator = RecordReaderDataSetIterator(reader(voc), 2, 1, 1, True)
    iterator.setCollectMetaData(True)
    data = iterator.next()
    assert data.features.shape == (2, 3, 32, 32) and data.labels.shape == (2, 6, 4, 4) and cells(data.labels[0]) == CELLS
    assert iterator.get_labels() == ["cat", "dog"] and iterator.total_outcomes() == 6 and not iterator.has_next()
    place = data.get_example_meta_data()[0]
    assert (place.getOrigH(), place.getOrigW(), place.getOrigC()) == (40, 60, 3) and place.getURI().endswith("im0.jpg")
    again = iterator.loadFromMetaData(place)
    assert np.array_equal(again.features, data.features[:1]) and np.array_equal(again.labels, data.labels[:1])


def test_boxes_go_along_with_pictures(voc):
    whole, flipped = reader(voc).next(), reader(voc, FlipImageTransform(1)).next()
    assert cells(np.asarray(flipped[1])[0]) == FLIPPED
    assert np.allclose(np.asarray(whole[0])[..., ::-1], flipped[0], atol=1)
    cut = reader(voc, CutRight()).next()
    assert {place[0] for place in np.argwhere(np.asarray(cut[1])[0])} == {0, 1, 2, 3, 5}        # the cat is outside


class CutRight(ImageTransform):
    def moved(self, picture, points, random):
        return picture[:, :, :20], points


class Objects(ImageObjectLabelProvider):
    def getImageObjectsForPath(self, path):
        return [ImageObject(0, 0, 200, 20, "far")]


@pytest.mark.parametrize("act, error, said", [
    (lambda folder: ObjectDetectionRecordReader(32, 32, 3, 4, 4), ConfigurationError, "label provider"),
    (lambda folder: ObjectDetectionRecordReader(32, 32, 3, 4, 4, Objects(), lambda picture, random: picture), ConfigurationError, "moved"),
    (lambda folder: ObjectDetectionRecordReader(32, 32, 3, 4, 4, Objects()).initialize(FileSplit(folder / "JPEGImages")).next(),
     FileFormatError, "im0.jpg: the middle of a box of 'far'"),
    (lambda folder: VocLabelProvider(folder / "JPEGImages"), FileFormatError, "Annotations"),
    (lambda folder: VocLabelProvider(folder).get_image_objects_for_path("im7.jpg"), FileFormatError, "im7.xml"),
    (lambda folder: reader(folder, type("Own", (ImageTransform,), {"__call__": lambda self, picture, random: picture})()).next(),
     NotImplementedError, "moved"),
    (lambda folder: reader(folder, PipelineImageTransform(lambda picture, random: picture)).next(), ConfigurationError, "moved"),
], ids=["no provider", "function", "outside", "no annotations", "unknown picture", "own transform", "pipeline"])
def test_what_is_refused(voc, act, error, said):
    with pytest.raises(error, match=said):
        act(voc)


@pytest.mark.parametrize("text", ["<annotation><object><name>a</name></object></annotation>", "<annotation>",
                                  "<!DOCTYPE a [<!ENTITY b 'c'>]><annotation/>"])
def test_damaged_files_are_told(voc, text):
    (voc / "Annotations" / "im0.xml").write_text(text)
    with pytest.raises(FileFormatError, match="im0.xml"):
        VocLabelProvider(voc).get_image_objects_for_path("im0.jpg")


def test_house_numbers(tmp_path):
    h5py = pytest.importorskip("h5py")
    boxes = {"1.png": [(1, 10, 20, 5, 8)], "2.png": [(10, 4, 6, 3, 7), (9, 8, 6, 3, 7)]}
    with h5py.File(tmp_path / "digitStruct.mat", "w") as file:
        struct, kind = file.create_group("digitStruct"), h5py.ref_dtype
        names, places = (struct.create_dataset(name, (len(boxes), 1), kind) for name in ("name", "bbox"))
        for k, (name, digits) in enumerate(boxes.items()):
            names[k, 0] = file.create_dataset(f"refs/name{k}", data=np.array([[ord(c)] for c in name], np.uint16)).ref
            box = file.create_group(f"refs/box{k}")
            for column, part in enumerate(("label", "left", "top", "width", "height")):
                values = [np.array([[digit[column]]], float) for digit in digits]
                if len(values) == 1:
                    box.create_dataset(part, data=values[0])
                else:
                    box.create_dataset(part, (len(values), 1), kind)[...] = np.array(
                        [[file.create_dataset(f"refs/{k}{part}{i}", data=value).ref] for i, value in enumerate(values)], dtype=kind)
            places[k, 0] = box.ref
    provider = SvhnLabelProvider(tmp_path)
    assert provider.getImageObjectsForPath(tmp_path / "1.png") == [ImageObject(10, 20, 15, 28, "1")]
    assert provider.get_image_objects_for_path("2.png") == [ImageObject(4, 6, 7, 13, "0"), ImageObject(8, 6, 11, 13, "9")]
    with pytest.raises(FileFormatError, match="3.png"):
        provider.get_image_objects_for_path("3.png")


@pytest.mark.parametrize("transform", [
    FlipImageTransform(-1), FlipImageTransform(), CropImageTransform(5), RotateImageTransform(40), WarpImageTransform(8),
    ScaleImageTransform(9), ResizeImageTransform(60, 30), RandomCropTransform(30, 35), BoxImageTransform(60, 30), EqualizeHistTransform(),
    PipelineImageTransform(RotateImageTransform(20), (WarpImageTransform(4), 0.5), FlipImageTransform())],
    ids=lambda one: type(one).__name__)
def test_points_lie_where_their_pixels_do(transform):
    for seed in range(4):
        x, y = np.random.default_rng(seed).integers(14, 26, 2)
        picture = np.zeros((1, 40, 50), np.float32)
        picture[0, y - 1:y + 2, x - 1:x + 2] = 255
        changed, points = transform.moved(picture, np.array([[x, y]], float), np.random.default_rng(seed))
        rows, columns = np.indices(np.shape(changed)[1:])
        spot = [float((changed[0] * at).sum() / changed[0].sum()) for at in (columns, rows)]
        assert np.allclose(points[0], spot, atol=0.4)
        assert np.array_equal(changed, transform(picture, np.random.default_rng(seed)))
