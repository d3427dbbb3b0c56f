"""User-defined ops in DL4J's form."""
from __future__ import annotations

import dataclasses
import enum
import functools
import traceback

import ml_dtypes
import numpy as np
import pytest

from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.codecs.flatbuffers.schema import OpType
from dl4py.samediff.errors import DL4PyError, GradientError, GraphError, RegistrationError, ShapeError
from dl4py.samediff.ir.op import OPS
from dl4py.udf import LongShapeDescriptor, UserDefinedCustomOp, UserDefinedOp, UserOp, check_op, user_defined_op
from dl4py.udf.java.restoring import same


@UserDefinedOp
class AddUdf(UserDefinedCustomOp):
    """(x + y) * factor + k, with DL4J's spellings."""

    def __init__(self, same_diff=None, args=()):
        super().__init__(same_diff, args)
        self.factor = 1.0
        self.k = 0

    def opName(self):
        return "test_java_add"

    def getNumOutputs(self):
        return 1

    def calculateOutputDataTypes(self, dataTypes):
        return [dataTypes[0]]

    def calculateOutputShape(self, oc):
        return [oc.getInputArrays()[0].shapeDescriptor()]

    def propertiesForFunction(self):
        return {"factor": self.factor, "axes": [1, 2]}

    def setPropertiesForFunction(self, properties):
        self.factor = properties["factor"]

    def configureFromArguments(self):
        self.k = self.i_arguments[0] if self.i_arguments else 0

    def doDiff(self, f1):
        g = f1[0] * self.factor
        return [g, g]

    def exec(self, opContext):
        x, y = opContext.getInputArrays()
        opContext.setOutputArray(0, (x + y) * self.factor + self.k)


@user_defined_op
class MomentsUdf(UserDefinedCustomOp):
    """Mean and spread over the last axis; exec without arguments, two outputs."""

    def op_name(self):
        return "test_java.moments"

    def get_num_outputs(self):
        return 2

    def calculate_output_shape(self):
        x = self.input_arguments[0]
        return [x.shape[:-1], LongShapeDescriptor.from_shape(x.shape[:-1], DataType.DOUBLE)]

    def exec(self):
        x = self.input_arguments[0]
        self.output_arguments += [x.mean(-1), x.std(-1)]


def built(factor=3.0):
    sd = SameDiff.create()
    x = sd.placeholder("x", DataType.FLOAT, -1, 2)
    op = AddUdf(sd, [x, x])
    op.factor = factor
    op.addIArgument(5)
    return sd, x, op, sd.doUdf(op)


def test_added_run_and_differentiated():
    sd, x, op, outputs = built()
    assert len(outputs) == 1 and outputs[0].get_shape() == (-1, 2) and op.outputVariables() == outputs and op.larg() is x
    a = np.array([[1.0, 2.0]], np.float32)
    np.testing.assert_array_equal(sd.output_single({"x": a}, outputs[0]), 6 * a + 5)
    sd.set_loss_variables(sd.sum("loss", outputs[0] * outputs[0]))
    np.testing.assert_allclose(sd.calculate_gradients({"x": a}, "x")["x"], 2 * (6 * a + 5) * 6)


def test_saved_and_loaded(tmp_path):
    sd, _, _, outputs = built(factor=0.5)
    sd.save(tmp_path / "g.fb")
    loaded = SameDiff.load(tmp_path / "g.fb")
    assert loaded.nodes()[0].op == sd.nodes()[0].op
    np.testing.assert_array_equal(loaded.output_single({"x": np.ones((1, 2))}, outputs[0].name()), 6)


def test_the_node_in_a_file_is_the_one_that_dl4j_writes():
    @user_defined_op
    class Told(UserDefinedCustomOp):
        def op_name(self):
            return "test_java_told"

        def calculate_output_shape(self, oc):
            return [oc.input_array(0).shape]

        def exec(self, inputs, outputs):
            outputs[0][...] = inputs[0]

        def properties_for_function(self):
            return {"text": "a"}
    try:
        sd = SameDiff.create()
        made = Told(sd, [sd.placeholder("x", DataType.FLOAT, 2)])
        made.add_i_argument(3, 4)
        made.add_t_argument(0.5)
        made.add_b_argument(True, False)
        made.add_d_argument(DataType.DOUBLE)
        sd.do_udf(made)
        (node,) = sd.as_flat_graph().nodes
        assert (node.op_type, node.op_num, node.op_name) == (OpType.UDF, -1, "test_java_told")
        assert (node.extra_integer, node.extra_params, node.extra_bools, node.extra_types) == (
            (3, 4), (0.5,), (True, False), (DataType.DOUBLE.code,))
        assert [(p.name, p.s) for p in node.properties if not p.name.startswith("dl4py.")] == [("text", ("a",))]
    finally:
        OPS.remove("test_java_told")


