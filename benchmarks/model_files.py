"""Loading a model zip of 50 million parameters, beside what NumPy takes to inflate and byte-swap the same bytes.

``python benchmarks/model_files.py`` prints times, their ratio, and the memory on top of what the process had, in parameters.
"""
from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

import numpy as np

from dl4py.layers import DenseLayer, InputType, OutputLayer
from dl4py.networks import MultiLayerNetwork, NeuralNetConfiguration

UNITS = 7000
HEADER = 129        # of a float32 row


def write(path: Path) -> int:
    """A network of about UNITS * UNITS parameters; their number."""
    conf = NeuralNetConfiguration.Builder().seed(1).weight_init("ZERO").list(
        DenseLayer(n_out=UNITS, activation="relu"), OutputLayer(n_out=10)).set_input_type(InputType.feed_forward(UNITS)).build()
    net = MultiLayerNetwork(conf).init()
    net.set_params(np.random.default_rng(0).standard_normal(net.num_params(), np.float32))
    net.save(path)
    return int(net.num_params())


def with_numpy(path: Path) -> np.ndarray:
    """The parameters, nothing else."""
    with zipfile.ZipFile(path) as archive:
        return np.frombuffer(archive.read("coefficients.bin"), ">f4", offset=HEADER).astype(np.float32)


def peak() -> int:
    """Largest memory of this program so far, in bytes (Linux counts in ru_maxrss what the parent had)."""
    status = Path("/proc/self/status")
    if status.exists():
        return 1024 * next(int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith("VmHWM"))
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def main() -> None:
    """Interleaved runs, then the memory of a load in a process of its own."""
    if len(sys.argv) > 1:
        before = peak()
        net = MultiLayerNetwork.load(sys.argv[1])
        print((peak() - before) / (4 * net.num_params()))
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.zip"
        count = write(path)
        rows = []
        for _ in range(5):
            times = []
            for load in (with_numpy, MultiLayerNetwork.load):
                begin = time.perf_counter()
                loaded = load(path)
                times.append(time.perf_counter() - begin)
                del loaded
            rows.append(times)
        memory = subprocess.run([sys.executable, __file__, str(path)], capture_output=True, text=True, check=True).stdout
        numpy, ours = (min(column) for column in zip(*rows))
        print(f"{count:,} parameters: NumPy {numpy:.2f} s, dl4py {ours:.2f} s, ratio {ours / numpy:.2f} "
              f"(pairs {', '.join(f'{b / a:.2f}' for a, b in rows)}); peak memory {float(memory):.2f} times the parameters")


if __name__ == "__main__":
    main()
