"""Programs with arrays alone: the examples of ND4J."""
from __future__ import annotations

from pathlib import Path

from dl4py import (
    BooleanIndexing,
    Conditions,
    DataSet,
    DataType,
    DynamicCustomOp,
    INDArray,
    Nd4j,
    NDArrayIndex,
    NormalizerMinMaxScaler,
    NormalizerStandardize,
    Transforms,
)


def basics(folder: Path):
    twoByThree = Nd4j.zeros(2, 3)
    vector = Nd4j.create([1.0, 2.0, 3.0, 4.0, 5.0])
    matrix = Nd4j.create([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    assert twoByThree.rank() == 2 and twoByThree.rows() == 2 and twoByThree.columns() == 3 and twoByThree.length() == 6
    assert vector.isVector() and not vector.isScalar() and matrix.isMatrix() and not matrix.isSquare()
    print(twoByThree.dataType(), vector.shapeInfoToString(), matrix)
    twoByThree.putScalar([0, 2], 7.0)
    copy = matrix.dup()
    copy.addi(10)
    assert twoByThree.getDouble(0, 2) == 7.0 and matrix.getDouble(0, 0) == 1.0 and copy.getDouble(0, 0) == 11.0

    random = Nd4j.rand(2, 2)
    gaussian = Nd4j.randn(2, 3)
    eye, line = Nd4j.eye(3), Nd4j.linspace(1, 10, 10, DataType.DOUBLE)
    stacked, hstacked = Nd4j.vstack(matrix, copy), Nd4j.hstack(matrix, copy)
    assert random.lt(1.0).all() and gaussian.shape() == (2, 3) and eye.sumNumber().doubleValue() == 3.0
    assert stacked.shape() == (4, 3) and hstacked.shape() == (2, 6) and line.getDouble(9) == 10.0

    rows = matrix.getRow(0)
    rows.muli(-1)                                               # a view
    assert matrix.getDouble(0, 1) == -2.0
    assert matrix.getColumns(0, 2).shape() == (2, 2) and matrix.get(NDArrayIndex.point(1), NDArrayIndex.all()).equals(matrix.getRow(1))
    part = matrix.get(NDArrayIndex.all(), NDArrayIndex.interval(1, 3))
    part.assign(0)
    assert matrix.sumNumber().intValue() == 3 and matrix.sum(1).getInt(1) == 4


def operations(folder: Path):
    a = Nd4j.linspace(1, 12, 12, DataType.FLOAT).reshape(3, 4)
    assert a.add(1).sub(1).mul(2).div(2).equals(a) and a.rsub(13).getDouble(0, 0) == 12 and a.rdiv(12).getDouble(2, 3) == 1
    assert a.addRowVector(Nd4j.ones(4)).getDouble(0, 0) == 2 and a.mulColumnVector(Nd4j.create([1.0, 2.0, 3.0])).getDouble(2, 3) == 36
    assert a.maxNumber().doubleValue() == 12 and a.meanNumber().doubleValue() == 6.5
    assert a.mean(0).equals(Nd4j.create([5.0, 6.0, 7.0, 8.0])) and a.std(1).shape() == (3,) and a.norm2Number().doubleValue() > 25
    assert Nd4j.argMax(a, 1).equals(Nd4j.createFromArray(3, 3, 3).castTo(DataType.LONG)) and Nd4j.argMin(a, 0).sumNumber().intValue() == 0
    assert a.cumsum(1).getDouble(0, 3) == 10

    product = a.mmul(a.transpose())
    assert product.shape() == (3, 3) and product.getDouble(0, 0) == 30
    assert a.reshape("f", 4, 3).getDouble(1, 0) == 5 and a.ravel().length() == 12 and a.permute(1, 0).equals(a.transpose())
    assert Nd4j.expandDims(a, 0).shape() == (1, 3, 4) and Nd4j.squeeze(Nd4j.expandDims(a, 0), 0).equals(a)
    assert Nd4j.concat(0, a, a).shape() == (6, 4) and Nd4j.pile(a, a).shape() == (2, 3, 4) and a.repeat(0, 2).shape() == (6, 4)

    BooleanIndexing.replaceWhere(a, 0.0, Conditions.greaterThan(10))
    assert a.getDouble(2, 3) == 0 and BooleanIndexing.firstIndex(a, Conditions.equals(0.0)).getInt(0) == 10
    assert BooleanIndexing.lastIndex(a, Conditions.equals(0.0)).getInt(0) == 11 and BooleanIndexing.or_(a, Conditions.lessThan(0.5))
    masked = a.cond(Conditions.lessThan(5)).castTo(DataType.FLOAT)
    assert masked.sumNumber().intValue() == 6

    x = Nd4j.create([-1.0, 0.0, 1.0])
    assert Transforms.abs(x).getDouble(0) == 1 and Transforms.sigmoid(x).getDouble(1) == 0.5
    assert Transforms.pow(x, 2).sumNumber().intValue() == 2
    assert Transforms.relu(x).sumNumber().intValue() == 1 and abs(Transforms.softmax(x).sumNumber().doubleValue() - 1) < 1e-6
    assert abs(Transforms.cosineSim(x, x) - 1) < 1e-6 and abs(Transforms.euclideanDistance(x, Nd4j.zeros(3)) - 2 ** 0.5) < 1e-6
    assert abs(Transforms.unitVec(x.dup()).norm2Number().doubleValue() - 1) < 1e-6 and Transforms.tanh(x, True).equals(Transforms.tanh(x))
    assert Nd4j.sort(x.dup(), False).getDouble(0) == 1 and Nd4j.reverse(x.dup()).getDouble(0) == 1


def custom_ops(folder: Path):
    labels = Nd4j.createFromArray([2, 0, 1, 1])
    oneHot = Nd4j.create(DataType.FLOAT, 4, 3)
    op = (DynamicCustomOp.builder("onehot").addInputs(labels).addOutputs(oneHot).addIntegerArguments(-1, 3)
          .addFloatingPointArguments(1.0, 0.0).build())
    Nd4j.exec(op)
    assert oneHot.getDouble(0, 2) == 1 and oneHot.sumNumber().intValue() == 4

    input = Nd4j.create([5.0, 1.0, 3.0])
    values = Nd4j.exec(DynamicCustomOp.builder("top_k").addInputs(input).addIntegerArguments(2, 1).build())
    assert values[0].equals(Nd4j.create([5.0, 3.0])) and values[1].getInt(0) == 0
    [outer] = Nd4j.exec(DynamicCustomOp.builder("matmul").addInputs(input.reshape(3, 1), input.reshape(1, 3)).build())
    assert outer.getDouble(0, 1) == 5.0


def serialization(folder: Path):
    arrWrite = Nd4j.linspace(1, 10, 10, DataType.FLOAT)
    Nd4j.saveBinary(arrWrite, folder / "tmp.bin")
    assert Nd4j.readBinary(folder / "tmp.bin").equals(arrWrite)
    Nd4j.writeTxt(arrWrite, str(folder / "tmp.txt"))
    assert Nd4j.readTxt(str(folder / "tmp.txt")).equalsWithEps(arrWrite, 1e-5)
    bytes = Nd4j.toByteArray(arrWrite)
    assert Nd4j.fromByteArray(bytes).equals(arrWrite)
    Nd4j.writeAsNumpy(arrWrite, folder / "tmp.npy")
    assert Nd4j.createFromNpyFile(folder / "tmp.npy").equals(arrWrite)


def normalizers(folder: Path):
    features = Nd4j.rand(DataType.FLOAT, 6, 3).muli(10)
    data = DataSet(features, Nd4j.ones(6, 1))
    standardize = NormalizerStandardize()
    standardize.fit(data)
    scaled = data.copy()
    standardize.transform(scaled)
    assert abs(scaled.getFeatures().meanNumber().doubleValue()) < 1e-5 and standardize.getMean().length() == 3
    standardize.revert(scaled)
    assert scaled.getFeatures().equalsWithEps(features, 1e-3)
    minMax = NormalizerMinMaxScaler(-1, 1)
    minMax.fit(data)
    minMax.preProcess(data)
    assert data.getFeatures().maxNumber().doubleValue() <= 1 and data.getFeatures().minNumber().doubleValue() >= -1


def logistic_regression(folder: Path):
    x = Nd4j.randn(DataType.DOUBLE, 60, 2)
    Nd4j.getRandom().setSeed(3)
    labels = x.getColumn(0).gt(x.getColumn(1)).castTo(DataType.DOUBLE)
    y = Nd4j.hstack(labels.reshape(60, 1), labels.rsub(1).reshape(60, 1))
    w = Nd4j.randn(DataType.DOUBLE, 2, 2).muli(0.01)
    first = loss(w, x, y)
    for _iter in range(60):
        p = Transforms.softmax(x.mmul(w))
        gradient = x.transpose().mmul(p.sub(y)).div(x.rows())
        w.subi(gradient.mul(1.5))
    assert loss(w, x, y) < 0.5 * first
    predicted = Nd4j.argMax(x.mmul(w), 1)
    right = predicted.eq(Nd4j.argMax(y, 1)).castTo(DataType.INT).sumNumber().intValue()
    assert right > 54


def loss(w: INDArray, x: INDArray, y: INDArray):
    logProbabilities = Transforms.log(Transforms.softmax(x.mmul(w)))
    return -y.mul(logProbabilities).sum(1).meanNumber().doubleValue()
