"""Every CUDA text that recorded networks and graphs emit compiles for GPUs."""
from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dl4py.samediff import Device, SameDiff, device
from dl4py.samediff.cuda.drivers import drivers
from dl4py.samediff.cuda.drivers.emulator import Emulator
from dl4py.samediff.plans.actions import KernelLaunch
from tests.helpers.replay import Recorded, data_of, outputs_of
from tests.samediff.cuda.nvrtc import compiled, nvrtc
from tests.test_executors import data

ROOT = Path(__file__).resolve().parents[2] / "golden"
HERE = Device.of("emulated:63")


#: Cases in which a shape is computed on the way, which is all zero here.
NEEDS_VALUES = {"op_shape2"}


class Collector(Emulator):
    """A device that writes down the texts of all launches and does nothing."""

    def __init__(self):
        super().__init__(index=HERE.index)
        self.texts = {}

    def empty(self, shape, dtype):
        return np.zeros(tuple(shape), dtype)

    def prepare(self, actions):
        self.texts.update((a.source, a.name) for a in actions if isinstance(a, KernelLaunch))
        return lambda: None


COLLECTOR = drivers._drivers[HERE] = Collector()


def _network(folder):
    case = Recorded(folder)
    net = case.network(case.arrays.get("params", case.arrays.get("params_0")))
    x, y, fm, lm = data(case)
    if x is None:
        return
    outputs_of(net, x, fm, lm)
    if y is not None:
        for _ in range(2):
            net.fit(data_of(net, x, y, fm, lm))


def _graph(folder):
    sd, file = SameDiff.load(folder / "graph.fb"), folder / "arrays.npz"
    arrays = dict(np.load(file)) if file.exists() else {}
    feeds = {k[3:]: v for k, v in arrays.items() if k.startswith("in/")}
    names = [k[4:] for k in arrays if k.startswith("out/") and sd.has_variable(k[4:])]
    if names:
        sd.output(feeds, *names)


FILES = {_network: "configuration.json", _graph: "graph.fb"}


@pytest.mark.slow
@pytest.mark.skipif(nvrtc() is None, reason="needs NVIDIA's compiler: pip install nvidia-cuda-nvrtc-cu12")
@pytest.mark.parametrize(("pattern", "run"), [("layers/*", _network), ("training/*/*", _network), ("samediff/*/*", _graph)])
def test_texts_of_recorded_cases_compile(pattern, run):
    folders = [p.parent for p in sorted(ROOT.glob(f"{pattern}/case.json"))]
    with device(HERE), np.errstate(all="ignore"):
        for folder in folders:
            if folder.name not in NEEDS_VALUES and (folder / FILES[run]).exists():
                run(folder)
    texts, COLLECTOR.texts = COLLECTOR.texts, {}
    assert len(texts) > 10
    said = {name: compiled(text, "compute_80") for text, name in texts.items()}
    assert not any(said.values()), "\n".join(f"{name}:\n{message}" for name, message in said.items() if message)
