"""Classes of ops that users derive from DL4J's, as its document on adding ops writes them."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py import DifferentialFunction, DynamicCustomOp, Nd4j, SameDiff
from dl4py.samediff.errors import GraphError, MissingOpError
from dl4py.samediff.nd4j import op_classes
from dl4py.samediff.nd4j.op_classes import BaseReduceOp, BaseTransformOp, Cos, RSubOp

V = np.array([0.5, 1.0, 2.0])


class BatchToSpace(DynamicCustomOp):
    """Of the document: properties become integer arguments, as DL4J's class has them."""

    def __init__(self, sameDiff=None, args=None, blocks=(), crops=()):
        super().__init__(None, sameDiff, [*args, sameDiff.constant(np.array(crops))], False)
        self.addArgs(blocks, crops)

    def addArgs(self, blocks, crops):
        self.addIArgument(blocks)
        for crop in crops:
            self.addIArgument(crop[0], crop[1])

    def opName(self):
        return "batch_to_space"


class Cosine(BaseTransformOp):
    """Of the document: constructors, names and ``doDiff``; the factor tells its gradient from the built-in one."""

    def __init__(self, sameDiff, x, inPlace=False):
        super().__init__(sameDiff, x, inPlace)

    def opName(self):
        return "cos"

    def tensorflowName(self):
        return "Cosine"

    def doDiff(self, gradients):
        return [self.f().sin(self.arg()).neg().mul(gradients.get(0)).mul(3.0)]


class Total(BaseReduceOp):
    def op_name(self):
        return "reduce_sum"


class Halved(Cos):
    """A class of a single op, with half its gradient."""

    def do_diff(self, gradients):
        return [g.mul(0.5) for g in super().do_diff(gradients)]


def gradient(op, name="v"):
    (y,) = op.outputVariables()
    y.sd.set_loss_variables(y.sum().name())
    return y.sd.calculate_gradients({}, name)[name]


def graph():
    sd = SameDiff.create()
    return sd, sd.var("v", V)


def test_argument_lists_are_filled_by_the_constructor():
    sd = SameDiff.create()
    x = sd.var("x", np.arange(4.0).reshape(4, 1, 1, 1))
    op = BatchToSpace(sd, [x], [2, 2], [[0, 0], [0, 0]])
    assert op.outputVariables()[0].eval().ravel().tolist() == [0, 1, 2, 3] and op.iArgs() == [2, 2, 0, 0, 0, 0]
    assert op.outputs() == op.outputVariables()                 # added once


@pytest.mark.parametrize("make", [
    lambda sd, v: DynamicCustomOp("cos", sd, [v]), lambda sd, v: DynamicCustomOp("cos", sd, v, False),
    lambda sd, v: Cosine(sd, v), lambda sd, v: Cosine(sd, v, False), lambda sd, v: Cos(None, sd, v), lambda sd, v: Halved(sd, [v], False),
], ids=["named", "in place", "transform", "flag", "no name", "derived"])
def test_constructors_of_graphs(make):
    np.testing.assert_allclose(make(*graph()).outputVariables()[0].eval(), np.cos(V))


def test_constructors_of_arrays():
    class Tanh(DynamicCustomOp):
        def opName(self):
            return "tanh"

    target = Nd4j.zeros(3)
    for made in (Tanh([Nd4j.create(V)], None), DynamicCustomOp("tanh", [Nd4j.create(V)], [target]), Tanh([Nd4j.create(V)], [target])):
        np.testing.assert_allclose(Nd4j.exec(made)[0], np.tanh(V), rtol=1e-6)
    np.testing.assert_allclose(target, np.tanh(V), rtol=1e-6)
    np.testing.assert_allclose(Nd4j.exec(Total(Nd4j.ones(2, 3), 1))[0], [3, 3])


@pytest.mark.parametrize(("cls", "factor"), [(Cosine, 3.0), (Halved, 0.5), (Cos, 1.0)])
def test_the_gradient_of_the_class_counts(cls, factor):
    np.testing.assert_allclose(gradient(cls(*graph())), -np.sin(V) * factor)


def test_and_does_so_beside_others_and_in_second_derivatives():
    sd, v = graph()
    y = Cosine(sd, v).outputVariables()[0].mul(v)
    (first,) = sd.gradients(y.sum(), v)
    np.testing.assert_allclose(first.eval(), np.cos(V) - 3 * V * np.sin(V))
    (second,) = sd.gradients(first.sum(), v)
    np.testing.assert_allclose(second.eval(), -3 * np.sin(V) - 3 * np.sin(V) - 3 * V * np.cos(V))
    assert [g.eval().tolist() for g in sd.ops()[0].doDiff([sd.constant(np.ones(3))])] == [(-3 * np.sin(V)).tolist()]


def test_gradients_stand_in_the_order_of_the_constructor():
    class Reversed(RSubOp):
        def doDiff(self, gradients):
            return [gradients[0].mul(5.0), gradients[0].mul(7.0)]

    sd, v = graph()
    w = sd.var("w", V)
    np.testing.assert_allclose(gradient(Reversed(sd, v, w)), np.full(3, 5.0))
    np.testing.assert_allclose(gradient(Reversed(sd, v, w), "w"), np.full(3, 7.0))


def test_ops_without_a_gradient_get_one():
    class Straight(BaseTransformOp):
        def opName(self):
            return "round"

        def doDiff(self, gradients):
            return [gradients[0]]

    assert gradient(Straight(*graph())).tolist() == [1, 1, 1]


@pytest.mark.parametrize(("name", "bases"), [
    ("Cos", "BaseTransformStrictOp BaseTransformOp BaseOp"), ("Sum", "BaseReduceSameOp BaseReduceOp BaseOp"), ("AddOp", ""),
    ("EuclideanDistance", "BaseReduce3Op BaseReduceFloatOp BaseReduceOp BaseOp"), ("ScalarAdd", "BaseScalarOp BaseOp"),
    ("IsNaN", "BaseTransformBoolOp BaseTransformOp BaseOp"), ("FirstIndex", "BaseIndexAccumulation BaseOp")])
def test_classes_have_the_bases_of_dl4j(name, bases):
    made = getattr(op_classes, name)
    assert [c.__name__ for c in made.__mro__ if c.__name__.startswith("Base")] == bases.split()
    assert issubclass(made, DynamicCustomOp) and isinstance(made(), DifferentialFunction)


def test_names_may_be_others():
    sd, v = graph()
    made = Cosine(sd, v)
    assert (made.opName(), made.tensorflowName(), Halved(sd, v).tensorflowName()) == ("cos", "Cosine", "Cos")


def test_files_keep_the_op_and_say_so():
    sd, v = graph()
    (y,) = Cosine(sd, v).outputVariables()
    with pytest.warns(UserWarning, match="'cos'.*gradient of its own.*user_defined_op"):
        data = sd.as_flat_buffers()
    read = SameDiff.from_flat_buffers(data)
    np.testing.assert_allclose(read.get_variable(y.name()).eval(), np.cos(V))


def test_what_is_wrong_is_said():
    sd, v = graph()

    class Unknown(BaseTransformOp):
        def opName(self):
            return "cosine_of"

    with pytest.raises(MissingOpError, match="cosine_of.*UserDefinedCustomOp"):
        Unknown(sd, v)
    with pytest.raises(GraphError, match="DynamicCustomOp has no name"):
        DynamicCustomOp(sd, [v]).outputs()
