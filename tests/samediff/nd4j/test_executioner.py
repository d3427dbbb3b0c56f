"""What DL4J's executioner, contexts, ops and conditions answer besides results."""
import numpy as np
import pytest

from dl4py import DataType, DynamicCustomOp, GraphScope, INDArray, Nd4j, SameDiff, compiled
from dl4py.samediff import Conditions
from dl4py.samediff.errors import DataTypeError, GraphError, OutOfRangeError, ShapeError
from dl4py.samediff.nd4j import op_classes
from dl4py.samediff.nd4j.op_classes import AddOp, Conv2D, ScatterUpdate, Sigmoid

A = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
U = [[10.0, 20.0], [30.0, 40.0]]


@pytest.mark.parametrize(("made", "said"), [
    (lambda: AddOp(), "add: expected the inputs x, y .*, 0 were given"),
    (lambda: Sigmoid(), "sigmoid: expected the inputs x .*, 0 were given"),
    (lambda: Conv2D(), r"conv2d: expected the inputs x, weights, bias\? .*, 0 were given"),
    (lambda: DynamicCustomOp("add", [Nd4j.ones(2)] * 3), r"add: expected the inputs x, y .*, 3 were given; inputs: FLOAT\(2,\), FLOAT"),
    (lambda: DynamicCustomOp("onehot", [Nd4j.ones(2)]), "onehot: the argument lists are empty: .*depth"),
])
def test_inputs_and_arguments_that_do_not_fit_are_errors_of_the_op(made, said):
    with pytest.raises(GraphError, match=f"(?s){said}.*test_executioner.py"):
        Nd4j.exec(made())


@pytest.mark.parametrize(("how", "after"), [         # as DL4J has it
    ("ADD", [[11, 22], [3, 4], [35, 46]]), ("SUBTRACT", [[-9, -18], [3, 4], [-25, -34]]), ("MULTIPLY", [[10, 40], [3, 4], [150, 240]]),
    ("DIVIDE", [[0.1, 0.1], [3, 4], [1 / 6, 0.15]]), ("ASSIGN", [[10, 20], [3, 4], [30, 40]]),
    ("REVERSE_SUBTRACT", [[9, 18], [3, 4], [25, 34]]), ("REVERSE_DIVIDE", [[10, 10], [3, 4], [6, 40 / 6]])])
def test_scatter_update(how, after):
    a = Nd4j.create(A)
    Nd4j.scatterUpdate(getattr(ScatterUpdate.UpdateOp, how), a, Nd4j.createFromArray(np.array([0, 2])), Nd4j.create(U), 1)
    np.testing.assert_allclose(a, after, rtol=1e-6)
    b = Nd4j.create(A)
    Nd4j.getExecutioner().scatterUpdate(how, b, [0, 2], Nd4j.create(U), 1)
    np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("axis", [0, 1])
def test_scatter_update_is_recorded(axis):
    def work(a):
        a = a * 2
        added = Nd4j.scatterUpdate("ADD", a.dup(), [1, 1], a + 1, axis)
        return added, Nd4j.scatterUpdate("DIVIDE", a, [0], a[:1], 1)
    square = INDArray.of(np.arange(1.0, 5.0).reshape(2, 2))
    wanted = work(square)
    with GraphScope():
        found = work(square)
    for a, b, c in zip(found, compiled(work)(square), wanted, strict=True):
        np.testing.assert_array_equal(a, c)
        np.testing.assert_array_equal(b, c)


def test_scatter_update_of_larger_slices():
    a = Nd4j.zeros(2, 3, 2)
    Nd4j.scatterUpdate("ADD", a, [1, 1], Nd4j.ones(2, 3, 2), 1, 2)
    np.testing.assert_array_equal(a, [np.zeros((3, 2)), np.full((3, 2), 2.0)])
    columns = Nd4j.create(A)
    Nd4j.scatterUpdate("ASSIGN", columns, [1], Nd4j.zeros(3, 1), 0)
    np.testing.assert_array_equal(columns, [[1, 0], [3, 0], [5, 0]])
    with pytest.raises(ShapeError, match="for each of 1 indices"):
        Nd4j.scatterUpdate("ADD", a, [1], Nd4j.ones(2, 3, 2), 1, 2)


def test_shapes_of_results():
    executioner, op = Nd4j.getExecutioner(), op_classes.Sum(Nd4j.ones(2, 3), 1)
    assert [s.shape for s in executioner.calculateOutputShape(op)] == [(2,)]
    assert executioner.allocateOutputArrays(op)[0].shape() == (2,)
    context = executioner.buildContext()
    context.setArgs([Nd4j.ones(4, 2)], [0])
    assert executioner.calculateOutputShape(DynamicCustomOp("reduce_sum"), context)[0].shape == (2,)
    assert context.numInputArguments() == 1 and context.numOutputArguments() == 0
    op.assertValidForExecution()


