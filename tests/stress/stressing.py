"""Many threads on one network: ``python -m tests.stress.stressing SECONDS [--threads N] [--seed N]``.

They ask, train, save and load, evaluate, clone, replace parameters, fork and raise errors in listeners, all at once, while the main
thread is interrupted. Training is on one batch, so that parameters and state after n steps are known whoever took the steps: every
copy and file, and every forked process, has to be one of these. Prints what was done, what went wrong, and the memory.
"""
from __future__ import annotations

import argparse
import gc
import hashlib
import os
import random
import signal
import sys
import tempfile
import threading
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from dl4py.layers import BatchNormalization, DenseLayer, InputType, MaxNormConstraint, OutputLayer
from dl4py.networks import MultiLayerNetwork, NeuralNetConfiguration
from dl4py.samediff import DataType
from dl4py.samediff.data import DataSet, ExistingDataSetIterator
from dl4py.samediff.training import Adam, Listener

ROUND = 5.0             # seconds
CHILD = 60              # those a forked process may take
RNG = np.random.default_rng(11)
BATCH = DataSet(RNG.standard_normal((8, 6)).astype("f"), np.eye(3, dtype="f")[RNG.integers(0, 3, 8)])
VECTORS = 5


class Stop(BaseException):
    """What the timer raises in the main thread."""


class Raised(Exception):
    """What listeners raise."""


def listed(**options: Any) -> MultiLayerNetwork:
    """A list of layers."""
    builder = NeuralNetConfiguration.Builder().seed(5).updater(Adam(1e-3)).l2(1e-4)
    for name, value in options.items():
        getattr(builder, name)(value)
    conf = builder.list(DenseLayer(n_out=16, activation="tanh"), BatchNormalization(), OutputLayer(n_out=3))
    return MultiLayerNetwork(conf.set_input_type(InputType.feed_forward(6)).build()).init()


#: Steps that are one native call, steps whose end is Python code, and graphs.
NETWORKS: dict[str, Callable[[], Any]] = {
    "list": listed,
    "half": lambda: listed(data_type=DataType.HALF),
    "constrained graph": lambda: listed(constrain_weights=MaxNormConstraint(0.8, 0)).to_computation_graph(),
}


def digest(net: Any) -> bytes:
    """Parameters and updater state."""
    return hashlib.blake2b(net.params().tobytes() + net.engine.flat.state.tobytes(), digest_size=8).digest()


class Subject:
    """A network, the parameters that it may have, and what becomes of it in training.

    Attributes
    ----------
    net : what all threads use
    vectors : parameters that they set
    """

    def __init__(self, name: str, made: Callable[[], Any]) -> None:
        self.name = name
        self.net, self._twin = made(), made()
        self._found = bytearray(digest(self.net))
        flat = self.net.engine.flat
        self._start = flat.params.copy(), flat.state.copy()
        self.vectors = [RNG.standard_normal(flat.params.size).astype(flat.dtype) for _ in range(VECTORS)] + [self._start[0]]
        self.known = {v.tobytes() for v in self.vectors}

    def begin(self) -> None:
        """Let the network be as it was at first."""
        flat = self.net.engine.flat
        flat.params[...], flat.state[...] = self._start
        self.net.set_iteration_count(0)

    def at(self, count: int) -> bytes:
        """The digest after that many steps."""
        while len(self._found) <= 8 * count:
            self._twin.fit(BATCH)
            self._found += digest(self._twin)
        return bytes(self._found[8 * count:8 * count + 8])


class Raises(Listener):
    """Now and then a listener raises an error."""

    def on_gradient_calculation(self, model: Any) -> None:
        self._perhaps()

    def iteration_done(self, model: Any, iteration: int, epoch: int) -> None:
        self._perhaps()

    def _perhaps(self) -> None:
        if random.random() < 0.05:
            raise Raised


