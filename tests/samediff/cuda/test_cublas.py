"""Matrix products reach cuBLAS in its own terms: a stand-in for the library works on memory as it does."""
from __future__ import annotations

import ctypes
import itertools

import numpy as np
import pytest

from dl4py.samediff.cuda.drivers import cublas
from dl4py.samediff.cuda.drivers.cublas import Cublas
from dl4py.samediff.errors import DeviceError
from dl4py.samediff.plans.actions import MatrixProduct

TYPES = {0: np.float32, 1: np.float64, 2: np.float16}


class Function:
    """A function that can be given types of its arguments, which it holds the caller to."""

    def __init__(self, call):
        self.call, self.argtypes = call, None

    def __call__(self, *args):
        assert len(args) == len(self.argtypes)
        return self.call(*(getattr(kind.from_param(arg), "value", arg) if isinstance(arg, ctypes._SimpleCData) else kind(arg).value
                           for kind, arg in zip(self.argtypes, args)))


class Library:
    """What cuBLAS promises, on column-major matrices in the memory of NumPy."""

    def __init__(self):
        self.calls, self.status = [], 0
        for name in ("cublasSetStream_v2", "cublasSetWorkspace_v2", "cublasSetMathMode", "cublasDestroy_v2"):
            setattr(self, name, Function(lambda *args, name=name: self.noted(name, *args)))
        self.cublasCreate_v2 = Function(self.create)
        self.cublasGemmStridedBatchedEx = Function(self.strided)
        self.cublasGemmBatchedEx = Function(self.listed)

    def noted(self, name, *args):
        self.calls.append((name, args))
        return self.status

    def create(self, place):
        ctypes.c_void_p.from_address(place).value = 1000 + len(self.calls)
        return self.noted("cublasCreate_v2")

    def strided(self, handle, ta, tb, m, n, k, alpha, a, a_type, lda, sa, b, b_type, ldb, sb, beta, c, c_type, ldc, sc, count, compute,
                kind):
        self.noted("strided", handle, compute, kind)
        size = TYPES[a_type]().itemsize
        for i in range(count):
            self.gemm(ta, tb, m, n, k, alpha, a + i * sa * size, a_type, lda, b + i * sb * size, b_type, ldb, beta, c + i * sc * size,
                      c_type, ldc, compute)
        return self.status

    def listed(self, handle, ta, tb, m, n, k, alpha, a, a_type, lda, b, b_type, ldb, beta, c, c_type, ldc, count, compute, way):
        self.noted("listed", handle, compute, way)
        for places in zip(*((ctypes.c_longlong * count).from_address(x) for x in (a, b, c))):
            self.gemm(ta, tb, m, n, k, alpha, places[0], a_type, lda, places[1], b_type, ldb, beta, places[2], c_type, ldc, compute)
        return self.status

    @staticmethod
    def gemm(ta, tb, m, n, k, alpha, a, a_type, lda, b, b_type, ldb, beta, c, c_type, ldc, compute):
        assert ta in (0, 1) and tb in (0, 1)
        assert lda >= max(1, k if ta else m) and ldb >= max(1, n if tb else k) and ldc >= max(1, m)

        def matrix(place, kind, rows, columns, leading):
            dtype = np.dtype(TYPES[kind])
            memory = (ctypes.c_char * (((columns - 1) * leading + rows) * dtype.itemsize if columns and rows else 0)).from_address(place)
            return np.ndarray((rows, columns), dtype, memory, strides=(dtype.itemsize, leading * dtype.itemsize))
        scale = ctypes.c_double if compute == cublas.COMPUTE_DOUBLE else ctypes.c_float
        alpha, beta = (scale.from_address(x).value for x in (alpha, beta))
        left = matrix(a, a_type, k, m, lda).T if ta else matrix(a, a_type, m, k, lda)
        right = matrix(b, b_type, n, k, ldb).T if tb else matrix(b, b_type, k, n, ldb)
        out = matrix(c, c_type, m, n, ldc)
        made = alpha * (left.astype(float) @ right.astype(float))
        out[...] = made + beta * out.astype(float) if beta else made


def address(array):
    return array.ctypes.data


def blas(**options):
    library = Library()
    return Cublas(library, lambda size: np.empty(size, np.uint8), address, **options), library


def multiply(product, **options):
    """Run it, and return the names of the calls."""
    device, library = blas(**options)
    device.prepare(product, lambda numbers: np.array(numbers, np.int64))(7)
    return [name for name, _ in library.calls if name in ("strided", "listed")]


def transposed(array):
    """The same values, column-major."""
    return np.ascontiguousarray(array.swapaxes(-1, -2)).swapaxes(-1, -2)


def padded(array):
    """The same values among others."""
    wide = np.full((*array.shape[:-2], array.shape[-2] + 2, array.shape[-1] + 3), 99, array.dtype)
    wide[..., 1:-1, 2:-1] = array
    return wide[..., 1:-1, 2:-1]


LAYOUTS = {"rows": np.ascontiguousarray, "columns": transposed, "rows among others": padded,
           "columns among others": lambda a: padded(np.ascontiguousarray(a.swapaxes(-1, -2))).swapaxes(-1, -2)}


