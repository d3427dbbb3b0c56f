"""Ops that heed their attributes, their context or the arrays of their gradient in one place and not in all, and right ones beside them."""
from __future__ import annotations

import enum
import re

import numpy as np
import pytest

from dl4py.samediff import DataType
from dl4py.samediff.base.user_code.check_report import CheckFailure
from dl4py.samediff.base.user_code.other_values import others
from dl4py.udf import UserDefinedCustomOp, check_op, user_defined_op, user_op
from dl4py.udf.checks import attributes, batching, check, circumstances, gradient_code, kernels, runs

X = np.linspace(-1, 2, 6).reshape(3, 2)
KEPT: list = [None]


class Mode(enum.Enum):
    WHOLE = 2.0
    HALF = 0.5


def refused(run, text):
    if text is None:
        run()
    else:
        with pytest.raises(CheckFailure, match=re.escape(text)):
            run()


# Gradients by themselves

def writes(index):
    def grad(xp, inputs, outputs, grads):
        given = (inputs, outputs, grads)[index][0]
        given[...] = given * 1.0 + 1.0
        return [grads[0]]
    return grad


def in_one_array(xp, inputs, outputs, grads):
    KEPT[0] = np.multiply(grads[0], 2, out=KEPT[0] if np.shape(KEPT[0]) == np.shape(grads[0]) else None)
    return [KEPT[0]]


def remembers(xp, inputs, outputs, grads):
    return [grads[0] * KEPT[0]]


ALONE = [
    (lambda xp, i, o, g: [g[0] * 2], None), (writes(0), "grad changes inputs[0]"), (writes(1), "grad changes outputs[0]"),
    (writes(2), "grad changes output_grads[0]"), (remembers, "it uses what compute left"), (in_one_array, "it lies in memory that is kept")]


@pytest.mark.parametrize("grad, text", ALONE)
def test_gradients_by_themselves(grad, text):
    @user_op(f"test_wrong_ops.alone{[row[0] for row in ALONE].index(grad)}", grad=grad)
    def op(xp, x):
        KEPT[0] = KEPT[0] if grad is in_one_array else np.array(x)
        return np.asarray(x) * 2
    refused(lambda: gradient_code.stands_alone(op.op_class(), [X]), text)


def right_kernel(x, y, gy, gx):
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            gx[i, j] = 2 * gy[i, j]


def by_memory(x, y, gy, gx):
    flat = gy.T.ravel() if gy.strides[0] < gy.strides[1] else gy.ravel()
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            gx[i, j] = 2 * flat[i * x.shape[1] + j]


@pytest.mark.plans
@pytest.mark.parametrize("kernel, text", [(right_kernel, None), (by_memory, "do not lie in memory one value after the other")])
def test_gradient_kernels_of_strided_arrays(kernel, text):
    op = user_op(f"test_wrong_ops.{kernel.__name__}", numba_grad=kernel)(lambda xp, x: x * 2)
    refused(lambda: gradient_code.stands_alone(op.op_class(), [X]), text)


# Attributes

def scaled(**options):
    name = f"test_wrong_ops.scaled{len(NAMES)}"
    NAMES.append(name)
    return user_op(name, **options)


NAMES: list = []


def by_float(xp, x, *, k: float = 2.0):
    return np.asarray(x) * k


def by_int(xp, x, *, power: int = 2):
    return np.asarray(x) ** power


def by_member(xp, x, *, mode: Mode = Mode.WHOLE):
    return np.asarray(x) * mode.value


def by_list(xp, x, *, weights: list[float] = [1.0, 2.0]):  # noqa: B006 - held as a tuple
    return np.asarray(x) * np.array(weights, x.dtype)


def by_dict(xp, x, *, gains: dict[str, float] = {"all": 2.0}):  # noqa: B006
    return np.asarray(x) * gains["all"]


