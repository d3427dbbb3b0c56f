"""Which checks an op gets, by what it is and what it is given; nothing is run here."""
from __future__ import annotations

import contextlib

import numpy as np
import pytest

from dl4py.samediff.base.user_code.check_report import Check, CheckReport
from dl4py.samediff.errors import DeviceError, GraphError
from dl4py.udf import UserDefinedCustomOp, UserOp, check_op, user_defined_op, user_op
from dl4py.udf.checks import check as module

X, Q, K = np.linspace(-1, 1, 6).reshape(2, 3), np.linspace(-1, 1, 4).reshape(2, 2), np.array([1, 2, 3])
TEXT = 'extern "C" __global__ void f(const T *x, T1 *y, long long n) { }'


def kernel(x, y):
    y[...] = x


@user_op("test_which.plain")
def plain(xp, x, m=None, *more):
    return x * 2


@user_op("test_which.whole", batching="leading")
def whole(xp, x):
    return x * 2


@user_op("test_which.alone", batching="none")
def alone(xp, x):
    return x * 2


@user_op("test_which.random", stateful=True, batching="leading")
def drawn(xp, x, *, context):
    return x * context.random().random(x.shape)


@user_op("test_which.kernels", numba=kernel, cuda=TEXT)
def kernels(xp, x):
    return x * 1


@user_op("test_which.gradients", numba_grad=lambda x, y, g, out: None, cuda_grad=TEXT)
def gradients(xp, x):
    return x * 1


@user_op("test_which.scaled")
def scaled(xp, x, *, k: float = 1.0, name: str = ""):
    return x * k


@user_op("test_which.flat", gradient="zero")
def flat(xp, x):
    return xp.floor(x)


@user_op("test_which.stairs", gradient="surrogate", grad=lambda inputs, outputs, grads: [grads[0]])
def stairs(xp, x):
    return xp.floor(x)


@user_op("test_which.drawn_text", stateful=True, cuda=TEXT)
def drawn_text(xp, x, *, context):
    return x * context.random().random(x.shape)


@user_defined_op
class Java(UserDefinedCustomOp):
    def op_name(self):
        return "test_which_java"

    def calculate_output_shape(self, oc):
        return [oc.input_array(0).shape]

    def exec(self, inputs, outputs):
        outputs[0][...] = inputs[0]


@pytest.fixture
def planned(monkeypatch):
    """The names of the checks, none of which runs."""
    def only_named(report, checks, decisive=()):
        report.checks += [Check(name, True) for name, _ in checks]
    monkeypatch.setattr(module, "run_here", only_named)
    monkeypatch.setattr(module, "run_apart", only_named)
    monkeypatch.setattr(module, "possible", lambda: True)
    return lambda *args, **options: [c.name for c in check_op(*args, **options).checks]


class Named(str):
    """Stands for a device."""

    kind = property(lambda self: self.partition(":")[0])


def device_of(name):
    return contextlib.nullcontext(Named(f"{name}:0"))


def missing(name):
    raise DeviceError(f"no {name}")


FIRST = ["attributes are typed and hashable", "survives saving and loading"]
FLOATS, GIVEN = ["shape rule, float32", "shape rule, float64"], ["shape rule, as given"]
OURS = ["inputs stay unchanged", "compiled plan agrees with compute"]
RUNS = ["calls in either order", "saved, in a new process", "inputs stay unchanged", "calls do not depend on each other", "several threads",
        "memory", "process stays", "compiled plan agrees with compute", "the same outside training", "other sizes"]
MEMORY = ["inputs are used", "precision", "result types", "strided inputs", "one array as several inputs"]
THEIRS = [*RUNS, *MEMORY]
RANKS = ["other numbers of axes"]        # of rules that are written
VALUES, NUMBERS, COUNTS = ["other values", "special values"], ["random numbers"], ["other numbers of inputs"]
WRITTEN = ["gradient elsewhere", "gradient in float32", "gradient of open sizes"]
HALF, BATCH, ROWS = ["half precision"], ["batching agrees with single calls"], ["shape rule, twice the rows"]
BOTH = ["gradient", "second gradient"]
KERNELS = ["kernel stays in its arrays", "CUDA text stays in its arrays", "gradient kernel stays in its arrays",
           "CUDA text of the gradient stays in its arrays"]


