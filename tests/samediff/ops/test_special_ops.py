"""Special functions, rounding to few levels, boxes and checks: values as DL4J computes them, gradients and errors."""
import numpy as np
import pytest

from dl4py import DataType, Nd4j, SameDiff
from dl4py.samediff.errors import GradientError, GraphError, NumericalError, ShapeError

C = Nd4j.createFromArray
XS = np.linspace(-2, 3, 7)


def of(*values):
    return C(np.array(values))


@pytest.mark.parametrize(("name", "inputs", "wanted"), [
    ("polygamma", [of(2.0), of(0.3)], [-75.27253658872601]),
    ("zeta", [of(2.0, 3.0), of(0.5, 1.5)], [4.93480220054468, 0.41439832211716005]),
    ("igamma", [of(1.5), of(0.3)], [0.10356762665808854]), ("igammac", [of(1.5), of(0.3)], [0.8964323733419115]),
    ("betainc", [of(1.5), of(2.5), of(0.3)], [0.415687852298025]), ("compare_and_bitpack", [C(np.arange(16.0) % 5), of(2.0)], [24, 198])])
def test_values(name, inputs, wanted):
    np.testing.assert_allclose(getattr(Nd4j.math, name)(*inputs), wanted, rtol=1e-12)


@pytest.mark.parametrize(("narrow", "wanted"), [
    (True, [-15 / 14, -15 / 14, -3 / 7, 3 / 7, 9 / 7, 27 / 14, 27 / 14]), (False, [-1, -1, -0.4, 0.6, 1.4, 2, 2])])
def test_levels(narrow, wanted):
    np.testing.assert_allclose(Nd4j.math.fakeQuantWithMinMaxVars(C(XS), of(-1.0), of(2.0), 4, narrow), wanted, atol=1e-12)


def test_levels_of_channels_and_their_gradient():
    found = Nd4j.math.fakeQuantWithMinMaxVarsPerChannel(C(np.stack([XS, XS], 1)), of(-1.0, -0.5), of(2.0, 1.0), 4)
    np.testing.assert_allclose(found[:, 1], [-0.5, -0.5, -0.3, 0.5, 1, 1, 1], atol=1e-12)
    sd = SameDiff.create()
    x, low, high = sd.var("x", XS), sd.var("low", np.array([-1.0])), sd.var("high", np.array([2.0]))
    sd.math.fakeQuantWithMinMaxVars(x, low, high, 4).sum().markAsLoss()
    made = sd.calculateGradients({}, "x", "low", "high")
    assert made["x"].tolist() == [0, 0, 1, 1, 1, 0, 0] and made["low"].tolist() == [2] and made["high"].tolist() == [2]


def test_there_is_no_gradient_by_orders():
    sd = SameDiff.create()
    x = sd.var("x", np.array([0.5]))
    sd.math.igamma(sd.constant(np.array([1.5])), x).sum().markAsLoss()
    assert sd.calculateGradients({}, "x")["x"] == pytest.approx(np.sqrt(0.5) * np.exp(-0.5) / (np.sqrt(np.pi) / 2))
    sd = SameDiff.create()
    sd.math.igamma(sd.var("a", np.array([1.5])), sd.constant(np.array([0.5]))).sum().markAsLoss()
    with pytest.raises(GradientError, match="no gradient by its input 'a', and 'a' lies on the way"):
        sd.calculateGradients({}, "a")


def test_distinct_elements_are_counted():
    values, places, counts = Nd4j.base().uniqueWithCounts(C(np.array([3, 1, 3, 2, 1, 3])))
    assert (values.tolist(), places.tolist(), counts.tolist()) == ([3, 1, 2], [0, 1, 0, 2, 1, 0], [3, 2, 1])


def test_boxes():
    images, boxes = np.zeros((1, 5, 6, 1), np.float32), np.array([[[0.2, 0.1, 0.8, 0.7], [-0.1, 0.3, 0.5, 1.2]]], np.float32)
    drawn = Nd4j.image.drawBoundingBoxes(C(images), C(boxes), C(np.array([[1], [2]], np.float32)))
    np.testing.assert_array_equal(drawn[0, :, :, 0], [[1, 2, 2, 2, 2, 2], [1, 2, 0, 1, 0, 0], [1, 2, 2, 2, 2, 2], [1, 1, 1, 1, 0, 0],
                                                      [0, 0, 0, 0, 0, 0]])
    with pytest.raises(ShapeError, match="each of the 3 channels"):
        Nd4j.image.drawBoundingBoxes(C(np.zeros((1, 5, 6, 3), np.float32)), C(boxes), C(np.array([[1], [2]], np.float32)))
    overlaps, scores = np.array([[1, 0.6, 0.1], [0.6, 1, 0.2], [0.1, 0.2, 1]]), of(0.5, 0.9, 0.3)
    assert Nd4j.image.nonMaxSuppressionOverlaps(C(overlaps), scores, 3, 0.5, 0.0).tolist() == [1, 2]
    assert Nd4j.image.nonMaxSuppressionOverlaps(C(overlaps), scores, 3, 0.5, 0.4).tolist() == [1]


def test_greys_and_roots():
    assert Nd4j.image.rgbToGrayscale(of([[0.1, 0.2, 0.3]])).tolist() == [[[pytest.approx(0.18149)]]]
    root = Nd4j.linalg.sqrtm(of([2.0, 1.0], [1.0, 3.0]))
    np.testing.assert_allclose(root, [[1.376381920471173, 0.3249196962329063], [0.3249196962329063, 1.701301616704079]], rtol=1e-12)
    with pytest.raises(NumericalError, match="negative eigenvalues"):
        Nd4j.linalg.sqrtm(of([-1.0, 0.0], [0.0, 2.0]))


def test_a_check_of_numbers_says_its_message():
    sd = SameDiff.create()
    x = sd.placeHolder("x", DataType.DOUBLE, -1)
    y = sd.math.checkNumerics("y", x, sd.constant("m", np.array("after the division", object)))
    assert sd.output({"x": np.ones(2)}, "y")["y"].tolist() == [1, 1] and y.getShape() == (-1,)
    with pytest.raises(NumericalError, match="after the division: 1 of 2 elements are NaN or infinite"):
        sd.output({"x": np.array([1.0, np.inf])}, "y")


@pytest.mark.parametrize(("call", "said"), [
    (lambda: Nd4j.math.compareAndBitpack(Nd4j.ones(9), Nd4j.scalar(0.5)), "multiple of 8"),
    (lambda: Nd4j.math.fakeQuantWithMinMaxVars(Nd4j.ones(2), Nd4j.zeros(2), Nd4j.ones(2), 4), "min is one number"),
    (lambda: Nd4j.math.fakeQuantWithMinMaxVars(Nd4j.ones(2), Nd4j.zeros(1), Nd4j.ones(1), 1), "within 2 and 16")])
def test_what_is_refused(call, said):
    with pytest.raises(GraphError, match=said):
        call()
