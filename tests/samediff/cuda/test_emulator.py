"""The emulator runs CUDA texts and finds what is wrong with them."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff.cuda.drivers import host_code
from dl4py.samediff.cuda.drivers.emulator import Emulator
from dl4py.samediff.cuda.sources import source
from dl4py.samediff.errors import DeviceError
from dl4py.samediff.plans.actions import ArrayCopy, KernelLaunch, MatrixProduct, ZeroFill
from tests.samediff.cuda.support import needs_compiler

pytestmark = needs_compiler

TOTAL = """
extern "C" __global__ void __launch_bounds__(128) total(const T *x, float *y, const int n) {
    __shared__ float parts[4];
    extern __shared__ unsigned char bytes[];
    float *all = (float *)bytes, sum = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) sum += load(x[i]);
    all[threadIdx.x] = sum;
    WAIT
    sum = all[threadIdx.x ^ 1] + all[threadIdx.x];
    for (int d = 16; d > 1; d >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, d);
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) y[blockIdx.x] = parts[0] + parts[1] + parts[2] + parts[3];
}
"""


def run(text, name, args, grid=1, block=32, shared=0, device=None):
    (device or Emulator(guard=True)).prepare([KernelLaunch(text, name, (grid, 1, 1), (block, 1, 1), args, shared)])()


def kernel(body, parameters="int *y", name="f"):
    return f'extern "C" __global__ void {name}({parameters}) {{ {body} }}\n'


def total(wait, x, order):
    y = np.full(2, np.nan, np.float32)
    names = {"float16": "half_t", "bfloat16": "bfloat_t", "float32": "float"}
    text = f"#define T {names[x.dtype.name]}\n#define WAIT {wait}\n{TOTAL}"
    run(text, "total", (x, y, np.int32(x.size)), 2, 128, 512, Emulator(order, guard=True))
    return y


@pytest.mark.parametrize("order", ["forward", "reversed", 1, 2])
@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_a_sum_with_shared_memory_and_shuffles(dtype, order):
    x = np.arange(300).astype(dtype)
    np.testing.assert_array_equal(total("__syncthreads();", x, order), [300 * 299 / 2] * 2)


def test_a_missing_barrier_shows_in_another_order():
    x = np.arange(300).astype(np.float32)
    results = [total("", x, order)[0] for order in ("forward", "reversed", 5)]
    assert any(r != 300 * 299 / 2 for r in results)


def test_places_of_threads_and_blocks():
    y = np.zeros((2, 3, 4, 5, 2, 3), np.int32)
    text = kernel("""int b = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
        int t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
        y[b * (blockDim.x * blockDim.y * blockDim.z) + t] = b * 1000 + t;""")
    for order in ("forward", "reversed", 3):
        Emulator(order).prepare([KernelLaunch(text, "f", (4, 3, 2), (3, 2, 5), (y,))])()
        np.testing.assert_array_equal(y.reshape(24, 30), np.arange(24)[:, None] * 1000 + np.arange(30))


EXCHANGES = [
    ("__shfl_sync(~0u, t, 3)", lambda t: t * 0 + 3), ("__shfl_sync(~0u, t, 1, 8)", lambda t: t // 8 * 8 + 1),
    ("__shfl_up_sync(~0u, t, 2)", lambda t: np.where(t < 2, t, t - 2)),
    ("__shfl_down_sync(~0u, t, 5)", lambda t: np.where(t + 5 < 32, t + 5, t)),
    ("__shfl_down_sync(~0u, t, 1, 4)", lambda t: np.where(t % 4 < 3, t + 1, t)),
    ("__shfl_xor_sync(~0u, t, 7)", lambda t: t ^ 7), ("(int)__ballot_sync(~0u, t < 5)", lambda t: t * 0 + 31),
    ("__any_sync(~0u, t == 9)", lambda t: t * 0 + 1), ("__all_sync(~0u, t > 0)", lambda t: t * 0),
    ("__syncthreads_count(t > 3)", lambda t: t * 0 + 28), ("__syncthreads_or(t > 31)", lambda t: t * 0),
    ("__syncthreads_and(t < 32)", lambda t: t * 0 + 1),
    ("t < 16 ? __shfl_xor_sync(0xffffu, t, 1) : t", lambda t: np.where(t < 16, t ^ 1, t)),
]


@pytest.mark.parametrize("case", range(len(EXCHANGES)), ids=[call for call, _ in EXCHANGES])
def test_exchange_in_a_warp(case):
    text = "".join(kernel(f"int t = threadIdx.x; y[t] = {call};", name=f"f{i}") for i, (call, _) in enumerate(EXCHANGES))
    for order in ("forward", "reversed", 11):
        y = np.full(32, -7, np.int32)
        run(text, f"f{case}", (y,), device=Emulator(order))
        np.testing.assert_array_equal(y, EXCHANGES[case][1](np.arange(32)))


MISTAKES = [
    ("if (threadIdx.x < 7) return; __syncthreads(); y[0] = 1;", "7 of 32 threads have ended"),
    ("if (threadIdx.x < 7) __syncthreads();\nelse __syncthreads();", "different __syncthreads"),
    ("if (threadIdx.x < 7) y[threadIdx.x] = __shfl_sync(~0u, 1, 0); else __syncthreads();", "never come"),
    ("if (threadIdx.x < 7) return; y[threadIdx.x] = __shfl_sync(~0u, 1, 0);", "has ended|never come"),
    ("if (threadIdx.x > 0) y[threadIdx.x] = __shfl_sync(1u, 1, 0);", "not in its own mask"),
    ("volatile int a[20000]; a[0] = 1; a[19999] = 1; for (int i = 0; i < 20000; i++) a[i] = i; y[0] = a[9];", "local variables"),
    ("extern __shared__ int s[]; s[threadIdx.x + 5] = 1;", "dynamic shared memory"),
    ("y[32] = 1;", "behind an array"), ("y[-3] = 1;", "before an array"),
]


@pytest.mark.parametrize("case", range(len(MISTAKES)), ids=[message for _, message in MISTAKES])
@pytest.mark.parametrize("order", ["forward", "reversed"])
def test_what_is_wrong_is_found(case, order):
    text = "".join(kernel(body, name=f"f{i}") for i, (body, _) in enumerate(MISTAKES))
    with pytest.raises(DeviceError, match=MISTAKES[case][1]):
        run(text, f"f{case}", (np.zeros(32, np.int32),), shared=32 * 4, device=Emulator(order, guard=True))


def test_shared_memory_begins_with_any_values():
    y = np.zeros(2, np.float32)
    run(kernel("__shared__ float s[8]; y[blockIdx.x] = s[0]; s[0] = 1;", "float *y"), "f", (y,), 2, 1)
    assert np.isnan(y).all()


def test_shared_arrays_in_templates():
    text = "template <int N> __device__ int turn(int x) { __shared__ int s[N]; s[threadIdx.x] = x; __syncthreads(); " \
           "int y = s[N - 1 - threadIdx.x]; __syncthreads(); return y; }\n"
    text += kernel("y[threadIdx.x] = turn<32>(turn<32>(threadIdx.x) * 2);")
    y = np.zeros(32, np.int32)
    run(text, "f", (y,))
    np.testing.assert_array_equal(y, 2 * np.arange(32))


def test_arrays_that_share_memory_share_it_under_guard():
    memory = np.arange(10, dtype=np.int32)
    run(kernel("for (int i = 0; i < 9; i++) y[i] = x[i] + 100;", "const int *x, int *y"), "f", (memory[:9], memory[1:]), 1, 1)
    np.testing.assert_array_equal(memory, np.arange(10) * 100)


@pytest.mark.parametrize("args, message", [
    ((np.zeros(3, np.float32),), "takes 3 arguments"),
    ((np.zeros(3, np.float32), np.float32(1), np.int32(3)), "argument 2: int64 was expected, got the scalar int32"),
    ((np.zeros(3), np.float32(1), np.int64(3)), r"argument 0: float32 \* was expected, got an array of float64"),
    ((np.zeros(3, np.float32), 1.0, np.int64(3)), "argument 1: float32 was expected, got float 1.0, neither array nor NumPy scalar"),
    ((np.float32(3), np.float32(1), np.int64(3)), r"argument 0: float32 \* was expected, got the scalar"),
    ((np.zeros(13, np.uint8)[1:].view(np.float32), np.float32(1), np.int64(3)), "not aligned"),
    ((np.broadcast_to(np.float32(0), 3), np.float32(1), np.int64(3)), "must not be written"),
    ((np.zeros(3, np.float32), np.zeros(1, np.float32), np.int64(3)), "argument 1: float32 was expected, got an array"),
])
def test_wrong_arguments_are_refused(args, message):
    with pytest.raises(DeviceError, match=message):
        run(source("fill", T="float"), "fill", args)


@pytest.mark.parametrize("grid, block, shared, message", [
    ((0, 1, 1), (1, 1, 1), 0, "numbers of blocks"), ((1, 65536, 1), (1, 1, 1), 0, "numbers of blocks"),
    ((1, 1, 1), (1025, 1, 1), 0, "1 to 1024 threads"), ((1, 1, 1), (0, 1, 1), 0, "1 to 1024 threads"),
    ((1, 1, 1), (1, 1, 1), 1 << 20, "shared memory"),
])
def test_wrong_sizes_are_refused(grid, block, shared, message):
    args = np.zeros(3, np.float32), np.float32(1), np.int64(3)
    with pytest.raises(DeviceError, match=message):
        Emulator().prepare([KernelLaunch(source("fill", T="float"), "fill", grid, block, args, shared)])


def test_texts_that_do_not_compile():
    with pytest.raises(DeviceError, match="does not compile(.|\n)*no_such_function"):
        run(kernel("no_such_function();"), "f", (np.zeros(1, np.int32),))
    with pytest.raises(DeviceError, match="no function"):
        run(kernel("y[0] = 1;"), "g", (np.zeros(1, np.int32),))


def test_without_a_compiler(monkeypatch):
    monkeypatch.setenv("DL4PY_CXX", "no-such-compiler")
    with pytest.raises(DeviceError, match="no-such-compiler not found"):
        run(kernel("y[0] = 2;"), "f", (np.zeros(1, np.int32),))


def test_numbers_of_16_bits():
    bits = np.arange(1 << 16).astype(np.uint16)
    text = kernel("for (int i = 0; i < 65536; i++) y[i] = load(x[i]), store(z[i], y[i]), store(b[i], y[i]);",
                  "const half_t *x, float *y, half_t *z, bfloat_t *b")
    import ml_dtypes
    x, y, z, b = bits.view(np.float16), np.empty(1 << 16, np.float32), np.empty(1 << 16, np.float16), np.empty(1 << 16, ml_dtypes.bfloat16)
    run(text, "f", (x, y, z, b), 1, 1)
    np.testing.assert_array_equal(y, x.astype(np.float32))
    np.testing.assert_array_equal(z, x)
    np.testing.assert_array_equal(b.astype(np.float32), y.astype(ml_dtypes.bfloat16).astype(np.float32))


def test_rounding_to_16_bits():
    x = np.random.default_rng(0).integers(0, 1 << 32, 1 << 16, np.uint64).astype(np.uint32).view(np.float32)
    near = (np.arange(1 << 15).astype(np.uint16).view(np.float16).astype(np.float32).view(np.uint32) + np.uint32(0x1000)).view(np.float32)
    x = np.concatenate([x, near, -near, np.float32([65519.996, 65520, 2.98e-8, 2.9802322e-8, 2.9802326e-8, 1e-30])])
    z = np.empty(x.size, np.float16)
    run(kernel("for (int i = 0; i < n; i++) store(z[i], x[i]);", "const float *x, half_t *z, int n"), "f", (x, z, np.int32(x.size)), 1, 1)
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(z, x.astype(np.float16))


FUNCTIONS = [
    ("erfinv", "erfinv", [-0.999999, -0.5, -1e-9, 0, 0.3, 0.9, 0.9999999, 1]), ("erfcinv", "erfcinv", [1e-6, 0.1, 1, 1.7]),
    ("normcdfinv", "ndtri", [1e-7, 0.2, 0.5, 0.99]), ("normcdf", "ndtr", [-3, 0, 2]), ("cyl_bessel_i0", "i0", [0, 1, 9]),
    ("cyl_bessel_i1", "i1", [0, -1, 9]), ("rsqrt", "", [0.1, 4]), ("erf", "erf", [-1, 0.1]), ("lgamma", "gammaln", [0.3, 9]),
    ("erfcx", "erfcx", [-1, 0, 2, 5]),
]


@pytest.mark.parametrize("kind", ["float", "double"])
@pytest.mark.parametrize("name, reference, points", FUNCTIONS)
def test_functions_that_only_cuda_has(name, reference, points, kind):
    import scipy.special
    text = "".join(kernel(f"y[threadIdx.x] = {f}(x[threadIdx.x]);", f"const {k} *x, {k} *y", f"{f}_{k}")
                   for f, _, _ in FUNCTIONS for k in ("float", "double"))
    x = np.array(points, np.float32 if kind == "float" else np.float64)
    wide, y = x.astype(np.float64), np.empty_like(x)
    run(text, f"{name}_{kind}", (x, y), 1, x.size)
    want = getattr(scipy.special, reference)(wide) if reference else 1 / np.sqrt(wide)
    np.testing.assert_allclose(y, want, rtol=3e-7 if kind == "float" else 1e-9)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_products_copies_and_fills(dtype):
    rng, device = np.random.default_rng(1), Emulator()
    a, b = rng.standard_normal((2, 3, 4)).astype(dtype), rng.standard_normal((2, 5, 4)).astype(dtype)
    out, wide = np.full((2, 3, 5), np.nan, dtype), np.matmul(a.astype(float), b.astype(float).swapaxes(1, 2))
    device.prepare([MatrixProduct(a, b.swapaxes(1, 2), out, 2.0)])()
    np.testing.assert_allclose(out, 2 * wide, rtol=1e-2 if dtype == "float16" else 1e-5, atol=1e-2 if dtype == "float16" else 1e-5)
    copied = np.zeros((5, 3, 2), dtype)
    device.prepare([ArrayCopy(out.T, copied), ZeroFill(out)])()
    assert not out.any() and copied.any()
    for action in (MatrixProduct(a, b, out), MatrixProduct(a.astype(int), b, out), ArrayCopy(a, out), ZeroFill(out.T)):
        with pytest.raises(DeviceError):
            device.prepare([action])


def test_memory_of_the_driver():
    device = Emulator()
    x = device.upload(np.arange(6.0).reshape(2, 3).T)
    assert x.flags.c_contiguous
    target = device.empty((2, 3), np.float64)
    assert device.upload(np.arange(6.0), target) is target
    np.testing.assert_array_equal(device.download(target, np.zeros((3, 2))), np.arange(6.0).reshape(3, 2))
    count = []
    with device.stream():
        again = device.capture(lambda: count.append(1))
        assert not count
        again()
        again()
    assert len(count) == 2


def test_machine_code_is_kept_on_disk(tmp_path, monkeypatch):
    monkeypatch.setenv("DL4PY_CACHE_DIR", str(tmp_path))
    stamps = []
    for damaged in (False, False, True):
        host_code._libraries.clear()
        for file in (tmp_path / "emulator").glob("*.so") if damaged else ():
            file.unlink()
            file.write_bytes(b"")
        y = np.zeros(1, np.int32)
        run(kernel("y[0] = 3;"), "f", (y,))
        assert y[0] == 3
        file, = (tmp_path / "emulator").glob("*.so")
        assert not list((tmp_path / "emulator").glob("*.tmp"))
        stamps.append(file.stat().st_mtime_ns)
    assert stamps[0] == stamps[1] < stamps[2]


def test_machine_code_of_another_text_is_not_run(tmp_path, monkeypatch):
    monkeypatch.setenv("DL4PY_CACHE_DIR", str(tmp_path))
    texts = [kernel(f"y[0] = {k};") for k in (4, 5)]
    for text in texts:
        host_code.library(text)
    files = list((tmp_path / "emulator").glob("*.so"))
    for file, content in zip(files, [f.read_bytes() for f in reversed(files)]):
        file.write_bytes(content)
    host_code._libraries.clear()
    y = np.zeros(1, np.int32)
    for k, text in zip((4, 5), texts):
        run(text, "f", (y,))
        assert y[0] == k


def test_structs_are_given_by_value():
    text = "struct Sizes { int n; float scale; };\n" + kernel("y[threadIdx.x] = s.scale * (threadIdx.x < s.n);", "float *y, Sizes s")
    y, sizes = np.zeros(4, np.float32), np.zeros((), [("n", np.int32), ("scale", np.float32)])
    sizes["n"], sizes["scale"] = 2, 0.5
    run(text, "f", (y, sizes[()]), 1, 4)
    np.testing.assert_array_equal(y, [0.5, 0.5, 0, 0])
    assert host_code.library(text).function("f").parameters[1].type == "8"