HEEDED = [
    (by_float, lambda xp, i, o, g, k: [g[0] * k], lambda xp, i, o, g, k: [g[0] * 2.0]),
    (by_int, lambda xp, i, o, g, power: [g[0] * power * i[0] ** (power - 1)], lambda xp, i, o, g, power: [g[0] * 2 * i[0]]),
    (by_member, lambda xp, i, o, g, mode: [g[0] * mode.value], lambda xp, i, o, g, mode: [g[0] * 2.0]),
    (by_list, lambda xp, i, o, g, weights: [g[0] * np.array(weights)], lambda xp, i, o, g, weights: [g[0] * np.array([1.0, 2.0])]),
    (by_dict, lambda xp, i, o, g, gains: [g[0] * gains["all"]], lambda xp, i, o, g, gains: [g[0] * 2.0])]


@pytest.mark.parametrize("code, right, wrong", HEEDED, ids=lambda f: f.__name__)
def test_gradients_that_heed_attributes(code, right, wrong):
    for grad, text in ((right, None), (wrong, "with another")):
        made = scaled(grad=grad)(code).op_class()
        refused(lambda made=made: circumstances.gradients_of_other_attributes(made, [X], 1e-6, 0), text)


@pytest.mark.slow
@pytest.mark.plans
def test_kernels_and_shape_rules_that_heed_attributes():
    def right(x, y, k):
        y[...] = x * k

    def wrong(x, y, k):
        y[...] = x * 2.0

    def of(options):
        return lambda: attributes.with_other_attributes(scaled(**options)(by_float).op_class(), [X], lambda op, arrays: None)
    refused(of({"numba": right}), None)
    refused(of({"numba": wrong}), "with another 'k'")

    def wide(rule):
        def run():
            @scaled(infer=rule)
            def tiled(xp, x, *, times: int = 2):
                return np.concatenate([np.asarray(x)] * times, -1)
            return check_op(tiled, [X], gradient=False).raise_if_failed()
        return run
    wide(lambda x, times: x.with_shape((*x.shape[:-1], -1 if x.shape[-1] < 0 else x.shape[-1] * times)))()
    with pytest.raises(AssertionError, match="other attributes"):
        wide(lambda x, times=2: x.with_shape((*x.shape[:-1], -1 if x.shape[-1] < 0 else x.shape[-1] * 2)))()


def java(name, **body):
    def start(self, same_diff=None, args=(), k=2.0, shift=1.0):
        UserDefinedCustomOp.__init__(self, same_diff, args)
        self.k, self.shift = k, shift
    form = {"op_name": lambda self: name, "calculate_output_shape": lambda self, oc: [oc.input_array(0).shape], "__init__": start,
            "exec": lambda self, i, o: [np.asarray(i[0]) * self.k + self.shift]}
    return user_defined_op(type("Made", (UserDefinedCustomOp,), form | body))().as_op()


@pytest.mark.parametrize("kept, text", [(("k", "shift"), None), (("k",), "with another 'shift'")])
def test_fields_of_the_java_form_that_are_no_properties(kept, text):
    op = java("_".join(("test_wrong", *kept)), properties_for_function=lambda self: {n: getattr(self, n) for n in kept},
              set_properties_for_function=lambda self, values: vars(self).update(values))
    refused(lambda: attributes.with_other_attributes(op, [X], check._round_trip), text)


@pytest.mark.parametrize("value, wanted", [
    (True, [False]), (1.0, [0.85, 0.0, -1.0, 1e3]), (0, [1, -1]), (3, [4, 2, 1, 0]), (Mode.HALF, [Mode.WHOLE]), ("text", []), (None, []),
    (DataType.FLOAT, []), (1j, [0.1 + 0.75j]), ((1, "a"), [(2, "a")]), ({"a": 1}, [{"a": 2}]), ([], []), ({}, []),
    (("a", None), []), ({"n": "a"}, [])])
def test_other_values(value, wanted):
    assert list(others(value)) == wanted


# Random numbers

DRAWN = [
    (lambda c: c.random(), None), (lambda c: np.random.default_rng(c.seed), "for another iteration"),
    (lambda c: np.random.default_rng((c.seed, c.iteration)), "for another node of the same graph")]


