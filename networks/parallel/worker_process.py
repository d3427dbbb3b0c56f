"""The process of a worker."""
from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import signal
import traceback
from multiprocessing.connection import wait

from ...samediff.base.background import started
from ...samediff.errors import WorkerError
from .channel import ProcessChannel
from .process_all_reduce import ProcessAllReduce
from .replica import Replica, SharedListeners
from .settings import WrapperSettings

#: In place of a task: say when all those before are done.
FINISH = "finish"

_SECONDS_BETWEEN_LOOKS = 1.0


def serve(tasks: ProcessChannel, ranks: ProcessAllReduce, settings: WrapperSettings) -> None:
    """The main function of the process. It answers once the network is made, to each ``FINISH``, and with what went wrong."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)        # Ctrl-C is the first worker's business, which then ends this process
    started(_end_with_parent, name="dl4py-training-parent")
    with contextlib.suppress(OSError):                  # the training is over when its channel is
        try:
            replica = _replica(tasks.receive(), ranks, settings)
            tasks.send(None)
            hear = SharedListeners(())
            while True:
                task = tasks.receive()
                if task == FINISH:
                    tasks.send(None)
                else:
                    replica.do(task, hear)
        except Exception as error:                      # raised again where the training was called
            tasks.send(portable(error, f"in worker {ranks.rank} of the parallel training, a process"))
            ranks.abort()


def _replica(made: bytes, ranks: ProcessAllReduce, settings: WrapperSettings) -> Replica:
    try:
        kind, configuration = pickle.loads(made)
    except (AttributeError, ImportError) as error:
        raise WorkerError(f"a worker process cannot find what the network is made of: {error}; put layers and other classes of your own "
                          "into a module, from which they can be imported, or leave processes=False") from error
    return Replica(kind(configuration).init(), ranks, settings)


def _end_with_parent() -> None:
    """Stop at once when the process that trains is gone, whatever this one is doing.

    Processes that were forked from it may hold its ends of everything: then it is seen a moment later that this one is an orphan.
    """
    parent = multiprocessing.parent_process()
    assert parent is not None
    while os.getppid() == parent.pid and not wait([parent.sentinel], _SECONDS_BETWEEN_LOOKS):
        pass
    os._exit(1)


def portable(error: Exception, where: str) -> BaseException:
    """The error that is being handled in a form that another process can read, with a note of the place."""
    notes = [*getattr(error, "__notes__", ()), f"{where}:\n{traceback.format_exc()}"]
    try:
        found: BaseException = pickle.loads(pickle.dumps(error))
    except Exception:           # an error's class may have any constructor
        found = WorkerError(f"{type(error).__name__}: {error}")
    found.__dict__["__notes__"] = notes
    return found
