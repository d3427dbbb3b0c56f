"""Back ends from outside, and how kernels are found."""
from __future__ import annotations

import threading

import numpy as np
import pytest

from dl4py.layers import BatchNormalization, ConvolutionLayer, DenseLayer, InputType, OutputLayer
from dl4py.networks import MultiLayerNetwork, NeuralNetConfiguration
from dl4py.samediff import Adam, SameDiff
from dl4py.samediff.base.datatype import DataType
from dl4py.samediff.base.spec import TensorSpec
from dl4py.samediff.device.devices import Device, backend_of, device, register_device
from dl4py.samediff.errors import DeviceError, RegistrationError
from dl4py.samediff.expressions.arrays import xp
from dl4py.samediff.ir.kernel_table import KernelTable
from dl4py.samediff.ir.op import OPS, Op
from dl4py.samediff.ops.elementwise.activations import Relu
from dl4py.samediff.ops.index.scatter import ScatterNd
from dl4py.samediff.ops.index.segment import Segment
from dl4py.samediff.ops.nn.softmax import Softmax
from tests.samediff.plans import toy


def network():
    conf = (NeuralNetConfiguration.Builder().seed(7).updater(Adam(1e-2)).list()
            .layer(ConvolutionLayer.Builder(3, 3).nOut(4).activation("relu").build())
            .layer(BatchNormalization())
            .layer(DenseLayer.Builder().nOut(8).activation("tanh").build())
            .layer(OutputLayer.Builder("mcxent").nOut(3).activation("softmax").build())
            .setInputType(InputType.convolutional(6, 6, 2)).build())
    net = MultiLayerNetwork(conf)
    net.init()
    return net


def test_a_network_trains_on_a_back_end_from_outside():
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(10, 2, 6, 6)).astype(np.float32), np.eye(3, dtype=np.float32)[rng.integers(0, 3, 10)]
    here, there = network(), network()
    toy.RUNS.update(matmul=0, softmax=0)
    for _ in range(5):
        here.fit(x, y)
    with device("toy"):
        for _ in range(5):
            there.fit(x, y)
        found = there.output(x)
    assert min(toy.RUNS.values()) >= 1
    np.testing.assert_allclose(there.params(), here.params(), rtol=0, atol=2e-4)
    np.testing.assert_allclose(found, here.output(x), rtol=0, atol=2e-4)


def test_a_graph_runs_there_with_its_own_kernels():
    sd = SameDiff.create()
    y = sd.nn.softmax("y", sd.placeholder("x", "float", -1, 3).mmul(sd.constant(np.eye(3, dtype=np.float32))) * 2)
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    before = dict(toy.RUNS)
    with device("toy:0"):
        found = sd.output_single({"x": x}, y.name())
    assert {k: n + 1 for k, n in before.items()} == toy.RUNS
    np.testing.assert_allclose(found, sd.output_single({"x": x}, y.name()), rtol=1e-5)


def test_its_plans_call_everything_from_python():
    sd = SameDiff.create()
    x = sd.placeholder("x", "float", -1, 2)
    y = sd.permute(x * 2.0 + 1.0, 1, 0).reshape(-1)           # a loop, a view and a view in name only
    given = {"x": np.arange(4, dtype=np.float32).reshape(2, 2)}
    with device("toy"):
        text, found = sd.explain(given, y.name()), sd.output_single(given, y.name())
    assert "native calls: 0" in text and "copy" in text
    np.testing.assert_array_equal(found, [1, 5, 3, 7])


def test_what_is_registered_must_be_a_back_end():
    class Mine:
        on_host = True
    register_device("no_backend", lambda device: Mine())
    sd = SameDiff.create()
    sd.constant("c", 1.0).add("y", 1.0)
    with device("no_backend"), pytest.raises(DeviceError, match=r"registered for no_backend:0 is a Mine; expected a sub-class"):
        sd.output({}, "y")


