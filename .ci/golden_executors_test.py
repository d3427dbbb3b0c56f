"""The compiled executor gives what the reference executor gives, in every recorded case.

Each case of the checker is run twice, once with ``DL4PY_EXECUTOR=reference``; all that graphs and networks give meanwhile,
parameters, gradients, state and scores after training, and what the checker compares has to agree (``tests/helpers/executors.py``).
The cases are those of a larger collection (see ``golden_floor_test.py``) or those of ``tests/golden``. By hand, for some cases:

    python .ci/golden_executors_test.py tests/golden layers 'layers/conv*'
"""
from __future__ import annotations

import fnmatch
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parent.parent
AREAS = "layers", "ops", "training", "samediff", "evaluation", "files", "init", "real", "bad"      # the longest first
SECONDS = 1200

#: Cases that rounding alone drives apart: the limit for what comes after their first step, and why.
ADAM = "a gradient is 0 but for rounding (a bias before a normalization, or its recurrent weights), and Adam takes whole steps of that"
APART: dict[str, tuple[float, str]] = {
    "layers/cases/batchnorm_conv_nchw": (1e-2, ADAM),
    "layers/cases/simple_rnn_layernorm_*": (1e-2, ADAM),
    "training/batchnorm/dense_*": (5e-2, ADAM),          # ten steps of 0.01
    "layers/cases/deconv3d_loss_truncate_dil_ndhwc": (1e-4, "training diverges: each step makes a difference three times as large"),
    "training/early_stopping/*": (1e-5, "scores of float32 networks as an array of float64"),
}


def compare(folder: Path, area: str, patterns: list[str]) -> dict[str, Any]:
    """Number of values compared, and differences by case."""
    sys.path.insert(0, str(ROOT))
    from tests.helpers.executors import BothExecutors
    from tests.recorded import AREAS as CHECKS
    from tests.recorded import core
    both = BothExecutors()

    class Check(core.Check):            # type: ignore[misc]
        """Writes down what comes to be compared with DL4J."""

        def close(self, what: str, got: Any, *rest: Any, **options: Any) -> None:
            both.note(what, got)
            super().close(what, got, *rest, **options)

        def equal(self, what: str, got: Any, want: Any) -> None:
            both.note(what, np.asarray(got) if isinstance(got, int) else got)
            super().equal(what, got, want)
    core.Check = Check
    values, differing = 0, {}
    with both:
        for case in core.cases(folder, [area], patterns):
            statuses: list[str] = []
            limit = next((v for p, (v, _) in APART.items() if fnmatch.fnmatch(case.key, p)), 0.0)
            count, found = both.compare(lambda: statuses.append(core.run_case(case, CHECKS[area], 60).status), limit)   # noqa: B023
            if statuses[0] != statuses[1]:
                found.append("compiled {1}, reference {0}".format(*statuses))
            values += count
            if found:
                differing[case.key] = found
    return {"values": values, "differences": differing}


@pytest.fixture(scope="module")
def compared() -> dict[str, Any]:
    named = os.environ.get("DL4PY_GOLDEN")
    larger = [p for p in sorted(ROOT.parent.glob("*/golden")) if (p / "layers").is_dir()]
    folder = Path(named) if named else [*larger, ROOT / "tests" / "golden"][0]

    def one(area: str) -> Any:
        run = subprocess.run([sys.executable, __file__, str(folder), area], cwd=ROOT, capture_output=True, text=True, check=False,
                             timeout=SECONDS)
        assert run.returncode == 0, run.stderr
        return json.loads(run.stdout.splitlines()[-1])
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return dict(zip(AREAS, pool.map(one, AREAS)))


@pytest.mark.parametrize("area", AREAS)
def test_executors_agree(compared: dict[str, Any], area: str) -> None:
    print(f"{area}: {compared[area]['values']} values compared")
    assert not compared[area]["differences"]


def test_values_were_compared(compared: dict[str, Any]) -> None:
    assert sum(found["values"] for found in compared.values()) > 50_000


if __name__ == "__main__":
    print(json.dumps(compare(Path(sys.argv[1]).resolve(), sys.argv[2], sys.argv[3:])))
