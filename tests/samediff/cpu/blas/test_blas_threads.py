"""On how many threads products work: libraries of all kinds, processors of the process, threads, forks."""
from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import threading
from types import SimpleNamespace

import numpy as np
import pytest

from dl4py.samediff.cpu.blas import blas, blas_threads
from dl4py.samediff.cpu.blas.blas_threads import one_thread
from dl4py.samediff.cpu.matrix import matrix_product


class Library:
    """A BLAS library with functions of these names."""

    def __init__(self, get, put, count=6):
        self.count = count
        setattr(self, get, lambda: self.count)
        setattr(self, put, self.put)

    def put(self, count):
        self.count = count


@pytest.fixture
def known_as(monkeypatch):
    """``known_as(kind, library, layer)``: the only library that there is."""
    def known(kind, library, layer="pthreads"):
        found = SimpleNamespace(internal_api=kind, threading_layer=layer, dynlib=library, filepath="lib.so")
        monkeypatch.setattr(blas_threads, "_controllers", lambda owner="numpy": (found,))
        blas_threads.functions.cache_clear()
        blas_threads.thread_count.cache_clear()
    monkeypatch.setattr(blas_threads, "in_child", lambda call: None)
    yield known
    monkeypatch.undo()
    blas_threads.functions.cache_clear()
    blas_threads.thread_count.cache_clear()


@pytest.mark.parametrize(("kind", "get", "put", "layer"), [
    ("openblas", "scipy_openblas_get_num_threads64_", "scipy_openblas_set_num_threads64_", "pthreads"),
    ("openblas", "openblas_get_num_threads", "openblas_set_num_threads", "pthreads"),
    ("openblas", "omp_get_max_threads", "omp_set_num_threads", "openmp"),
    ("mkl", "MKL_Get_Max_Threads", "MKL_Set_Num_Threads", "intel"),
    ("blis", "bli_thread_get_num_threads", "bli_thread_set_num_threads", "pthreads")])
def test_libraries_of_every_kind_are_limited(known_as, monkeypatch, kind, get, put, layer):
    library, seen = Library(get, put), []
    known_as(kind, library, layer)
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(9)), raising=False)
    assert blas_threads.thread_count() == 6
    alone = one_thread(lambda: seen.append(library.count))
    alone()
    assert seen == [1] and library.count == 6
    with pytest.raises(ZeroDivisionError):
        one_thread(lambda: 1 / 0)()
    assert library.count == 6


def test_an_unknown_library_is_left_alone(known_as, monkeypatch):
    known_as("another", object())
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0, 3, 5}, raising=False)
    assert blas_threads.thread_count() == 3
    assert one_thread(len) is len


def test_without_threadpoolctl_products_are_right(monkeypatch):
    monkeypatch.setitem(sys.modules, "threadpoolctl", None)
    assert blas_threads._controllers.__wrapped__() == ()


def count_in(code="pass", **variables):
    program = f"import os\n{code}\nfrom dl4py.samediff.cpu.blas import blas_threads\nprint(blas_threads.thread_count())"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env={**os.environ, **variables})
    return int(done.stdout)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="processes are not bound to processors here")
def test_processors_of_the_process_count():
    assert count_in("os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])") == 1
    assert count_in() <= len(os.sched_getaffinity(0))