@pytest.mark.parametrize("name", ["cpu", "cuda", "gpu", "emulated", "toy", "no name", "mine:0"])
def test_names_of_devices_that_cannot_be_had(name):
    with pytest.raises(RegistrationError):
        register_device(name, lambda device: toy.Toy())


def test_unknown_devices():
    with pytest.raises(DeviceError, match="did you mean 'toy'"):
        Device.of("toi")


class Own(Relu):
    """A sub-class with a kernel that it says itself."""

    def toy(self, x):
        return f"own of {x}"


class Heir(Own):
    """Its heir."""


def test_the_nearest_class_decides():
    table = KernelTable("toy")
    table.register(Relu)(lambda op, x: f"relu of {x}")
    assert [table.kernel(c(), "x") for c in (Relu, Own, Heir)] == ["relu of x", "own of x", "own of x"]
    table.register(Heir)(lambda op, x: f"heir of {x}")
    assert table.kernel(Heir(), "x") == "heir of x"
    assert table.kernel(Softmax(), "x") is None and not table.has(Softmax)


class Other(Relu):
    """A sub-class that computes something else."""

    def compute(self, xp, x):
        return -x


class OtherHeir(Own):
    """The same below a class with a kernel that it says itself."""

    def compute(self, xp, x):
        return -x


class Family(Op):
    """A parent without a meaning, whose kernel is for its heirs."""

    def toy(self, x):
        return f"family of {x}"


class Member(Family):
    """One of them."""

    def compute(self, xp, x):
        return x


def test_a_kernel_is_not_taken_for_another_meaning():
    table = KernelTable("toy")
    table.register(Relu)(lambda op, x: f"relu of {x}")
    assert [table.kernel(c(), "x") for c in (Other, OtherHeir, Member)] == [None, None, "family of x"]


class Alias(Op):
    """Another name of an op."""

    def kernel_op(self, *specs):
        return Relu() if specs else None

    def compute(self, xp, x):
        return xp.maximum(x, 0)


class Negative(Alias):
    """A sub-class that computes something else."""

    def compute(self, xp, x):
        return -x


def test_an_op_has_the_kernels_of_the_op_it_names():
    table = KernelTable("toy")
    table.register(Relu)(lambda op, x: f"relu of {x}")
    assert table.kernel(Alias(), "x") == "relu of x" and table.kernel(Alias()) is None and table.has(Alias)
    assert table.kernel(Negative(), "x") is None and not table.has(Negative)
    table.register(Alias)(lambda op, x: f"alias of {x}")
    assert table.kernel(Alias(), "x") == "alias of x"


class Doubled(Softmax):
    """A sub-class that is another sweep, if any."""

    def compute(self, xp, x):
        return 2 * super().compute(xp, x)


X, OPEN = TensorSpec((2, 3), DataType.FLOAT), TensorSpec((-1, 3), DataType.FLOAT)


@pytest.mark.parametrize(("op", "specs", "found"), [
    (Softmax(), [X], ("softmax", (1,), None, ())),
    (Softmax(dimension=0), [X], ("softmax", (0,), None, ())),
    (Softmax(), [OPEN], None),
    (Softmax(), [TensorSpec((), DataType.FLOAT)], None),
    (Doubled(), [X], None),
    (OPS["reduce_sum"](dimensions=(0,)), [X], ("reduce_sum", (0,), DataType.FLOAT, ())),
    (OPS["reduce_sum"](), [X, TensorSpec((1,), DataType.INT)], None),
    (OPS["std"](bias_corrected=True), [X], ("sample_std", (0, 1), DataType.FLOAT, ())),
    (OPS["moments"](dimensions=(1,)), [TensorSpec((2, 3), DataType.INT)], ("moments", (1,), DataType.FLOAT, ())),
    (OPS["standardize"](dimensions=(-1,)), [X], ("standardize", (1,), None, ())),
    (OPS["layer_norm"](dimensions=(1,)), [X, None, TensorSpec((3,), DataType.FLOAT)], ("layer_norm_bias", (1,), None, ((2, 3), (1, 3)))),
], ids=repr)
def test_ops_say_which_sweep_they_are(op, specs, found):
    taken = []
    table = KernelTable("toy", swept=lambda sweep, given: taken.append(sweep) or "made")
    assert table.kernel(op, *specs) == (None if found is None else "made")
    assert [(s.name, s.axes, s.result, s.shapes) for s in taken] == ([] if found is None else [found])
    assert table.has(type(op)) is (type(op) is not Doubled) and not KernelTable("toy").has(type(op))
    assert KernelTable("toy").kernel(op, *specs) is None