class Stress:
    """All that happens to one network.

    Attributes
    ----------
    calls : how many of each kind there were
    wrong : what went wrong
    memory : MB after each round
    """

    def __init__(self, threads: int, seed: int, folder: Path) -> None:
        self.threads, self.folder = threads, folder
        self._subjects = [Subject(name, made) for name, made in NETWORKS.items()]
        random.seed(seed)
        self.calls: Counter[str] = Counter()
        self.wrong: list[str] = []
        self.memory: list[float] = []
        self.steps = 0
        self._found: list[tuple[str, int, bytes]] = []
        self._forking = threading.Semaphore(4)
        self._sure, self._tried = Counter[str](), Counter[str]()
        train = {self.ask: 6, self.fit: 6, self.fit_series: 3, self.save_and_load: 2, self.clone: 3, self.evaluate: 2}
        self._kinds: dict[str, dict[Callable[[], None], int]] = {
            "train": train, "listen": train, "fork": {**train, self.fork: 1},
            "replace": {self.ask: 5, self.replace: 5, self.look: 5, self.save_and_load_replaced: 2, self.evaluate: 1},
        }

    # What threads do

    def ask(self) -> None:
        """Outputs of any number of examples."""
        rows = random.choice((1, 3, 8, 40))
        answer = self.net.output(np.ones((rows, 6), "f"))
        found = answer[0] if isinstance(answer, list) else answer
        if found.shape != (rows, 3) or not np.allclose(found.sum(1), 1, atol=4e-3 if found.itemsize == 2 else 1e-4):
            raise AssertionError(f"output {found}")

    def _fit(self, steps: int, call: Callable[[], object]) -> None:
        self._tried["steps"] += steps
        try:
            call()
        except Raised:
            self.calls["errors of listeners"] += 1
        else:
            self._sure["steps"] += steps

    def fit(self) -> None:
        """One step."""
        self._fit(1, lambda: self.net.fit(BATCH.features, BATCH.labels))

    def fit_series(self) -> None:
        """Several steps."""
        count = random.randint(1, 30)
        self._fit(count, lambda: self.net.fit([BATCH] * count))

    def _path(self) -> Path:
        return self.folder / f"{threading.get_ident()}.zip"

    def save_and_load(self) -> None:
        """A file holds a whole step."""
        self.net.save(self._path())
        self._note("file", type(self.net).load(self._path()))

    def clone(self) -> None:
        """So does a copy."""
        self._note("clone", self.net.clone())

    def _note(self, what: str, net: Any) -> None:
        self._found.append((what, net.get_iteration_count(), digest(net)))

    def evaluate(self) -> None:
        """Every example is counted once."""
        found = self.net.evaluate(ExistingDataSetIterator([BATCH] * 3))
        if found.get_num_row_counter() != 24:
            raise AssertionError(f"{found.get_num_row_counter()} of 24 rows were evaluated")

    def fork(self) -> None:
        """A forked process has a whole step, asks, and goes on with the training."""
        with self._forking:
            here, there = os.pipe()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)
                child = os.fork()
            if not child:
                self._in_child(there)
            os.close(there)
            with open(here, "rb") as stream:
                told = stream.read()
            status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if status or not told:
            raise AssertionError(f"a forked process ended with {status}: {told.decode('utf-8', 'replace')}")
        for k in range(0, len(told), 16):
            self._found.append(("forked process", int.from_bytes(told[k:k + 8], "little"), told[k + 8:k + 16]))

    def _in_child(self, there: int) -> None:
        try:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(CHILD)
            self.net.set_listeners()
            told = b""
            for _ in range(3):
                told += self.net.get_iteration_count().to_bytes(8, "little") + digest(self.net)
                self.net.fit([BATCH] * 3)
                self.ask()
            os.write(there, told)
            os._exit(0)
        except BaseException:
            os.write(there, traceback.format_exc().encode())
        finally:
            os._exit(1)

    def replace(self) -> None:
        """Parameters are replaced as a whole."""
        self.net.set_params(random.choice(self._subject.vectors))

    def look(self) -> None:
        """They are read as a whole."""
        self._check_vector("params()", self.net.params())
        self._check_vector("clone", self.net.clone().params())

    def save_and_load_replaced(self) -> None:
        """And saved as a whole."""
        self.net.save(self._path())
        self._check_vector("file", type(self.net).load(self._path()).params())

    def _check_vector(self, what: str, params: Any) -> None:
        if params.tobytes() not in self._subject.known:
            raise AssertionError(f"{what}: parameters that nobody set")

    # Rounds

    def round(self, subject: Subject, world: str, seconds: float) -> None:
        """All threads at once for some seconds, then a look at what they found."""
        self._subject, self.net = subject, subject.net
        subject.begin()
        self.net.set_listeners(*([Raises()] if world == "listen" else []))
        self._found, self._sure, self._tried = [], Counter(), Counter()
        end = time.monotonic() + seconds
        threads = [threading.Thread(target=self._work, args=(world, end), daemon=True) for _ in range(self.threads)]
        for thread in threads:
            thread.start()
        self._interrupted(world, end)
        for thread in threads:
            thread.join(10 * CHILD)
        if any(thread.is_alive() for thread in threads):
            self.wrong.append("a thread does not end")
        self._check(world)
        del threads
        gc.collect()
        self.memory.append(_resident())

    def _work(self, world: str, end: float) -> None:
        kinds = self._kinds[world]
        while time.monotonic() < end and len(self.wrong) < 20:
            self._one(*random.choices(list(kinds), list(kinds.values())))

    def _one(self, call: Callable[[], None]) -> None:
        try:
            call()
            self.calls[call.__name__] += 1
        except Exception:
            self.wrong.append(traceback.format_exc())

    def _interrupted(self, world: str, end: float) -> None:
        """The main thread does the same and is interrupted."""
        def stop(number: int, frame: Any) -> None:
            raise Stop
        before = signal.signal(signal.SIGALRM, stop)
        kinds = [k for k in self._kinds[world] if k != self.fork]
        try:
            while time.monotonic() < end:
                try:
                    signal.setitimer(signal.ITIMER_REAL, random.uniform(0.001, 0.3))
                    while time.monotonic() < end:
                        self._one(random.choice(kinds))
                except Stop:
                    self.calls["interrupts"] += 1
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)

    def _check(self, world: str) -> None:
        count = self.net.get_iteration_count()
        self.steps += count
        if world == "replace":
            self._check_vector("at the end", self.net.params())
            return
        self._note("at the end", self.net)
        if not self._sure["steps"] <= count <= self._tried["steps"]:
            self.wrong.append(f"{count} steps were counted, {self._sure['steps']} to {self._tried['steps']} were taken")
        for what, at, found in self._found:
            if self._subject.at(at) != found:
                self.wrong.append(f"{what} ({self._subject.name}, {world}): not what {at} steps give")
        self.calls["compared with as many steps"] += len(self._found)

    def run(self, seconds: float) -> None:
        """Rounds of all kinds in turn."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0 and not self.wrong:
            for subject in self._subjects:
                for world in self._kinds:
                    self.round(subject, world, min(ROUND, max(left / len(self._kinds) / len(self._subjects), 0.5)))


def _resident() -> float:
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def main() -> int:
    """Run for the seconds that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("seconds", type=float)
    parser.add_argument("--threads", type=int, default=64)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        stress = Stress(options.threads, options.seed, Path(folder))
        stress.run(options.seconds)
    memory = stress.memory
    print(f"{options.threads} threads, {len(memory)} rounds, {stress.steps} steps: " +
          ", ".join(f"{k} {n}" for k, n in stress.calls.items()))
    print(f"memory: {memory[min(11, len(memory) - 1)]:.0f} MB after the first rounds, {memory[len(memory) // 2]:.0f} in the middle, "
          f"{memory[-1]:.0f} at the end")
    for text in stress.wrong:
        print(text)
    return bool(stress.wrong)


if __name__ == "__main__":
    sys.exit(main())
