"""A back end from outside whose memory is its own: bytes that only copies reach. It trains networks and graphs as the CPU does."""
from __future__ import annotations

import math

import numpy as np
import pytest

from dl4py.samediff import Adam, DataSet, ListDataSetIterator, SameDiff, device
from dl4py.samediff.device.device_memory import on_device
from dl4py.samediff.device.devices import register_device
from dl4py.samediff.errors import DeviceError
from dl4py.samediff.expressions import expression as ex
from dl4py.samediff.expressions.arrays import xp
from dl4py.samediff.ir.kernel_table import KernelTable
from dl4py.samediff.ir.op import Kernel
from dl4py.samediff.ir.run_context import RunContext
from dl4py.samediff.ops.linalg.matmul import Matmul
from dl4py.samediff.plans.backend import Backend
from dl4py.samediff.plans.loops import ArrayLoops, FunctionProgram
from dl4py.samediff.plans.plan import Plan
from dl4py.samediff.plans.plan_data import StepKind
from dl4py.samediff.training import L2Regularization, TrainingConfig
from tests.networks.engine.test_on_device import CASES, _same


class Tensor:
    """What the device knows of an array; NumPy can do nothing with it."""

    def __init__(self, memory, start, shape, dtype, strides=None):
        self.memory, self.start, self.shape, self.dtype, self.strides = memory, start, tuple(shape), np.dtype(dtype), strides


class Bytes:
    """The memory of the device."""

    name, xp = "bytes:0", xp

    def empty(self, shape, dtype):
        return Tensor(bytearray(max(math.prod(shape) * np.dtype(dtype).itemsize, 1)), 0, shape, dtype)

    def view(self, memory, start, shape, dtype, strides=None):
        return Tensor(memory.memory, memory.start + start, shape, dtype, strides)

    def _bytes(self, array):
        return np.ndarray(array.shape, array.dtype, array.memory, array.start, array.strides)

    def upload(self, host, target=None):
        target = self.empty(np.shape(host), host.dtype) if target is None else target
        self._bytes(target)[...] = host
        return target

    def download(self, array, target=None):
        target = np.empty(array.shape, array.dtype) if target is None else target
        target[...] = self._bytes(array)
        return target


def downloaded(arrays):
    return [None if a is None else DEVICE.download(a) for a in arrays]


def uploaded(arrays):
    return [DEVICE.upload(a) for a in arrays]


DEVICE = Bytes()
KERNELS = KernelTable("bytes")
STEPS = []          # whole training steps


@KERNELS.register(Matmul)
def _(op, *specs):
    return Kernel(lambda x, y, out: DEVICE.upload(op.compute(xp, *downloaded((x, y))), out))


class OwnPlan(Plan):
    """Steps one after the other; parameters and gradients stay on the device."""

    def run(self, feeds, context):
        values = {n: DEVICE.upload(a) for n, a in zip(self.feeds, feeds)}
        values.update({n: on_device(a, DEVICE)[1] for n, a in self.stored.items()})
        for step in self.steps:
            inputs = [None if n is None else values[n] for n in step.inputs]
            if step.writes:
                made = [DEVICE.empty(self.specs[n].shape, self.specs[n].dtype.numpy) for n in step.outputs]
                step.call(*inputs, *made)
            elif step.kind is StepKind.VIEW:
                made = uploaded(step.call(*downloaded(inputs)))
            else:
                made = step.call(context, *inputs)
            values.update(zip(step.outputs, made))
        results = dict(zip(self.outputs, downloaded(values[s] for s in self.sources)))
        for n, array in self.handed_in.items():
            OwnLoops().write(array, results.pop(n))
        return tuple(map(results.get, self.outputs))


class OwnLoops(ArrayLoops):
    """Loops on what the device has, but for numbers that change on the host from step to step."""

    def __init__(self, numbers=()):
        self._numbers = numbers

    def read(self, array):
        on_host = any(np.shares_memory(array, n) for n in self._numbers)
        return array if on_host else DEVICE.download(on_device(array, DEVICE)[1])

    def write(self, array, value):
        block, place = on_device(array, DEVICE)
        DEVICE.upload(value, place)
        block.changed_on(DEVICE)