@pytest.mark.parametrize("rng, text", DRAWN)
def test_random_numbers(rng, text):
    @scaled(stateful=True, gradient="none")
    def noise(xp, x, *, context):
        return x + rng(context).normal(size=x.shape)
    refused(lambda: circumstances.heeds_runs(noise.op_class(), [X]), text)


# Inputs

@pytest.mark.parametrize("code, given, text", [
    (lambda xp, x, m: x.mean(axis=-1), [X, X > 0], "input m has no effect"), (lambda xp, x, m: x.mean(axis=-1), [X, X], "input m has no"),
    (lambda xp, *xs: xs[0] + xs[2], [X, X, X], "input number 1 has no effect"),
    (lambda xp, x, at: x * 2, [X, np.arange(3)], "input at has no effect"),
    (lambda xp, x, like: x.reshape(like.shape), [X, np.ones((2, 3))], None), (lambda xp, x, m: xp.where(m, x, 0.5), [X, X > 0], None)])
def test_inputs_without_effect(code, given, text):
    refused(lambda: circumstances.uses_inputs(scaled(gradient="none")(code).op_class(), given), text)


def test_inputs_that_act_outside_training():
    @scaled(gradient="none")
    def op(xp, batch, running, *, training):
        return np.asarray(batch if training else running) * 2
    refused(lambda: circumstances.uses_inputs(op.op_class(), [X, X[::-1]]), None)


# Gradients elsewhere

@pytest.mark.parametrize("grad, text", [
    (lambda xp, i, o, g: [g[0] * (2 if i[0].shape[0] < 4 else 1)], "for twice as many rows"),
    (lambda xp, i, o, g: [g[0] * np.where(abs(i[0]) < 20, 2.0, 0.0)], "for much larger inputs"),
    (lambda xp, i, o, g: [g[0] * o[0] / i[0]], "where input 0 is 0"), (lambda xp, i, o, g: [g[0] * 2], None)])
def test_gradients_elsewhere(grad, text):
    op = scaled(grad=grad)(lambda xp, x: np.asarray(x) * 2).op_class()
    refused(lambda: circumstances.gradients_elsewhere(op, [X], 1e-6, 0), text)


def along(axis):
    def grad(xp, inputs, outputs, grads):
        return [outputs[0] * (grads[0] - (grads[0] * outputs[0]).sum(axis=axis, keepdims=True))]
    return grad


@pytest.mark.parametrize("axis, ranks, text", [
    (1, (2, 3), "for inputs with one more axis in front"), (-1, (2, 3), None), (1, (2,), None)])
def test_gradients_of_more_axes(axis, ranks, text):
    @scaled(grad=along(axis))
    def softmax(xp, x):
        if x.ndim not in ranks:
            raise ValueError("a matrix")
        e = np.exp(np.asarray(x) - np.max(x, axis=-1, keepdims=True))
        return e / e.sum(axis=-1, keepdims=True)
    refused(lambda: circumstances.gradients_elsewhere(softmax.op_class(), [X], 1e-6, 0), text)


@pytest.mark.parametrize("grad, text", [
    (lambda inputs, outputs, grads: [grads[0] * 2.0 * KEPT[0]], "values of an earlier run"),
    (lambda inputs, outputs, grads: [grads[0] * 2.0 * inputs[0]], None)])
def test_gradients_of_nodes_that_use_what_compute_left(grad, text):
    @scaled(grad=grad)
    def squared(xp, x):
        KEPT[0] = np.asarray(x)
        return KEPT[0] ** 2
    refused(lambda: circumstances.gradients_elsewhere(squared.op_class(), [X], 1e-6, 0), text)


@pytest.mark.parametrize("grad, text", [
    (lambda xp, i, o, g: [g[0] * 2], "outside of training: gradient for input 0"),
    (lambda xp, i, o, g, *, training: [g[0] * (2 if training else 3)], None)])
def test_gradients_outside_training(grad, text):
    @user_op(f"test_wrong_ops.outside{text is None}", grad=grad)
    def op(xp, x, *, training):
        return np.asarray(x) * (2 if training else 3)
    refused(lambda: circumstances.gradient_outside_training(op.op_class(), [X], 1e-6, 0), text)