def test_several_outputs_without_a_context(rng):
    sd = SameDiff.create()
    x = sd.placeholder("x", DataType.FLOAT, -1, 3)
    mean, spread = sd.do_udf(MomentsUdf(sd, x))
    assert mean.get_shape() == (-1,) and mean.dtype is DataType.FLOAT and spread.dtype is DataType.DOUBLE
    a = rng.normal(size=(4, 3)).astype(np.float32)
    np.testing.assert_allclose(sd.output_single({"x": a}, mean), a.mean(-1), rtol=1e-6)
    assert [v.get_shape() for v in sd.test_java.moments(x)] == [(-1,), (-1,)]
    with pytest.raises(GradientError, match="does not define do_diff"):
        sd.gradients(mean, x)


@pytest.mark.slow
def test_check_op_takes_the_java_form(rng):
    sd, _, _, _ = built()
    check_op(sd.nodes()[0].op, [rng.normal(size=(2, 2)), rng.normal(size=(2, 2))]).raise_if_failed()


def test_inputs_cannot_be_changed_and_results_must_fit():
    @user_defined_op
    class Bad(AddUdf):
        def opName(self):
            return "test_java_bad"

        def exec(self, inputs, outputs):
            if self.k:
                inputs[0][...] = 0
            outputs[0] = np.zeros(7)

    for k, error in ((1, ValueError), (0, ShapeError)):
        sd = SameDiff.create()
        x = sd.var("x", np.ones((1, 2), np.float32))
        op = Bad(sd, [x, x])
        op.add_i_argument(k)
        (y,) = sd.do_udf(op)
        with pytest.raises(error) as caught:
            y.eval()
        assert "test_java_bad" in "\n".join(caught.value.__notes__)
        np.testing.assert_array_equal(x.get_arr(), 1)


HOOKS = {"calculate_output_shape": ShapeError, "calculate_output_data_types": ShapeError, "do_diff": GradientError}


@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("hook", HOOKS)
def test_what_a_method_raises_names_method_op_and_line(hook, own):
    def raises(self, *args):
        raise (HOOKS[hook] if own else KeyError)("went off")
    name = f"test_java_{hook}_{own}"
    cls = user_defined_op(type("Raises", (AddUdf,), {"opName": lambda self: name, hook: raises}))
    sd = SameDiff.create()
    x = sd.var("x", np.ones((1, 2), np.float32))
    with pytest.raises(HOOKS[hook]) as caught:
        (y,) = sd.do_udf(cls(sd, [x, x]))
        y.sum().mark_as_loss()
        sd.calculate_gradients({}, "x")
    text = "".join(traceback.format_exception(caught.value))
    assert f"{hook} of op {name!r}" in text and "went off" in text and 'raise (HOOKS[hook]' in text


def test_what_is_missing_is_named():
    with pytest.raises(RegistrationError, match="does not define calculate_output_shape, exec"):
        @user_defined_op
        class Half(UserDefinedCustomOp):
            def op_name(self):
                return "test_java_half"

    with pytest.raises(RegistrationError, match="constructor without arguments"):
        @user_defined_op
        class Strict(AddUdf):
            def __init__(self, same_diff):
                super().__init__(same_diff)

    class Unregistered(AddUdf):
        def opName(self):
            return "test_java_unregistered"

    with pytest.raises(RegistrationError, match="@user_defined_op"):
        SameDiff.create().do_udf(Unregistered())
    with pytest.raises(GraphError, match="UserDefinedCustomOp"):
        SameDiff.create().do_udf("AddUdf")


def test_names_of_built_in_ops_are_taken():
    with pytest.raises(RegistrationError, match="registered already"):
        @user_defined_op
        class Clash(AddUdf):
            def opName(self):
                return "tanh"


def test_properties_that_do_not_come_back_are_refused():
    @user_defined_op
    class Forgets(AddUdf):
        def opName(self):
            return "test_java_forgets"

        def setPropertiesForFunction(self, properties):
            pass

    sd = SameDiff.create()
    op = Forgets(sd, [sd.var("x", np.ones(2))] * 2)
    op.factor = 2.0
    with pytest.raises(GraphError, match="does not restore factor"):
        sd.do_udf(op)