class WholeStep:
    most = 2

    def __init__(self, plan, update):
        self._plan, self._update = plan, update
        self._program = FunctionProgram(dict(enumerate(update.compile_for(OwnLoops(update.numbers)))), update.counter)

    def __call__(self, feeds, iteration, epoch, scale, seed):
        STEPS.append(iteration)
        self._update.set_numbers(iteration, epoch, scale)
        with self._update.gate:
            results = self._plan.run(feeds, RunContext(True, seed, iteration, epoch=epoch))
            self._program()
        return results[:self._update.outputs]

    def run_many(self, batches, iteration, epoch, scale, seed):
        return [self(feeds, iteration + k, epoch, scale, seed) for k, feeds in enumerate(batches)][-1]


class OwnMemory(Backend):
    name, kernels, on_host = "bytes:0", KERNELS, False

    def plan(self, **parts):
        return OwnPlan(**parts)

    def fused(self, exprs, names, count, symbolic):
        def call(*arrays):
            for out, value in zip(arrays[count:], ex.evaluate(exprs, xp, downloaded(arrays[:count]))):
                DEVICE.upload(value, out)
        return call, None

    def python(self, node, specs):
        compute = super().python(node, specs)
        return lambda context, *inputs: uploaded(compute(context, *downloaded(inputs)))

    def compile(self, make, counter=None):
        return FunctionProgram(make(OwnLoops()), counter)

    def training_step(self, plan, update):
        return WholeStep(plan, update)


register_device("bytes", lambda device: OwnMemory())


@pytest.mark.sampled(3)
@pytest.mark.parametrize("case", CASES)
def test_networks(case):
    make, data = CASES[case]
    here, there, batch = make(), make().to("bytes"), data()
    for net in (here, there):
        net.fit(ListDataSetIterator(batch.as_list(), 5), 3)
        net.fit(batch)
    before = there.engine.flat.vectors[0].copy()
    STEPS.clear()
    for net in (here, there):
        net.fit(batch)
    assert STEPS or case == "doubles"                       # data of another type is converted for each step
    assert not STEPS or (there.engine.flat.vectors[0] == before).all()      # nobody has asked for the new ones yet
    _same(there.params(), here.params())
    _same(there.get_updater().state_view(), here.get_updater().state_view())
    _same(there.output(batch.features), here.output(batch.features))
    _same(there.score(batch), here.score(batch))


def test_a_graph():
    rng = np.random.default_rng(3)
    batches = [DataSet(rng.normal(size=(5, 3)).astype("f4"), rng.normal(size=(5, 2)).astype("f4")) for _ in range(4)]
    found = []
    for where in ("cpu", "bytes"):
        sd = SameDiff.create()
        x, y = sd.placeholder("x", "float", -1, 3), sd.placeholder("y", "float", -1, 2)
        w, b = (sd.var(n, np.linspace(-1, 1, math.prod(s), dtype=np.float32).reshape(s)) for n, s in (("w", (3, 2)), ("b", (2,))))
        ((sd.math.tanh(x.mmul(w) + b) - y) ** 2).mean("loss")
        sd.set_loss_variables("loss")
        mapping = {"data_set_feature_mapping": "x", "data_set_label_mapping": "y"}
        sd.set_training_config(TrainingConfig(Adam(0.05), [L2Regularization(0.1)], **mapping))
        STEPS.clear()
        with device(where):
            losses = sd.fit(ListDataSetIterator(batches, 5), 3).loss_curve().mean_loss("loss")
            assert bool(STEPS) == (where == "bytes")
        found.append([losses, *(sd.variable(n).get_arr() for n in "wb")])
    for mine, wanted in zip(*found):
        _same(mine, wanted)
    with device("bytes"), pytest.raises(DeviceError, match="this plan is for bytes:0"):
        sd.profile({"x": batches[0].features, "y": batches[0].labels}, "loss")
