"""Arrays in files and bytes, settings, and what is filled by hand: both spellings."""
from __future__ import annotations

import io

import numpy as np
import pytest

from dl4py import DataType, DynamicCustomOp, Nd4j

X = Nd4j.createFromArray(np.array([[1.5, -2.0], [0.25, 4.0]], np.float32))


@pytest.mark.parametrize(("write", "read"), [
    ("writeAsNumpy", "createFromNpyFile"), ("write_as_numpy", "create_from_npy_file"), ("writeNpy", "readNpy"), ("write_npy", "read_npy"),
    ("writeTxt", "readTxt"), ("write_txt", "read_txt"), ("saveBinary", "readBinary")])
def test_files_come_back(write, read, tmp_path):
    path = tmp_path / "x"
    getattr(Nd4j, write)(X, path)
    again = getattr(Nd4j, read)(path)
    assert again.equals(X) and again.dtype == X.dtype


@pytest.mark.parametrize(("write", "read"), [("toByteArray", "fromByteArray"), ("to_byte_array", "from_byte_array"),
                                             ("toNpyByteArray", "createNpyFromByteArray")])
def test_bytes_come_back(write, read):
    assert getattr(Nd4j, read)(getattr(Nd4j, write)(X)).equals(X)


def test_streams_archives_and_texts(tmp_path):
    stream = io.BytesIO()
    Nd4j.writeNpy(X, stream)
    for read in (Nd4j.createNpyFromInputStream, Nd4j.create_npy_from_input_stream):
        stream.seek(0)
        assert read(stream).equals(X)
    np.savez(tmp_path / "many.npz", a=np.asarray(X), b=np.arange(3))
    for read in (Nd4j.createFromNpzFile, Nd4j.create_from_npz_file):
        found = read(tmp_path / "many.npz")
        assert found["a"].equals(X) and found["b"].tolist() == [0, 1, 2]
    (tmp_path / "numbers.txt").write_text("1.5,-2\n0.25,4\n")
    assert Nd4j.readNumpy(tmp_path / "numbers.txt", ",").equals(X)
    assert Nd4j.read_numpy(DataType.DOUBLE, tmp_path / "numbers.txt", ",").dataType() is DataType.DOUBLE


@pytest.mark.parametrize("set_it", [Nd4j.setDataType, Nd4j.set_data_type])
def test_the_default_type(set_it):
    before = Nd4j.dataType()
    try:
        set_it(DataType.DOUBLE)
        assert Nd4j.create([1, 2]).dataType() is DataType.DOUBLE and Nd4j.createUninitializedDetached(2).dataType() is DataType.DOUBLE
    finally:
        set_it(before)
    assert Nd4j.create_uninitialized_detached(2, 3).shape == (2, 3)


@pytest.mark.parametrize("kind", [DataType.DOUBLE, DataType.HALF])
def test_what_has_the_default_type(kind):
    whole, half = Nd4j.createFromArray(1, 2, 6), Nd4j.create([0.5, 0.25])
    before = Nd4j.dataType()
    try:
        Nd4j.setDefaultDataTypes(kind, kind)
        made = [Nd4j.zeros(2), Nd4j.eye(2), Nd4j.rand(2, 2), Nd4j.valueArrayOf(2, 3.0), Nd4j.linspace(1, 3, 3), Nd4j.empty(),
                Nd4j.scalar(1.0), whole.mean(0), whole.std(0), whole.var(), whole.norm2(0), Nd4j.mean(whole), Nd4j.norm2(whole, 0)]
        assert {x.dataType() for x in made} == {kind} and whole.mean().getDouble(0) == 3
        others = [Nd4j.zerosLike(half), half.mean(0), half.entropy(0), Nd4j.scalar(np.float32(1))]
        assert {x.dataType() for x in others} == {DataType.FLOAT}
        assert whole.sum(0).dataType() is whole.dataType() is DataType.INT and whole.argMax(0).dataType() is DataType.LONG
    finally:
        Nd4j.setDefaultDataTypes(before, before)
    assert whole.mean().dataType() is DataType.FLOAT


def test_texts_are_those_of_dl4j():
    x = Nd4j.create(np.array([[0.44, -1.58], [0.0, -0.81]]), "f")
    assert Nd4j.writeTxtString(x) == (
        '{\n"filefrom": "dl4j",\n"ordering": "f",\n"shape":\t[2, 2],\n"data":\n[[  4.400000000000000000E-1,  -1.580000000000000000E0], \n'
        " [                        0, -8.100000000000000000E-1]]\n}\n")
    assert "[                        4,                       -9]" in Nd4j.writeTxtString(Nd4j.createFromArray(4, -9))


def test_what_stands_in():
    assert "cpu" in Nd4j.getBackend() and Nd4j.get_backend() == Nd4j.getBackend()
    assert repr(Nd4j.getNDArrayFactory()) == repr(Nd4j.get_nd_array_factory())


def test_inputs_and_outputs_by_hand():
    op = DynamicCustomOp.builder("add").build()
    op.set_input_arguments(X, X)
    op.set_input_argument(1, X.mul(2))
    op.set_output_arguments(Nd4j.zeros(2, 2))
    op.set_output_argument(0, Nd4j.ones(2, 2))
    assert op.num_output_arguments() == 1
    Nd4j.exec(op)
    assert op.output_arguments[0].equals(X.mul(3))
    op.clear_arrays()
    assert op.num_output_arguments() == 0 and not op.input_arguments
