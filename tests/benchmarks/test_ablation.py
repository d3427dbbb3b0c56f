"""The benchmark that leaves parts out: each part is still there to be left out, and results stay the same without."""
import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
WITHOUT = """
import json, sys
from ablation import PARTS
from measure import Here
from workloads import WORKLOADS
workload, *parts = sys.argv[1:]
for part in parts:
    PARTS[part].leave_out()
one = Here("dl4py", next(w for w in WORKLOADS if w.name == workload))
before = one.score()
one.run(3)
print(json.dumps([before, one.score()]))
"""
ALL = ("fusion", "programs", "loops", "products", "dots", "sweeps", "direct", "pairs", "sequences", "batch_norm", "losses", "masks",
       "fused_step", "series", "fast_path", "helpers")


def scores(workload, *parts):
    """Of a process without these parts, before and after three steps."""
    done = subprocess.run([sys.executable, "-c", WITHOUT, workload, *parts], cwd=BENCHMARKS, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


@pytest.mark.slow
@pytest.mark.parametrize("parts", [ALL, [p for p in ALL if p != "loops"]])
def test_results_without_parts(parts):
    assert scores("W0", *parts) == pytest.approx(scores("W0"), rel=1e-4)


@pytest.mark.slow
def test_sequences_without_kernels():
    assert scores("W3_uci", "sequences", "products") == pytest.approx(scores("W3_uci"), rel=1e-4)


def test_refuses_what_is_gone(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import ablation
    assert tuple(ablation.PARTS) == ALL
    with pytest.raises(AttributeError, match="has no Trainer.nowhere"):
        ablation._replace("networks.models.trainer", "Trainer.nowhere", None)