@pytest.mark.parametrize(("op", "inputs", "options", "wanted"), [
    ("tanh", [X], {}, [*FLOATS, *ROWS, *OURS, *BOTH]),
    ("tanh", [X], {"order": 1}, [*FLOATS, *ROWS, *OURS, "gradient"]),
    ("tanh", [X], {"order": 0}, [*FLOATS, *ROWS, *OURS]),
    ("tanh", [X], {"gradient": False}, [*FLOATS, *ROWS, *OURS]),
    ("tanh", [X], {"dtypes": ["half"], "shapes": [[(3,)], [()]]},
     ["shape rule, float16", "shape rule, shapes (3,)", "shape rule, shapes ()", *ROWS, *OURS, *BOTH]),
    ("tanh", [np.float64(0.5)], {}, [*FLOATS, *OURS, *BOTH]),                        # no rows
    ("tanh", [X], {"device": "emulated"}, [*FLOATS, *ROWS, *OURS, *BOTH, "emulated:0 agrees with compute"]),
    ("matmul", [Q, Q], {}, [*FLOATS, *OURS, *BOTH]),                                 # twice the rows do not fit
    ("abs", [K], {}, [*GIVEN, *ROWS, *OURS]),
    ("abs", [K], {"gradient": True, "order": 1}, [*GIVEN, *ROWS, *OURS, "gradient"]),
    ("floor", [X], {}, [*FLOATS, *ROWS, *OURS]),
    ("dropout", [X], {"attributes": {"p": 0.5}}, [*FLOATS, *ROWS, "inputs stay unchanged"]),
    ("dropout", [X], {"attributes": {"p": 0.5}, "gradient": True, "device": "emulated"},
     [*FLOATS, *ROWS, "inputs stay unchanged", *BOTH]),
    (plain, [X], {}, [*FLOATS, *THEIRS, *HALF, *BOTH]),
    (plain, [K], {}, [*GIVEN, *THEIRS]),
    (plain, [K, X], {}, [*FLOATS, *RUNS, *COUNTS, *MEMORY, *HALF, *BOTH]),                           # any of them
    (plain, [K, None, X], {}, [*FLOATS, *RUNS, *COUNTS, *MEMORY, *HALF, *BOTH]),
    (plain, [K, None], {}, [*GIVEN, *THEIRS]),
    (plain, [X], {"device": "emulated"}, [*FLOATS, *THEIRS, *HALF, *BOTH, "emulated:0 agrees with compute"]),
    (whole, [X], {}, [*FLOATS, *THEIRS, *HALF, *BATCH, *BOTH]),
    (alone, [X], {}, [*FLOATS, *THEIRS, *HALF, *BOTH]),
    (drawn, [X], {}, [*FLOATS, *RUNS, *NUMBERS, *MEMORY, *HALF, *BOTH]),
    (flat, [X], {}, [*FLOATS, *THEIRS, *HALF, "gradient"]),
    (flat, [X], {"gradient": False}, [*FLOATS, *THEIRS, *HALF]),
    (flat, [X], {"gradient": True}, [*FLOATS, *THEIRS, *HALF, *BOTH]),
    (stairs, [X], {}, [*FLOATS, *THEIRS, *HALF, *BOTH]),
    (kernels, [X], {}, [*FLOATS, *KERNELS[:2], *RUNS, *VALUES, *MEMORY, *HALF, *BOTH, "emulated:0 agrees with compute"]),
    (gradients, [X], {}, [*FLOATS, *KERNELS[2:], *THEIRS, *HALF, *BOTH, "gradient by itself", *WRITTEN]),
    (drawn_text, [X], {}, [*FLOATS, KERNELS[1], *RUNS, *VALUES, *NUMBERS, *MEMORY, *HALF, *BOTH]),
    (scaled, [X], {}, [*FLOATS, *RUNS, *MEMORY[:2], "attributes are read", "other attributes", *MEMORY[2:], *HALF, *BOTH]),
    (Java, [X], {}, [*FLOATS, *RUNS, *RANKS, *MEMORY, *HALF, *BOTH]),
    (Java, [K], {}, [*GIVEN, *RUNS, *RANKS, *MEMORY])])
def test_by_op_and_inputs(planned, monkeypatch, op, inputs, options, wanted):
    monkeypatch.setattr(module, "on_device", lambda name: device_of(name) if name == "emulated" else missing(name))
    assert planned(op, inputs, **options) == [*FIRST, *wanted]


def test_a_gpu_is_used_by_this_process(monkeypatch):
    """A copy of the process cannot."""
    apart = []
    monkeypatch.setattr(module, "needed", lambda: True)
    monkeypatch.setattr(module, "run_apart", lambda report, checks, decisive=(): apart.extend(name for name, _ in checks))
    monkeypatch.setattr(module.runs, "plan_rewrite", lambda op, arrays: "")
    monkeypatch.setattr(module, "on_device", device_of)
    for op, name, here in ((kernels, None, "cuda:0"), (plain, "cuda", "cuda:0"), (plain, "emulated", None)):
        apart.clear()
        report = check_op(op, [X], device=name)
        assert [c.name for c in report.checks] == ([f"{here} agrees with compute"] if here else []) and report.passed
        assert ("emulated:0 agrees with compute" in apart) == (here is None) and "second gradient" in apart


def test_devices_that_are_missing(planned, monkeypatch):
    monkeypatch.setattr(module, "on_device", missing)
    assert planned(kernels, [X])[-1] == "CUDA kernel agrees with compute"
    with pytest.raises(DeviceError, match="no cuda"):
        planned(plain, [X], device="cuda")


def test_where_a_kernel_writes_elsewhere_nothing_else_is_told(monkeypatch):
    def planned(self, name, check):
        self.checks.append(Check(name, name != failing))
        return name != failing
    monkeypatch.setattr(CheckReport, "run", planned)
    monkeypatch.setattr(module, "needed", lambda: False)
    monkeypatch.setattr(module, "on_device", missing)
    for op, failing, follows in ((kernels, KERNELS[0], False), (kernels, KERNELS[1], False), (kernels, FIRST[0], True),
                                 (gradients, KERNELS[3], False)):
        names = [c.name for c in check_op(op, [X]).checks]
        assert failing in names and ("strided inputs" in names) == follows


@pytest.mark.parametrize("op", [plain, plain.op_class, plain.op_class(), "test_which.plain"])
def test_numbers_of_examples(planned, op):
    for inputs in ([X], [X, None], (X, X), [X, X, X, K], [X, None, K]):
        assert planned(op, inputs)
    for wrong in ([], X, None):
        with pytest.raises(GraphError, match=r"test_which.plain.*x m\? \*more; 0 examples|list with an example"):
            check_op(op, wrong)


def test_numbers_of_examples_where_there_may_be_no_more(planned):
    @user_op("test_which.three")
    class Three(UserOp):
        def compute(self, xp, x, y, m=None):
            return x + y

    assert planned(Three, [X, X]) and planned(Three(), [X, X, None])
    for count in (1, 4):
        with pytest.raises(GraphError, match=rf"takes the inputs x y m\?; {count} examples"):
            check_op(Three, [X] * count)