def test_what_an_op_says_of_itself():
    op = op_classes.LeakyReLU(Nd4j.ones(2), 0.25)
    assert op.propertiesForFunction() == {"alpha": 0.25} and op.extraArgs() == [0.25] and op.opType() == "SCALAR"
    assert op.opNum() == 35 and AddOp().opType() == "CUSTOM" and AddOp().opNum() == AddOp().getHash()
    assert AddOp().tensorflowName() == "Add" and op_classes.Tanh().onnxName() == "Tanh"


def test_arrays_and_arguments_are_set_and_removed():
    x, z = Nd4j.ones(2), Nd4j.zeros(2)
    op = Sigmoid()
    op.setX(x)
    op.setZ(z)
    assert Nd4j.exec(op) is z and z.getDouble(0) == pytest.approx(0.7310586) and op.x() is x
    op.removeOutputArgument(z)
    assert Nd4j.exec(op) is not z
    with pytest.raises(GraphError, match="not an input"):
        op.removeInputArgument(z)
    op.setY(x)
    assert op.toCustomOp() is op and op.y() is x
    for kind, values in {"I": [1, 2], "T": [0.5, 1.5], "B": [True, False], "D": [DataType.INT, DataType.FLOAT], "S": ["a", "b"]}.items():
        op = DynamicCustomOp("concat")
        getattr(op, f"add{kind}Argument")(*values)
        {"I": op.removeIArgument, "T": op.removeTArgument, "B": op.removeBArgument, "D": op.removeDArgument,
         "S": op.removeSArgument}[kind](values[0])
        assert getattr(op, f"{kind.lower()}Args")() == values[1:]
    op.removeSArgument("b")
    with pytest.raises(GraphError, match="not among the i_arguments"):
        op.removeIArgument(7)


def test_gradients_of_an_op_in_a_graph():
    sd = SameDiff.create()
    x, y = sd.var("x", Nd4j.create([2.0, 3.0])), sd.var("y", Nd4j.create([5.0, 7.0]))
    op = op_classes.MulOp(sd, x, y)
    by_x, by_y = op.doDiff([sd.onesLike(op.outputVariable())])
    assert by_x.eval().tolist() == [5, 7] and by_y.eval().tolist() == [2, 3]


@pytest.mark.parametrize(("owner", "name", "said"), [
    (Nd4j.getExecutioner(), "thresholdEncode", "not compressed"), (Nd4j.getExecutioner(), "createShapeInfo", "NumPy's"),
    (Nd4j.getExecutioner().buildContext(), "contextPointer", "pointers"), (AddOp(), "setExtraArgs", "constructor"),
    (op_classes, "AdamUpdater", "updater"), (Nd4j, "bilinearProducts", "einsum")])
def test_names_that_are_not_here_say_what_to_use(owner, name, said):
    with pytest.raises(AttributeError, match=said):
        getattr(owner, name)


def test_the_factory_stands_in_by_its_java_name():
    assert "all factories" in repr(Nd4j.getNDArrayFactory()) and repr(Nd4j.get_nd_array_factory()) == repr(Nd4j.getNDArrayFactory())


def test_conditions_without_a_value_and_by_number():
    a, b = Nd4j.create([1, 2, 3]), Nd4j.create([3, 2, 1])
    for name, held in {"equals": [0, 1, 0], "notEquals": [1, 0, 1], "lessThan": [1, 0, 0], "greaterThan": [0, 0, 1],
                       "lessThanOrEqual": [1, 1, 0], "greaterThanOrEqual": [0, 1, 1], "absLessThan": [1, 0, 0],
                       "absGreaterThan": [0, 0, 1], "epsEquals": [0, 1, 0], "epsNotEquals": [1, 0, 1]}.items():
        assert a.match(b, getattr(Conditions, name)()).tolist() == [bool(v) for v in held], name
    assert Conditions.fromInt(2, 1.5) == Conditions.lessThan(1.5) and Conditions.lessThan(1.5).apply(1)
    assert Conditions.lessThan(1).conditionType() == "less_than" and Conditions.epsEquals(1).epsThreshold() == 1e-5
    with pytest.raises(OutOfRangeError, match="0 to 15"):
        Conditions.fromInt(16)


def test_texts():
    assert Nd4j.create("a", "b").tolist() == ["a", "b"]
    with pytest.raises((GraphError, DataTypeError), match="neither shape"):
        Nd4j.create(Nd4j.ones(2), "b")
