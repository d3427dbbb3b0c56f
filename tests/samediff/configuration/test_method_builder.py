"""Builders whose options are methods: spellings, misspelt names, and that every builder is of one of the two kinds."""
from __future__ import annotations

import ast
from pathlib import Path

import pytest

from dl4py.networks import early_stopping, transfer  # noqa: F401
from dl4py.samediff import nd4j  # noqa: F401
from dl4py.samediff.configuration.configuration import UnknownOptionError
from dl4py.samediff.configuration.method_builder import MethodBuilder
from dl4py.samediff.data.readers import record_multi_iterator  # noqa: F401
from dl4py.samediff.training import PerformanceListener, SleepyTrainingListener, TrainingConfig
from dl4py.samediff.training.listeners import stats_listener  # noqa: F401

ROOT = Path(__file__).parents[3]
BUILDERS = [b for b in MethodBuilder.__subclasses__() if b.__module__.startswith("dl4py.")]


@pytest.mark.parametrize("builder", BUILDERS, ids=lambda b: b.__name__)
def test_a_misspelt_option_is_an_error_that_names_the_right_one(builder):
    options = [n for n in vars(builder) if not n.startswith("_") and callable(getattr(builder, n))]
    for option in options:
        with pytest.raises(UnknownOptionError, match=f"{builder.__name__} has no option '{option}x'; did you mean .*'{option}'"):
            getattr(builder.__new__(builder), option + "x")


def test_options_have_the_spellings_of_java():
    assert PerformanceListener.Builder().setFrequency(3).reportScore(True).build().frequency == 3
    assert SleepyTrainingListener.builder().setTimerIteration(4).timer_bp(2).build().timers["timer_iteration"] == 4


def test_an_option_without_a_near_one_lists_all():
    with pytest.raises(UnknownOptionError, match="no option 'zzz'; its options: build, report_batch"):
        PerformanceListener.Builder().zzz(1)
    with pytest.raises(UnknownOptionError, match="learning rates belong to updaters"):
        TrainingConfig.builder().learningRate(0.1)


@pytest.mark.parametrize("name", ["_nothing", "__len__"])
def test_private_names_are_no_options(name):
    assert not hasattr(PerformanceListener.Builder(), name)
    with pytest.raises(AttributeError, match=name) as raised:
        getattr(PerformanceListener.Builder(), name)
    assert not isinstance(raised.value, UnknownOptionError)


def test_every_builder_is_one_of_methods_or_one_of_fields():
    """Classes ``...Builder`` with a method ``build`` and no arguments derive from MethodBuilder or Builder."""
    known, found = {"MethodBuilder", "Builder", "NetworkBuilder", "NetworkGraphBuilder"}, 0       # the last is no one's but the engine's
    for package in ("samediff", "layers", "networks", "udf"):
        for path in (ROOT / package).rglob("*.py"):
            text = path.read_text(encoding="utf-8")
            if "Builder" not in text:
                continue
            for node in ast.parse(text).body:
                if isinstance(node, ast.ClassDef) and node.name.endswith("Builder") and node.name not in known and any(
                        isinstance(m, ast.FunctionDef) and m.name == "build" and len(m.args.args) == 1 for m in node.body):
                    bases = {ast.unparse(b).split("[")[0] for b in node.bases}
                    assert bases & known, f"{path.relative_to(ROOT)}: {node.name} derives from {sorted(bases)}"
                    found += 1
    assert found > 15