# What is right

@pytest.mark.sampled(3)
@pytest.mark.parametrize("code", [
    lambda xp, x: xp.sort(x, axis=-1)[..., -2:], lambda xp, x: xp.where(x > 0, 1, 0), lambda xp, x: xp.linalg.norm(x, axis=0)])
def test_rules_that_follow_from_the_code(code):
    """Slices of what is too short, and numbers that take the type of the inputs, are not the author's."""
    check_op(scaled()(code), [X]).raise_if_failed()


def test_ops_of_one_type():
    @user_op("test_wrong_ops.single", grad=lambda inputs, outputs, grads: [grads[0] * 2])
    def single(xp, x):
        if x.dtype != np.float32:
            raise TypeError("float32 only")
        return np.asarray(x) * np.float32(2)
    report = check_op(single, [X.astype("f4")])
    assert report.passed and {c.name: c.detail for c in report.checks}["shape rule, float64"] == "refused"


def test_results_too_small_for_16_bits():
    assert runs.of_types(scaled()(lambda xp, x: x * 1e-30).op_class(), [X], [DataType.HALF]) == "HALF ok"


@pytest.mark.slow
def test_masks_that_code_compares_have_a_gradient_beside_0_and_1():
    mask = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])

    @scaled()
    def shown(xp, x, mask):
        return xp.where(mask > 0, x, -1e9)
    report = check_op(shown, [X, mask])
    assert report.passed, report
    assert "masks moved" in {c.name: c.detail for c in report.checks}["gradient"]

    @scaled(grad=lambda xp, i, o, g: [g[0] * i[1], None])
    def times(xp, x, mask):
        return np.asarray(x) * mask
    assert "gradient" in {c.name for c in check_op(times, [X, mask]).failures}


@pytest.mark.slow
def test_results_in_another_floating_type_than_the_inputs():
    @scaled()
    def narrow(xp, x):
        return (x * x).astype(np.float32)
    report = check_op(narrow, [X])
    assert report.passed, report

    @scaled(grad=lambda xp, i, o, g: [g[0] * 2.1 * i[0]])
    def wrong(xp, x):
        return (x * x).astype(np.float32)
    assert "gradient" in {c.name for c in check_op(wrong, [X]).failures}


def test_gradient_kernels_where_several_numbers_are_the_largest():
    def largest(x, y, gy, gx):
        gx[:] = 0
        for i in range(x.shape[0]):
            gx[i, x[i].argmax()] = gy[i]
    made = user_op("test_wrong_ops.largest", numba_grad=largest)(lambda xp, x: x.max(axis=1)).op_class()
    run = {name: run for name, _, run in kernels.KERNELS}["gradient kernel stays in its arrays"]
    assert run(made, [[X], [np.concatenate([X, X], 1)]]).startswith("2 shapes")


@pytest.mark.parametrize("refuses, text", [(False, "with which compute takes the inputs, the gradient fails"), (True, None)])
def test_gradients_that_fail_for_other_attributes(refuses, text):
    def grad(xp, inputs, outputs, grads, axis):
        if refuses and axis != 1:
            raise NotImplementedError("axis 1 only")
        return [xp.ones_like(inputs[0]) * xp.expand_dims(grads[0], 1)]

    def total(xp, x, *, axis: int = 1):
        return np.asarray(x).sum(axis=axis)
    made = scaled(grad=grad)(total).op_class()
    refused(lambda: circumstances.gradients_of_other_attributes(made, [X], 1e-6, 0), text)


@pytest.mark.parametrize("right, text", [(False, "with another 'k'"), (True, None)])
def test_gradients_for_numbers_of_the_other_sign(right, text):
    def grad(xp, inputs, outputs, grads, k):
        return [grads[0] * (abs(k) if right or k > 0 else 1.0)]

    def size(xp, x, *, k: float = 1.5):
        return np.asarray(x) * abs(k)
    made = scaled(grad=grad)(size).op_class()
    refused(lambda: circumstances.gradients_of_other_attributes(made, [X], 1e-6, 0), text)