class Scaled(UserDefinedCustomOp):
    """x * scale; what is given to the constructor is saved only where a test says so."""

    def __init__(self, same_diff=None, args=(), scale=1.0):
        super().__init__(same_diff, args)
        self.scale = scale

    def op_name(self):
        return "test_java_scaled"

    def calculate_output_shape(self, oc):
        return [oc.input_array(0).shape]

    def exec(self, inputs, outputs):
        outputs[0][...] = inputs[0] * np.asarray(self.scale).sum()


def registered(**methods):
    name = "test_java_" + methods.pop("name")
    return user_defined_op(type("Scaled", (Scaled,), {"op_name": lambda self: name, **methods}))


def with_state(self, value):
    self.scale = value
    return self


@pytest.mark.parametrize(("name", "build"), [
    ("constructor", lambda cls, sd, x: cls(sd, [x], 2.0)),
    ("array", lambda cls, sd, x: cls(sd, [x], np.array([1.0, 2.0]))),
    ("nested", lambda cls, sd, x: cls(sd, [x], {"a": [1, (2, 3)]})),
    ("changed", lambda cls, sd, x: with_state(cls(sd, [x]), 2.0)),
    ("variable", lambda cls, sd, x: cls(sd, [x], x)),
    ("function", lambda cls, sd, x: cls(sd, [x], lambda a: a + 1)),
    ("flag", lambda cls, sd, x: cls(sd, [x], None)),
])
def test_what_the_properties_do_not_save_is_refused(name, build):
    sd = SameDiff.create()
    op = build(registered(name=name), sd, sd.var("x", np.ones(2)))
    with pytest.raises(GraphError, match=rf"'test_java_{name}' \(Scaled\).*scale is .*there 1.0.*properties_for_function"):
        sd.do_udf(op)
    assert not sd.nodes()


def test_values_that_are_no_data_are_compared_by_what_they_hold():
    def init(self, same_diff=None, args=(), scale=1.0):
        Scaled.__init__(self, same_diff, args, scale)
        self.table, self.rule, self.inner = np.arange(3.0), lambda a: a * scale, Inner(3)

    sd = SameDiff.create()
    (y,) = sd.do_udf(registered(name="same", __init__=init)(sd, [sd.var("x", np.ones(2))]))
    np.testing.assert_array_equal(y.eval(), 1)


@pytest.mark.parametrize(("held", "restored"), [
    (np.arange(3.0), np.ones(3)), (np.arange(3.0), np.arange(4.0)), (np.array([1, np.nan]), np.array([2, np.nan])), ([1, 2], [1, 3]),
    ("a", "b"), (1.5, 2.5)])
def test_what_comes_back_with_another_value_is_refused(held, restored):
    cls = registered(name="otherwise", properties_for_function=lambda self: {"scale": self.scale},
                     set_properties_for_function=lambda self, properties: setattr(self, "scale", restored))
    sd = SameDiff.create()
    with pytest.raises(GraphError, match="does not restore scale"):
        sd.do_udf(cls(sd, [sd.var("x", np.ones(2))], held))


class Inner:
    def __init__(self, n):
        self.n = n


@pytest.mark.parametrize("value", [{"a": 1}, b"12", object(), [1, "a"], [[1], [2, 3]], 2**70])
def test_properties_that_no_file_can_hold_are_refused(value):
    cls = registered(name="unstorable", properties_for_function=lambda self: {"held": value},
                     set_properties_for_function=lambda self, properties: None)
    sd = SameDiff.create()
    with pytest.raises(GraphError, match="'held' = .*which no file can hold"):
        sd.do_udf(cls(sd, [sd.var("x", np.ones(2))]))


def test_what_files_give_back_otherwise_is_refused_at_once():
    class Kind(enum.Enum):
        HARD = 1

    cls = registered(name="kind", properties_for_function=lambda self: {"scale": self.scale},
                     set_properties_for_function=lambda self, properties: setattr(self, "scale", properties["scale"]))
    sd = SameDiff.create()
    with pytest.raises(GraphError, match="does not restore scale: scale was <Kind.HARD: 1>, is 'HARD'"):
        sd.do_udf(cls(sd, [sd.var("x", np.ones(2))], Kind.HARD))