def test_a_library_that_shall_use_one_thread_is_heard():
    assert count_in(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", MKL_NUM_THREADS="1", BLIS_NUM_THREADS="1") == 1


def test_many_threads_leave_the_number_as_it_was():
    found = blas_threads.functions()
    if found is None:
        pytest.skip("NumPy uses a library that nobody knows")
    before, a = found[0](), np.ones((60, 60))
    call = one_thread(lambda: np.matmul(a, a))
    threads = [threading.Thread(target=lambda: [call() for _ in range(50)]) for _ in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert found[0]() == before and not blas_threads._reduced


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
def test_a_forked_process_has_the_number_back(known_as):
    library = Library("openblas_get_num_threads", "openblas_set_num_threads")
    known_as("openblas", library)
    inside, done = threading.Event(), threading.Event()

    def call():
        inside.set()
        done.wait(60)
    other = threading.Thread(target=one_thread(call))
    other.start()
    inside.wait(60)
    assert library.count == 1
    blas_threads._restore_thread_count()            # what a child does
    assert library.count == 6
    done.set()
    other.join()
    assert library.count == 6


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("transpose_a", [False, True])
@pytest.mark.parametrize("transpose_b", [False, True])
def test_products_of_scipys_library(dtype, transpose_a, transpose_b):
    """Where NumPy's cannot be called by address: rows that are longer than the matrix, and a result that is added to."""
    real, word = (ctypes.c_float if dtype == "f4" else ctypes.c_double), ctypes.c_int64
    call = ctypes.CFUNCTYPE(None, *[ctypes.c_int] * 3, *[word] * 3, real, *[word] * 4, real, *[word] * 2)(blas._of_scipy(dtype == "f8"))
    rng = np.random.default_rng(1)
    a, b, c = (rng.standard_normal(shape).astype(dtype)[:, :-1] for shape in ((5, 4) if transpose_a else (3, 6),
                                                                             (7, 6) if transpose_b else (5, 8), (3, 8)))
    wanted = 2 * (a.T if transpose_a else a) @ (b.T if transpose_b else b) + 3 * c
    places = [v for m in (a, b) for v in (m.ctypes.data, m.strides[0] // m.itemsize)]
    call(101, 111 + transpose_a, 111 + transpose_b, 3, 7, 5, 2, *places, 3, c.ctypes.data, c.strides[0] // c.itemsize)
    np.testing.assert_allclose(c, wanted, rtol=1e-5)


def test_the_library_that_is_called_is_the_one_whose_threads_are_limited(monkeypatch):
    ours, other = (SimpleNamespace(internal_api="mkl", threading_layer="", filepath=f"/{name}.libs/lib.so",
                                   dynlib=Library("MKL_Get_Max_Threads", "MKL_Set_Num_Threads", count))
                   for name, count in (("numpy", 2), ("scipy", 3)))
    controller = SimpleNamespace(select=lambda user_api: SimpleNamespace(lib_controllers=[other, ours]))
    monkeypatch.setattr("threadpoolctl.ThreadpoolController", lambda: controller)
    found = {owner: blas_threads._controllers.__wrapped__(owner)[0].dynlib.count for owner in ("numpy", "scipy")}
    assert found == {"numpy": 2, "scipy": 3}
    for library, owner in ((1, "numpy"), (0, "scipy")):
        monkeypatch.setattr(blas, "_of_numpy", lambda double, library=library: library)
        assert blas.owner.__wrapped__() == owner


def test_small_products_need_no_library(monkeypatch):
    monkeypatch.setattr(matrix_product, "available", lambda: False)
    small, large = (matrix_product.product(a, a, np.empty_like(a)) for a in (np.ones((8, 8), "f"), np.ones((600, 600), "f")))
    assert small is not None and large is None
    monkeypatch.undo()
    monkeypatch.setattr(matrix_product, "largest_size", lambda: 599)
    assert matrix_product.product(np.ones((600, 600), "f"), np.ones((600, 600), "f"), np.empty((600, 600), "f")) is None


def test_products_of_libraries_with_sizes_of_64_bits_are_called(monkeypatch):
    real = next(iter(blas_threads.libraries() if blas.address(False) else ()), None)
    if real is None:
        pytest.skip("compiled code cannot call the library of NumPy")
    single, double = (next(f for n in blas._NAMES if (f := getattr(real, n.format(k), None))) for k in "sd")
    for name in blas._NAMES:
        library = SimpleNamespace(**{name.format("s"): single, name.format("d"): double})
        monkeypatch.setattr(blas, "libraries", lambda library=library: (object(), library))
        assert [blas.address.__wrapped__(d) for d in (False, True)] == [blas.address(False), blas.address(True)]