@pytest.mark.parametrize("rule, text", [
    (lambda x, axis: x.with_shape(x.shape[:axis] + x.shape[axis + 1:]), "with another 'axis'"),
    (lambda x, axis: x.with_shape(tuple(np.delete(x.shape, axis))), None)])
def test_axes_from_the_end(rule, text):
    def total(xp, x, *, axis: int = 0):
        return np.asarray(x).sum(axis=axis)
    made = scaled(infer=rule, gradient="none")(total).op_class()
    refused(lambda: attributes.with_other_attributes(made, [X], lambda op, arrays: None), text)


def spread(xp, x):
    """The variance along the last axis, of one number that number itself."""
    n = x.shape[-1]
    return ((x - x.mean(axis=-1, keepdims=True)) ** 2).sum(axis=-1) if n > 1 else x[..., 0] * 1


@pytest.mark.parametrize("of_one, text", [(0.0, "with size 1 along the axes of size 2, which the code takes"), (1.0, None)])
def test_gradients_of_axes_of_size_1(of_one, text):
    def grad(xp, inputs, outputs, grads):
        x = inputs[0]
        slope = 2 * (x - x.mean(axis=-1, keepdims=True)) if x.shape[-1] > 1 else xp.ones_like(x) * of_one
        return [slope * grads[0][..., None]]
    refused(lambda: circumstances.gradients_elsewhere(scaled(grad=grad)(spread).op_class(), [X], 1e-6, 0), text)


@pytest.mark.parametrize("code, text", [
    (lambda xp, x: np.tanh(np.asarray(x)), 'it declares gradient="zero", and its values change'), (lambda xp, x: xp.round(x), None),
    (lambda xp, x: xp.sign(x) + 3, None), (lambda xp, x: (np.asarray(x).argmax(axis=0), np.floor(np.asarray(x)) * 2), None)])
def test_gradients_that_are_declared_zero(code, text):
    op = scaled(gradient="zero")(code).op_class()
    refused(lambda: circumstances.steps_piece_by_piece(op, [X]), text)


@pytest.mark.parametrize("rule, text", [(lambda mapped, x, w: x * w, "its batching takes no inputs that the op takes"),
                                        (lambda mapped, x, w: x[..., None] * w[..., None, :], None)])
def test_batching_that_takes_nothing(rule, text):
    outer = scaled(batching=rule)(lambda xp, x, w: np.asarray(x)[:, None] * np.asarray(w)[None, :]).op_class()
    refused(lambda: batching.batching_agrees(outer, [np.arange(2.0), np.arange(3.0)]), text)


def test_results_that_are_kept_by_addresses():
    kept: dict = {}

    def by_address(xp, x):
        found = kept.setdefault((x.ctypes.data, x.shape), np.asarray(x) * 2)
        return found.copy()
    op = scaled(gradient="none")(by_address).op_class()
    refused(lambda: runs.independent(op, [X]), "id(x) and addresses tell no arrays")


def test_code_that_takes_none_of_the_examples_is_told_once():
    @scaled(gradient="none")
    def writes_its_weights(xp, x, *, w: np.ndarray = np.ones(2)):  # noqa: B008 - held as it is
        w *= 2
        return np.asarray(x) * w
    report = check_op(writes_its_weights, [X])
    assert [c.name for c in report.failures] == ["shape rule, float32", "shape rule, float64"]
    assert "inputs and attributes of an op cannot be written: work on a copy" in report.failures[0].detail
    assert runs.in_threads(writes_its_weights.op_class(), [X]) == "not run: it takes none of the inputs"


def test_masks_of_which_just_one_is_set():
    """Where a count is held above 1 there is no derivative, at 1 and nowhere near."""
    @scaled()
    def mean(xp, x, mask):
        return (x * mask).sum(axis=0) / xp.maximum(mask.sum(axis=0), 1.0)
    found = {c.name: c for c in check_op(mean, [X, np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])], dtypes=["float64"]).checks}
    assert found["gradient"].passed and "masks moved" in found["gradient"].detail, found
