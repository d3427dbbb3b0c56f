"""Processes of workers: how scripts start them, and that none outlives the process that trains."""
from __future__ import annotations

import subprocess
import sys

import pytest

SCRIPT = """
import multiprocessing, os, signal, sys, threading, time
from multiprocessing import resource_tracker
import numpy as np
from dl4py.layers import DenseLayer, OutputLayer
from dl4py.networks import MultiLayerNetwork, NeuralNetConfiguration, ParallelWrapper
from dl4py.samediff import DataSet

class Own(DenseLayer):
    pass

def wrapped():
    conf = NeuralNetConfiguration.Builder().seed(1).list(Own(n_in=4, n_out=4), OutputLayer(n_in=4, n_out=3)).build()
    return ParallelWrapper(MultiLayerNetwork(conf).init(), workers=3, processes=True, training_mode="SHARED_GRADIENTS")

def data(n):
    return [DataSet(np.ones((4, 4)), np.eye(3)[[0, 1, 2, 0]])] * n

def train():
    with wrapped() as wrapper:
        wrapper.fit(data(6))
        print("trained", flush=True)
"""

KILLED = SCRIPT + """
def die_after(seconds):
    time.sleep(seconds)
    os.kill(os.getpid(), signal.SIGKILL)

if __name__ == "__main__":
    moment = sys.argv[1]
    wrapper = wrapped()
    if moment == "starting":
        threading.Thread(target=die_after, args=(float(sys.argv[2]),)).start()
    wrapper.fit(data(6))
    if moment == "copied" and os.fork() == 0:       # holds open all that the workers could notice
        for stream in (1, 2):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
        os.close(resource_tracker._resource_tracker._fd)        # which ends with its last user
        os._exit(len(sys.stdin.read()))
    threading.Thread(target=die_after, args=(0.02,)).start()
    if moment != "idle":
        wrapper.fit(data(100_000))
    time.sleep(60)
"""


def program(folder, text):
    (folder / "program.py").write_text(text)
    return [sys.executable, "program.py"]


@pytest.mark.slow
@pytest.mark.parametrize("moment", ["starting 0.1", "starting 0.8", "idle", "training", "copied"])
def test_no_process_is_left_when_the_first_is_killed(moment, tmp_path):
    """Whoever is left would keep the output open; Python's tracker of resources would tell of what was not given back."""
    with subprocess.Popen([*program(tmp_path, KILLED), *moment.split()], cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True) as ran:
        said = ran.stdout.read()
    # a process that has just been started reads from the dead one what it is to do, and Python says that there is nothing
    started = moment.startswith("starting") and "in spawn_main" in said and said.endswith("EOFError: Ran out of input\n")
    assert (started or not said) and ran.returncode == -9


def run(folder, text):
    return subprocess.run(program(folder, text), cwd=folder, capture_output=True, text=True, timeout=600)


@pytest.mark.slow
def test_processes_of_all_kinds_can_train(tmp_path):
    """Where a process came from does not matter, nor what the script has chosen for its own ones."""
    ran = run(tmp_path, SCRIPT + """
if __name__ == "__main__":
    multiprocessing.set_start_method("forkserver")
    train()
    for method in multiprocessing.get_all_start_methods():
        child = multiprocessing.get_context(method).Process(target=train)
        child.start()
        child.join()
""")
    assert (ran.stdout.split(), ran.stderr) == (["trained"] * 4, "")


@pytest.mark.slow
def test_what_scripts_choose_to_do_with_signals(tmp_path):
    """Ended children are forgotten, so that nobody knows the exit code; whoever writes to a closed pipe is ended."""
    ran = run(tmp_path, SCRIPT + """
if __name__ == "__main__":
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    wrapper = wrapped()
    wrapper.fit(data(6))
    wrapper._workers._others[0].process.kill()
    wrapper._workers._others[0].exit_code(60)
    try:
        wrapper.fit(data(100_000))
    except Exception as error:
        print(type(error).__name__)
    train()
""")
    assert (ran.stdout.split(), ran.stderr) == (["WorkerError", "trained"], "")


@pytest.mark.slow
def test_a_script_that_trains_whenever_it_is_loaded(tmp_path):
    ran = run(tmp_path, SCRIPT + "train()")
    assert ran.stdout == "" and ran.returncode == 1
    assert 'put what trains below if __name__ == "__main__":' in ran.stderr        # in the process of the worker
    assert ran.stderr.splitlines()[-1].endswith('while it started, and standard error says why; a script that trains with processes '
                                                'does so below if __name__ == "__main__":')
