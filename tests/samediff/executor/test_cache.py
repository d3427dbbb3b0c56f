"""The disk cache of compiled kernels."""
from __future__ import annotations

import os
import subprocess
import sys

import pytest

PROGRAM = """
import numpy as np
from dl4py.samediff.executor.cpu import Layout, elementwise_kernel
from dl4py.samediff.executor.cpu.native.entry import entry_of_source
from dl4py.samediff.expression import trace
kernel = elementwise_kernel(trace(lambda xp, x: xp.exp(x) + {constant}, ["float32"]), [Layout.same(1)])
print(float(kernel(np.zeros(3, np.float32), out=np.empty(3, np.float32))[1]), entry_of_source(kernel.source).cache_hits)
"""


def run(folder, constant=1):
    done = subprocess.run([sys.executable, "-c", PROGRAM.format(constant=constant)], capture_output=True, text=True,
                          check=True, env={**os.environ, "DL4PY_CACHE_DIR": str(folder)})
    value, hits = done.stdout.split()
    return float(value), int(hits)


def test_a_second_process_loads_what_the_first_compiled(tmp_path):
    assert run(tmp_path) == (2.0, 0)
    assert run(tmp_path) == (2.0, 1)
    assert run(tmp_path, constant=2) == (3.0, 0)
    for file in tmp_path.rglob("*.nb*"):  # a damaged cache costs time, nothing else
        file.write_bytes(b"damaged")
    assert run(tmp_path) == (2.0, 0)


@pytest.mark.skipif(sys.platform == "win32", reason="needs a path that cannot be a folder")
def test_a_folder_that_cannot_be_used_changes_nothing(tmp_path):
    (tmp_path / "file").write_text("")
    assert run(tmp_path / "file" / "below") == (2.0, 0)