class Twice(OPS["segment_sum"]):
    """A sum of segments, doubled."""

    def compute(self, xp, data, ids):
        return 2 * super().compute(xp, data, ids)


class Last(Segment):
    """The last row of each segment."""

    id = "segment_last"

    def compute(self, xp, data, ids):
        return data[xp.flatnonzero(xp.append(ids[1:] != ids[:-1], True))]


class Placed(ScatterNd):
    """Every row replaced by the last update."""

    id = "placed_everywhere"

    def compute(self, xp, ref, indices, updates):
        return ref * 0 + updates[-1]


@pytest.mark.parametrize("where", ["cpu", "emulated"])
def test_heirs_of_dl4py_ops_run_what_they_compute(where):
    x, ids = np.arange(6, dtype=np.float32).reshape(3, 2), np.array([0, 0, 1])
    for cls, arrays in ((Twice, [x, ids]), (Last, [x, ids]), (Placed, [x, ids[:, None], x])):
        sd = SameDiff.create()
        y = sd.add_op(cls(), [sd.placeholder(f"x{i}", "float" if a.dtype == x.dtype else "long", *a.shape) for i, a in enumerate(arrays)])
        with device(where):
            found = sd.output_single({f"x{i}": a for i, a in enumerate(arrays)}, y.name())
        np.testing.assert_array_equal(found, cls().compute(xp, *arrays))


def test_a_module_with_rules_that_is_broken_says_so(tmp_path, monkeypatch):
    (tmp_path / "broken_rules").mkdir()
    (tmp_path / "broken_rules" / "__init__.py").write_text("")
    (tmp_path / "broken_rules" / "activations.py").write_text("import no_such_module_at_all\n")
    monkeypatch.syspath_prepend(tmp_path)
    table = KernelTable("toy")
    table.add_folder("dl4py.samediff.ops.elementwise", "broken_rules")
    assert table.find(Softmax) is None                      # there is no module for it
    with pytest.raises(ModuleNotFoundError, match="no_such_module_at_all"):
        table.find(Relu)


def test_a_rule_registered_during_a_search_counts():
    table = KernelTable("toy")
    search = table._search

    def meanwhile(cls):
        found = search(cls)
        table.register(Relu)(lambda op, x: f"relu of {x}")
        return found

    table._search = meanwhile
    assert table.find(Relu) is None
    table._search = search
    assert table.kernel(Relu(), "x") == "relu of x"


def test_a_maker_may_wait_for_a_thread_that_asks_for_devices():
    def make(where):
        thread = threading.Thread(target=backend_of, args=(Device("toy", 7),), daemon=True)
        thread.start()
        thread.join(60)
        assert not thread.is_alive()
        return toy.Toy()

    register_device("waiting", make)
    assert backend_of(Device("waiting")) is backend_of(Device("waiting"))


def test_devices_that_are_none():
    with pytest.raises(RegistrationError, match="cannot be called 3"):
        register_device(3, lambda device: toy.Toy())
    with pytest.raises(RegistrationError, match="need a function"):
        register_device("without_maker", None)
    with pytest.raises(DeviceError, match="no kind of device called 'tpu'"):
        device(Device("tpu"))
    register_device("makes_none", lambda device: None)
    with pytest.raises(DeviceError, match="returned None"):
        device("makes_none")
