"""What graphs do, case by case: names, kinds, shapes, execution, listings, gradients, losses, indexing."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff import DataType, SameDiff, SDIndex
from dl4py.samediff.errors import DataTypeError, DL4PyError, GradientError, GraphError, ShapeError, UnknownNameError

F, D, INT, LONG, BOOL = DataType.FLOAT, DataType.DOUBLE, DataType.INT, DataType.LONG, DataType.BOOL


class Sample:
    """A graph with a placeholder p (-1, 2), variables w (2) = 1 2 and v (2) = 5 6, a constant c (2) = 3 4."""

    def __init__(self):
        self.sd = SameDiff.create()
        self.p = self.sd.placeholder("p", F, -1, 2)
        self.w = self.sd.var("w", np.array([1, 2], np.float32))
        self.v = self.sd.var("v", np.array([5, 6], np.float32))
        self.c = self.sd.constant("c", np.array([3, 4], np.float32))


def kinds(*variables):
    return " ".join(f"{v.name()}:{v.get_variable_type().name}:{v.dtype.name}" for v in variables)


def names(*variables):
    return [v.name() for v in variables]


def values(result):
    if isinstance(result, dict):
        return {k: values(v) for k, v in result.items()}
    return np.asarray(result).tolist() if hasattr(result, "dtype") else result


def scoped(g):
    with g.sd.with_name_scope("s"):
        made = [g.sd.constant("k", np.ones(2)), g.sd.constant(np.ones(2)), g.sd.var(np.ones(2)), g.sd.zero("z", 2), g.sd.scalar("one", 1.0),
                g.sd.placeholder("q", F, 2), g.sd.var("d", F, 2), g.w.add("n", 1.0), g.w + g.w]
    return names(*made)


def nested(g):
    with g.sd.with_name_scope("a"):
        with g.sd.with_name_scope("b"):
            inner = [g.w + g.w, g.sd.current_name_scope()]
        again = g.w + g.w
    return [inner[0].name(), inner[1], again.name(), g.sd.current_name_scope()]


def reopened(g):
    made = []
    for _ in range(2):
        with g.sd.with_name_scope("s"):
            made.append(g.w + g.w)
    return names(*made, g.w + g.w)


def renamed_loss(g):
    (g.w * g.w).sum("l").mark_as_loss()
    g.sd.variable("l").rename("total")
    return g.sd.get_loss_variables(), values(g.sd.calculate_gradients(None, "w"))


def loss(g, *parts):
    for i, part in enumerate(parts):
        part.sum(f"l{i}").mark_as_loss()
    return g.sd


def independent(g):
    out = g.sd.output_single(None, "w")
    out += 10
    return values(g.w.get_arr())


def own_copy(g):
    array = np.zeros(2, np.float32)
    made = g.sd.var("own", array)
    array += 5
    return values(made.get_arr())


def fed_by_thread(g):
    y = g.p.add("y", 1.0)
    g.p.set_array([[1, 1]])
    return [values(y.eval()), values(y.eval({"p": [[7, 7]]})), values(y.eval())]


def converted_types(g):
    y = g.w.add("y", g.c)
    g.sd.convert_data_types({"w": D, "c": D})
    return kinds(g.w, g.c, y), values(y.eval())


def second_output_renamed(g):
    parts = g.sd.unstack(g.sd.var("x", np.arange(6.0).reshape(3, 2)), 0, 3)
    parts[1].rename("b")
    return names(*parts), values(g.sd.output_single(None, "b"))


def several_outputs(g):
    x = g.sd.var("x", np.arange(6.0).reshape(3, 2))
    return names(*g.sd.unstack(x, 0, 3)), names(*g.sd.split(x, 3, 0)), names(*g.sd.moments(x, 0)), names(*g.sd.unstack(x, 0, 3))


RESULTS = {
    # names
    "unnamed variables": (lambda g: names(*(g.sd.var(np.ones(2)) for _ in range(3))), ["sd_var", "sd_var_1", "sd_var_2"]),
    "constants share the base": (lambda g: names(g.sd.constant(np.ones(2)), g.sd.var(np.ones(2)), g.sd.constant(1.0)),
        ["sd_var", "sd_var_1", "sd_var_2"]),
    "ops are named after themselves": (lambda g: names(g.w + g.w, g.w + g.v, g.w * g.v, g.w + 1.0, g.w.sum(), g.w.mean(),
        g.sd.math.exp(g.w)),
                                       ["add", "add_1", "multiply", "add_scalar", "reduce_sum", "reduce_mean", "exp"]),
    "a user's name names the output": (lambda g: (g.w.add("y", g.v).name(), [n.name for n in g.sd.ops()]), ("y", ["add"])),
    "the next automatic name": (lambda g: names(g.w.add("y", g.v), g.w + g.v, g.w + g.v), ["y", "add_1", "add_2"]),
    "several outputs": (several_outputs, (["unstack", "unstack:1", "unstack:2"], ["split", "split:1", "split:2"], ["moments", "moments:1"],
                                          ["unstack_1", "unstack_1:1", "unstack_1:2"])),
    "a base that ends in a number": (lambda g: names(g.sd.placeholder("add_1", F, 2), g.w + g.w), ["add_1", "add"]),
    "scopes": (scoped, ["k", "s/sd_var", "s/sd_var_1", "z", "one", "q", "s/d", "s/n", "s/add"]),
    "nested scopes": (nested, ["a/b/add", "a/b", "a/add", None]),
    "reopened scopes": (reopened, ["s/add", "s/add_1", "add"]),
    # renaming
    "rename a result": (lambda g: (names((g.w + g.v).rename("out")), g.sd.has_variable("add")), (["out"], False)),
    "rename a variable": (lambda g: (g.w.rename("w2").name(), values(g.sd.variable("w2").get_arr())), ("w2", [1, 2])),
    "rename a placeholder": (lambda g: (g.p.add("y", 1.0).name(), g.p.rename("q").name(), values(g.sd.output({"q": [[1, 1]]}, "y"))),
                             ("y", "q", {"y": [[2, 2]]})),
    "rename a loss": (renamed_loss, (["total"], {"w": [2, 4]})),
    "rename a second output": (second_output_renamed, (["unstack", "b", "unstack:2"], [2, 3])),
    "rename to itself": (lambda g: g.w.rename("w").name(), "w"),
    "copy from another graph": (lambda g: kinds(SameDiff.create().var(g.w), g.sd.var(g.w)), "w:VARIABLE:FLOAT w:VARIABLE:FLOAT"),
    # kinds
    "creators": (lambda g: kinds(g.sd.var("a", F, 2), g.sd.constant("b", 1.0), g.sd.constant("e", True), g.sd.scalar("f", F, 1),
        g.sd.one("o", 2),
                                 g.sd.zero("z", INT, 2), g.sd.placeholder("q", D, 2), g.w + g.w),

                        "a:VARIABLE:FLOAT b:CONSTANT:FLOAT e:CONSTANT:BOOL f:CONSTANT:FLOAT o:CONSTANT:FLOAT z:CONSTANT:INT "
                        "q:PLACEHOLDER:DOUBLE add:ARRAY:FLOAT"),
    "a variable starts at zero": (lambda g: values(g.sd.var("z", F, 2, 2).get_arr()), [[0, 0], [0, 0]]),
    "integer variables": (lambda g: kinds(g.sd.var("i", INT, 2)), "i:VARIABLE:INT"),
    "a size of -1 makes a placeholder": (lambda g: kinds(g.sd.var("x", F, -1, 3)), "x:PLACEHOLDER:FLOAT"),
    "variable to constant": (lambda g: (kinds(g.w.convert_to_constant()), values((g.w + 1.0).eval())), ("w:CONSTANT:FLOAT", [2, 3])),
    "constant to variable": (lambda g: (kinds(g.c.convert_to_variable()), values(g.c.get_arr())), ("c:VARIABLE:FLOAT", [3, 4])),
    "constant to constant": (lambda g: kinds(g.c.convert_to_constant()), "c:CONSTANT:FLOAT"),
    "placeholder with a value to constant": (lambda g: (kinds(g.p.set_array([[4, 5]]).convert_to_constant()), g.sd.inputs()),
        ("p:CONSTANT:FLOAT", [])),
    "data types": (converted_types, ("w:VARIABLE:DOUBLE c:CONSTANT:DOUBLE y:ARRAY:DOUBLE", [4, 6])),
    "values are cast to the type of the variable": (lambda g: (g.w.set_array(np.array([7.0, 8.0])).get_arr().dtype, values(g.w.get_arr())),
        (np.float32, [7, 8])),
    # shapes
    "shapes are known at once": (lambda g: [v.get_shape() for v in (g.w, g.c, g.p, g.p + g.w, g.p.sum(0))], [(2,), (2,), (-1, 2), (-1, 2),
        (2,)]),
    "results hold no array": (lambda g: ((g.w + g.v).get_arr(), (g.w + g.v).eval().tolist()), (None, [6, 8])),
    # execution
    "unneeded placeholders may be missing": (lambda g: values(g.sd.output({}, g.w.add("y", 1.0).name())), {"y": [2, 3]}),
    "numbers are cast": (lambda g: [values(g.sd.output_single({"p": a}, g.p.add(0.5).name()))
                                    for a in (np.ones((1, 2)), np.ones((1, 2), np.int64), np.ones((1, 2), bool), [[1, 1]])], [[[1.5,
        1.5]]] * 4),
    "stored variables can be asked for": (lambda g: values(g.sd.output({"p": [[1, 1]]}, "w", "c", "p")),
        {"w": [1, 2], "c": [3, 4], "p": [[1, 1]]}),
    "eval": (lambda g: (values(g.w.eval()), values((g.p + 1.0).eval({"p": [[1, 1]]}))), ([1, 2], [[2, 2]])),
    "values set for the thread": (fed_by_thread, [[[2, 2]], [[8, 8]], [[2, 2]]]),
    "all outputs": (lambda g: list(g.sd.output_all({"p": [[1, 1]]})), ["p", "w", "v", "c"]),
    "request": (lambda g: (g.p.add("y", 1.0).name(), values(g.sd.batch_output().input("p", [[1, 1]]).output("y").output_single())),
        ("y", [[2, 2]])),
    "results belong to the caller": (independent, [1, 2]),
    "variables own their arrays": (own_copy, [0, 0]),
    # listings
    "inputs and outputs": (lambda g: (g.p.add("y", g.w).name(), g.sd.inputs(), g.sd.outputs()), ("y", ["p"], ["y"])),
    "set outputs": (lambda g: (g.p.add("y", g.w).mul("z", g.c).name(), g.sd.set_outputs("y"), g.sd.outputs()), ("z", None, ["y"])),
    "order of creation": (lambda g: (names(g.v + g.w), g.sd.variable_names()), (["add"], ["p", "w", "v", "c", "add"])),
    "ops by name": (lambda g: (names(g.w + g.v), g.sd.get_inputs_for_op("add"), g.sd.get_outputs_for_op("add")),
        (["add"], ["w", "v"], ["add"])),
    # gradients and losses
    "gradient": (lambda g: values(loss(g, g.w * g.w * 3.0).calculate_gradients(None, "w")), {"w": [6, 12]}),
    "the only open end is the loss": (lambda g: ((g.w * g.w).sum("l").name(), values(g.sd.calculate_gradients(None, "w"))),
        ("l", {"w": [2, 4]})),
    "of a placeholder and a constant": (lambda g: values(loss(g, g.p * g.c).calculate_gradients({"p": [[1, 2]]}, "p", "c")),
        {"p": [[3, 4]], "c": [1, 2]}),
    "of a result": (lambda g: (g.w.mul("t", 2.0).name(), values(loss(g, g.sd.variable("t") ** 2).calculate_gradients(None, "t", "w"))),
                    ("t", {"t": [4, 8], "w": [8, 16]})),
    "losses are summed": (lambda g: values(loss(g, g.w * g.w, g.w * 3.0).calculate_gradients(None, "w")), {"w": [5, 7]}),
    "a loss need not be a scalar": (lambda g: ((g.w * g.w).rename("l").mark_as_loss().name(), values(g.sd.calculate_gradients(None, "w"))),
        ("l", {"w": [2, 4]})),
    "outputs and gradients": (lambda g: [values(r) for r in loss(g, g.w * g.w).calculate_gradients_and_outputs(None, ["l0"], ["w"])],
                              [{"l0": 5}, {"w": [2, 4]}]),
    "sums over what was broadcast": (lambda g: values(loss(g, g.p * g.w).calculate_gradients({"p": [[1, 2], [3, 4]]}, "w")), {"w": [4, 6]}),
    "marked twice, listed once": (lambda g: (g.w.sum("l").mark_as_loss().mark_as_loss().name(), g.sd.get_loss_variables()), ("l", ["l"])),
    "loss ops mark themselves": (lambda g: (g.sd.loss.mean_squared_error("mse", g.p, g.p * 2.0, None).name(), g.sd.get_loss_variables()),
        ("mse", ["mse"])),
    # indexing
    "index": (lambda g: [v.eval().tolist() for v in (lambda x: (x[1], x[1:2], x[:, :2], x[-1, ::2], x.get(SDIndex.point(0),
        SDIndex.interval(1, 3))))(
        g.sd.constant("x", np.arange(12.0).reshape(3, 4)))], [[4, 5, 6, 7], [[4, 5, 6, 7]], [[0, 1], [4, 5], [8, 9]], [8, 10], [1, 2]]),
}


@pytest.mark.parametrize("case", RESULTS)
def test_result(case):
    act, expected = RESULTS[case]
    assert act(Sample()) == expected


def _crossed(g):
    other = SameDiff.create().var("other", np.ones(2))
    return g.w + other


def _closing(g):
    outer, _ = g.sd.with_name_scope("a"), g.sd.with_name_scope("b")
    outer.close()


ERRORS = {
    "variable twice": (lambda g: g.sd.var("w", F, 2), GraphError, "'w'"),
    "array twice": (lambda g: g.sd.var("w", np.ones(2)), GraphError, "'w'"),
    "constant twice": (lambda g: g.sd.constant("c", np.ones(2)), GraphError, "'c'"),
    "placeholder named like a variable": (lambda g: g.sd.placeholder("w", F, 2), GraphError, "'w'"),
    "placeholder twice": (lambda g: g.sd.placeholder("p", D, 2), GraphError, "'p'"),
    "result named like a variable": (lambda g: g.w.add("c", g.v), GraphError, "'c'"),
    "result named like its input": (lambda g: g.w.add("w", 1.0), GraphError, "'w'"),
    "rename to a taken name": (lambda g: g.w.rename("c"), GraphError, "'c'"),
    "rename an unknown one": (lambda g: g.sd.rename_variable("nope", "a"), UnknownNameError, "nope"),
    "scopes closed out of order": (_closing, GraphError, "innermost"),
    "empty variable": (lambda g: g.sd.var("e", np.zeros((0, 3))), ShapeError, "empty"),
    "size of zero": (lambda g: g.sd.var("e", F, 0, 3), ShapeError, "0"),
    "integer constant to variable": (lambda g: g.sd.constant("i", np.array([1])).convert_to_variable(), DataTypeError, "'i'"),
    "result to constant": (lambda g: (g.w + g.v).convert_to_constant(), GraphError, "result"),
    "result to variable": (lambda g: (g.w + g.v).convert_to_variable(), GraphError, "result"),
    "placeholder without a value": (lambda g: g.p.convert_to_constant(), GraphError, "set_array"),
    "type of a result": (lambda g: g.sd.convert_data_types({g.w.add("y", 1.0).name(): D}), GraphError, "result"),
    "number to text": (lambda g: g.sd.convert_data_types({"w": DataType.UTF8}), DataTypeError, "text"),
    "type of an unknown one": (lambda g: g.sd.convert_data_types({"nope": D}), UnknownNameError, "nope"),
    "array of another shape": (lambda g: g.w.set_array(np.ones(3)), ShapeError, "3"),
    "array of a result": (lambda g: (g.w + g.v).set_array(np.ones(2)), GraphError, "computed"),
    "placeholder of another shape": (lambda g: g.p.set_array(np.ones((3, 3))), ShapeError, "3, 3"),
    "array that must exist": (lambda g: (g.w + g.v).get_arr(True), GraphError, "eval"),
    "shapes that do not fit": (lambda g: g.w + g.sd.var("x", np.ones(3, np.float32)), ShapeError, "add"),
    "matrices that do not fit": (lambda g: g.p.mmul(g.sd.var("x", np.ones((3, 3), np.float32))), ShapeError, "matmul"),
    "missing placeholder": (lambda g: (g.p + 1.0).eval({}), GraphError, "'p'"),
    "unknown placeholder": (lambda g: g.w.eval({"nope": 1}), UnknownNameError, "nope"),
    "value for a variable": (lambda g: (g.w + 1.0).eval({"w": [1, 2]}), GraphError, "no placeholder"),
    "unknown output": (lambda g: g.sd.output({}, "nope"), UnknownNameError, "nope"),
    "no output": (lambda g: g.sd.output({}), GraphError, "output"),
    "wrong shape of a value": (lambda g: (g.p + 1.0).eval({"p": np.ones((2, 3))}), ShapeError, "'p'"),
    "fractions for an integer": (lambda g: g.sd.placeholder("i", INT, 2).eval({"i": [1.5, 2]}), DataTypeError, "'i'"),
    "another graph": (_crossed, GraphError, "another graph"),
    "unknown op": (lambda g: g.sd.get_op_by_id("nope"), UnknownNameError, "nope"),
    "unknown output set": (lambda g: g.sd.set_outputs("nope"), UnknownNameError, "nope"),
    "gradient of an integer": (lambda g: loss(g, g.w).calculate_gradients(None, g.sd.var("i", INT, 2).name()), GradientError, "'i'"),
    "gradient of an unconnected one": (lambda g: loss(g, g.w).calculate_gradients(None, "v"), GradientError, "v"),
    "gradient of an unknown one": (lambda g: loss(g, g.w).calculate_gradients(None, "nope"), UnknownNameError, "nope"),
    "two candidates for the loss": (lambda g: (g.w.sum(), g.v.sum(), g.sd.calculate_gradients(None, "w")), GradientError, "2 candidates"),
    "placeholder as loss": (lambda g: g.sd.set_loss_variables("p"), GraphError, "'p'"),
    "variable as loss": (lambda g: g.sd.set_loss_variables("w"), GraphError, "'w'"),
    "unknown loss": (lambda g: g.sd.set_loss_variables("nope"), UnknownNameError, "nope"),
    "integer loss": (lambda g: g.sd.set_loss_variables(g.w.argmax(0)), DL4PyError, "float"),
    "too many indices": (lambda g: g.w.get(SDIndex.point(0), SDIndex.point(0)), ShapeError, "rank 1"),
}


@pytest.mark.parametrize("case", ERRORS)
def test_error(case):
    act, error, text = ERRORS[case]
    g = Sample()
    with pytest.raises(error, match=text):
        act(g)
    assert issubclass(error, DL4PyError) and values(g.w.get_arr()) == [1, 2]
