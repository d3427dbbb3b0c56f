"""A training step over one flat parameter vector."""
import numpy as np
import pytest

from dl4py.samediff import DataType, SameDiff, device
from dl4py.samediff.families.gradient import gradients
from dl4py.samediff.ir.run_context import RunContext
from dl4py.samediff.training import Adam, Sgd
from dl4py.samediff.training.steps import step as step_module
from dl4py.samediff.training.steps.step import FlatParameters, FlatSlot, TrainingStep
from dl4py.samediff.training.steps.transaction import Transaction
from tests.samediff.cuda.support import needs_compiler


@pytest.mark.parametrize("order", ["c", "f"])
def test_gradients_land_in_the_flat_vector_whatever_the_order(order):
    """A weight that is used twice has a gradient that an elementwise loop writes, also into column-major memory."""
    flat = FlatParameters([FlatSlot("w", (3, 4), Sgd(0.1), order=order)], np.float32)
    flat.params[:] = np.arange(12)
    sd = SameDiff.create()
    w = sd.attach("w", flat.arrays["w"])
    x = sd.placeholder("x", DataType.FLOAT, -1, 3)
    loss = x.mmul(w).sum() + (x * 2.0).mmul(w).sum() + (w * w).sum()
    fork = sd.fork()
    found = gradients(fork, [fork.variable(loss.name())], [fork.variable("w")])
    step = TrainingStep(fork, {"w": found["w"].name()}, flat, [loss.name()])
    step.compute({"x": np.ones((2, 3), np.float32)}, RunContext(True))
    np.testing.assert_allclose(flat.gradient_arrays["w"], 6 + 2 * flat.arrays["w"])
    before = flat.arrays["w"].copy()
    step.update(0, 0, 0.5)
    np.testing.assert_allclose(flat.arrays["w"], before - 0.1 * 0.5 * (6 + 2 * before), rtol=1e-6)


class _Failing(np.ndarray):
    def __setitem__(self, key, value):
        raise OSError("the memory is gone")


def test_what_cannot_be_restored_says_why():
    with pytest.raises(OSError, match="the memory is gone"), Transaction([np.zeros(2).view(_Failing)]):
        raise KeyboardInterrupt


def test_what_is_restored_survives_interrupts():
    class Interrupted(np.ndarray):
        left = 3

        def __setitem__(self, key, value):
            if Interrupted.left:
                Interrupted.left -= 1
                raise KeyboardInterrupt
            super().__setitem__(key, value)

    array = np.zeros(2)
    with pytest.raises(KeyboardInterrupt), Transaction([array.view(Interrupted)]):
        array += 1
        raise KeyboardInterrupt
    assert array.tolist() == [0, 0]


def test_what_is_asked_for_comes_to_the_host(monkeypatch):
    """Each of the vectors by itself, as arrays by name too."""
    flat, asked = FlatParameters([FlatSlot("w", (3, 4), Adam(0.1))], np.float32), []
    monkeypatch.setattr(step_module, "to_host", lambda vector: asked.append(id(vector)) or vector)
    params, slopes, state = flat.vectors
    assert not asked
    for name, vector in {"params": params, "gradients": slopes, "state": state, "arrays": params, "gradient_arrays": slopes}.items():
        getattr(flat, name)
        assert asked == [id(vector)], name
        asked.clear()
    assert np.shares_memory(flat.arrays["w"], params) and np.shares_memory(flat.gradient_arrays["w"], slopes)


@needs_compiler
@pytest.mark.parametrize("where", ["cpu", "emulated"])
def test_gradients_that_a_step_does_not_compute_become_zeros_where_they_are(where, monkeypatch):
    """On a device nothing comes to the host for it."""
    flat = FlatParameters([FlatSlot("w", (3, 4), Sgd(0.1)), FlatSlot("unused", (5,), Sgd(0.1))], np.float32)
    sd = SameDiff.create()
    loss = (sd.attach("w", flat.arrays["w"]) * 2.0).sum()
    fork = sd.fork()
    found = gradients(fork, [fork.variable(loss.name())], [fork.variable("w")])
    step = TrainingStep(fork, {"w": found["w"].name()}, flat, [loss.name()])
    flat.gradients[:] = 7
    asked, to_host = [], step_module.to_host
    monkeypatch.setattr(step_module, "to_host", lambda vector: asked.append(vector) or to_host(vector))
    with device(where):
        step.clear_others()
    assert bool(asked) == (where == "cpu")
    assert flat.gradient_arrays["unused"].tolist() == [0] * 5 and (flat.gradient_arrays["w"] == 7).all()