def test_an_op_in_a_graph_cannot_be_changed():
    sd = SameDiff.create()
    op = registered(name="late")(sd, [sd.var("x", np.ones(2))])
    op.add_i_argument(1)
    sd.do_udf(op)
    for change in (lambda: setattr(op, "scale", 3.0), lambda: op.add_i_argument(2)):
        with pytest.raises(GraphError, match="'test_java_late' is in a graph already"):
            change()
    assert len(sd.do_udf(op)) == 1                      # the same once more


@pytest.mark.parametrize("read", [lambda a: a[0], lambda a: int(a), lambda a: a.item(), lambda a: list(a), lambda a: np.asarray(a).sum(),
                                  lambda a: a.sum(), lambda a: a + 1])
def test_shape_rules_that_read_values_are_told_that_there_are_none(read):
    cls = registered(name="reads", calculate_output_shape=lambda self, oc: [(read(oc.get_input_array(0)),)])
    sd = SameDiff.create()
    with pytest.raises(ShapeError, match="test_java_reads.*values of an input.*not known while the graph is built"):
        sd.do_udf(cls(sd, [sd.var("x", np.ones(3))]))


def test_check_op_takes_the_class_and_an_instance():
    cls = registered(name="checked", properties_for_function=lambda self: {"scale": self.scale},
                     set_properties_for_function=lambda self, properties: setattr(self, "scale", properties["scale"]))
    for given in (cls, cls(), "test_java_checked"):
        assert check_op(given, [np.ones(3)], gradient=False).passed
    with pytest.raises(RegistrationError, match="@user_defined_op"):
        check_op(Scaled, [np.ones(3)])
    for wrong in (UserDefinedCustomOp(), int, 3, UserOp):
        with pytest.raises((RegistrationError, GraphError)):
            check_op(wrong, [np.ones(3)])


@dataclasses.dataclass
class _Table:
    values: np.ndarray


class _Holder:
    def __init__(self, factor, table):
        self.tree = [factor]
        self.tree.append(self.tree)

        def down(n):
            return factor if n == 0 else down(n - 1)
        self.down, self.own, self.part = down, self.method, functools.partial(max, factor)
        self.table = _Table(np.array(table))

    def method(self):
        pass


def test_values_that_lead_back_to_themselves_are_compared():
    first, again = _Holder(2, [1, 2]), _Holder(2, [1, 2])
    assert same(first, again) and same(first.own, again.own)
    assert not same(first, _Holder(2, [1, 3])) and not same(first, _Holder(3, [1, 2]))
    assert not same(first.tree, _Holder(3, [1]).tree) and not same(first.down, _Holder(3, [1]).down)
    assert not same(first.part, _Holder(3, [1]).part)
    other = _Holder(3, [1])
    assert not same(first.own, other.own) and same(first.own, other.own, (first, other))


def test_nan_is_the_same_as_nan_in_every_type():
    for dtype in (np.float16, np.float64, np.complex64, ml_dtypes.bfloat16):
        value = np.array([1, np.nan]).astype(dtype)
        assert same(value, value.copy()) and not same(value, value[::-1]) and same(value[1], value.copy()[1])


@pytest.mark.sampled(4)
@pytest.mark.parametrize("op", [AddUdf, AddUdf(), "test_java_add"], ids=["class", "instance", "id"])
def test_checks_take_properties(op):
    inputs = [np.array([1.0, 2.0]), np.array([3.0, 4.0])]
    report = check_op(op, inputs, {"factor": 3.0})
    assert report.passed, report
    with pytest.raises(GraphError, match="no property 'facter'; did you mean 'factor'"):
        check_op(op, inputs, {"facter": 3.0})
    assert AddUdf().factor == 1.0


def test_a_name_with_a_namespace_is_a_method_of_it():
    @user_defined_op
    class Halved(UserDefinedCustomOp):
        def op_name(self):
            return "test_java_space.halved"

        def get_num_outputs(self):
            return 1

        def calculate_output_data_types(self, data_types):
            return [data_types[0]]

        def calculate_output_shape(self, oc):
            return [oc.get_input_arrays()[0].shape_descriptor()]

        def exec(self, oc):
            oc.set_output_array(0, oc.get_input_arrays()[0] / 2)

    sd = SameDiff.create()
    np.testing.assert_array_equal(sd.test_java_space.halved(sd.constant(np.array([2.0, 4.0]))).eval(), [1, 2])
    with pytest.raises(DL4PyError, match="halve"):
        sd.test_java_space.halve(sd.constant(np.array([2.0])))