def check(a, b, out, alpha=1.0, beta=0.0, **options):
    base = out if out.base is None else out.base
    before, was = base.copy(), out.copy()
    with np.errstate(invalid="ignore"):
        want = alpha * np.matmul(a.astype(float), b.astype(float)) + (beta * was.astype(float) if beta else 0)
    calls = multiply(MatrixProduct(a, b, out, alpha, beta), **options)
    np.testing.assert_allclose(out, want, rtol=5e-3 if out.dtype == np.float16 else 1e-5, atol=1e-5)
    out[...] = was
    np.testing.assert_array_equal(base, before)         # nothing else was written
    return calls


@pytest.mark.sampled(4)
@pytest.mark.parametrize("sizes", [(3, 4, 5), (1, 4, 5), (3, 1, 5), (3, 4, 1), (1, 1, 1), (1, 1, 6), (6, 1, 1), (2, 0, 3)])
@pytest.mark.parametrize("layouts", list(itertools.product(LAYOUTS, LAYOUTS, LAYOUTS)), ids=str)
def test_every_layout(layouts, sizes):
    (m, k, n), rng = sizes, np.random.default_rng(1)
    for batch in ((), (2,), (3, 2)):
        a, b, out = (LAYOUTS[name](rng.standard_normal((*batch, *shape)).astype(np.float32))
                     for name, shape in zip(layouts, ((m, k), (k, n), (m, n))))
        check(a, b, out, 2.0, 0.5)
        out[...] = np.nan
        check(a, b, out)


def test_batches_that_are_views_of_heads():
    """(batch, time, heads, size) seen as (batch, heads, time, size)."""
    rng = np.random.default_rng(2)
    query, key = rng.standard_normal((3, 7, 4, 5)), rng.standard_normal((3, 6, 4, 5))
    a, b = query.transpose(0, 2, 1, 3), key.transpose(0, 2, 3, 1)
    assert check(a, b, np.zeros((3, 4, 7, 6))) == ["strided"] * 3
    many = np.zeros((6, 7, 5, 8))
    assert check(np.tile(query, (2, 1, 2, 1))[:, :, :5].transpose(0, 2, 1, 3), rng.standard_normal((6, 5, 5, 8)),
                 many.transpose(0, 2, 1, 3)) == ["listed"]


@pytest.mark.parametrize("which", ["left", "right", "both"])
def test_a_matrix_for_all_of_a_batch(which):
    rng = np.random.default_rng(3)
    a, b = rng.standard_normal((2, 3, 4, 5)), rng.standard_normal((2, 3, 5, 6))
    if which in ("left", "both"):
        a = np.broadcast_to(a[:1, :1], a.shape)
    if which in ("right", "both"):
        b = np.broadcast_to(b[:1, :1], b.shape)
    assert check(a, b, np.zeros((2, 3, 4, 6))) == ["strided"]
    if which == "right":        # one product of more rows
        found = cublas.layout(MatrixProduct(a, b, np.zeros((2, 3, 4, 6))), address)
        assert (found.m, found.axes) == (24, ())


@pytest.mark.parametrize("dtype, tf32, compute", [
    ("float16", False, 68), ("float32", False, 68), ("float32", True, 77), ("float16", True, 68), ("float64", True, 70)])
def test_types(dtype, tf32, compute):
    rng = np.random.default_rng(4)
    a, b = rng.standard_normal((3, 4)).astype(dtype), rng.standard_normal((4, 5)).astype(dtype)
    check(a, b, np.zeros((3, 5), dtype), 0.5, tf32=tf32)
    device, library = blas(tf32=tf32)
    device.prepare(MatrixProduct(a, b, np.zeros((3, 5), dtype)), lambda numbers: None)(7)
    assert library.calls[-1] == ("strided", (device.handle(7).value, compute, -1))


def test_nothing_to_do():
    a, b = np.zeros((2, 0, 4)), np.zeros((2, 4, 5))
    assert multiply(MatrixProduct(a, b, np.zeros((2, 0, 5)))) == []
    assert multiply(MatrixProduct(np.zeros((0, 3, 4)), b[:0], np.zeros((0, 3, 5)))) == []


def test_what_it_cannot_take():
    a = np.zeros((6, 8))
    assert cublas.fits(a[:, :3]) and cublas.fits(a.T) and not cublas.fits(a[:, ::2]) and not cublas.fits(a[::-1])
    assert not cublas.fits(np.broadcast_to(a[:1], (6, 8)))
    with pytest.raises(DeviceError, match="contiguous"):
        cublas.layout(MatrixProduct(a[:, ::2], np.zeros((4, 2)), np.zeros((6, 2))), address)


def test_each_stream_has_a_handle_with_memory_of_its_own():
    device, library = blas()
    first, second = device.handle(5), device.handle(9)
    assert device.handle(5) is first and first.value != second.value
    calls = [(name, args[1:]) for name, args in library.calls if args]
    assert calls[0] == ("cublasSetStream_v2", (5,)) and calls[3] == ("cublasSetStream_v2", (9,))
    assert [name for name, _ in calls[:3]] == ["cublasSetStream_v2", "cublasSetWorkspace_v2", "cublasSetMathMode"]
    assert calls[1][1][1] == cublas.WORKSPACE and calls[1][1][0] != calls[4][1][0]
    device.forget(5)
    device.forget(5)
    assert library.calls[-1] == ("cublasDestroy_v2", (first.value,)) and device.handle(5) is not first


def test_a_failure_is_an_error():
    device, library = blas()
    library.status = 13
    with pytest.raises(DeviceError, match="cublasCreate_v2 failed with status 13"):
        device.prepare(MatrixProduct(*(np.zeros((2, 2)) for _ in range(3))), lambda numbers: None)(1)
