"""Networks on "cuda:0", as far as it can be seen without a GPU: through a stand-in for CuPy whose streams record graphs."""
from __future__ import annotations

import pytest

from dl4py.samediff import Device, ListDataSetIterator
from dl4py.samediff.cuda.drivers import drivers
from dl4py.samediff.device import devices
from tests.networks.engine.test_on_device import CASES, _same
from tests.samediff.cuda.support import needs_compiler
from tests.samediff.cuda.test_gpu import cupy  # noqa: F401 - a fixture

pytestmark = needs_compiler


@pytest.fixture(autouse=True)
def fresh(cupy):  # noqa: F811 - the fixture
    """No driver of another test."""
    yield
    drivers._drivers.pop(Device("cuda", 0), None)
    devices._backends.clear()


@pytest.mark.sampled(12)
@pytest.mark.parametrize("case", CASES)
def test_training_and_inference(case):
    make, data = CASES[case]
    here, there, batch = make(), make().to("cuda:0"), data()
    for net in (here, there):
        net.fit(ListDataSetIterator(batch.as_list(), 5), 3)
        net.fit(batch)
    _same(here.params(), there.params())
    _same(here.output(batch.features), there.output(batch.features))
    steps = [known.compiled for known in there.engine.steps.known.values()]
    assert steps or case == "doubles"               # data of another type is converted for each step
    for step in steps:
        (program,) = step._frame.program
        assert not program.reason
    assert not steps or steps[0]._frame.program[0].is_captured
