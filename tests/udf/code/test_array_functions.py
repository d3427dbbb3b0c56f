"""Functions of NumPy in the code of user ops: values, and gradients at known and at open sizes, for each that the page names."""
from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.errors import GradientError
from dl4py.samediff.expressions.arrays import xp as numpy_namespace
from dl4py.udf import user_op

PAGE = Path(__file__).parents[3] / "docs" / "plug-ins-advanced.md"
PLACES = np.array([2, 0, 5])


def square(xp, x):
    return x[:, :4] @ x[:, :4].T + 2 * xp.eye(4)


#: Code for an array of shape (4, 6), by the function that it is about (and a remark).
CODE = {
    "sort": lambda xp, x: xp.sort(x, axis=1)[:, -2:],
    "sort of rows": lambda xp, x: np.sort(x, axis=0) * xp.exp(x),
    "argsort": lambda xp, x: xp.take_along_axis(x, xp.argsort(-x, axis=1), axis=1),
    "argsort, a method": lambda xp, x: xp.take_along_axis(x, x.argsort(1), axis=1),
    "partition": lambda xp, x: xp.partition(x, 2, axis=1)[:, :2].sum(1),
    "take_along_axis": lambda xp, x: xp.take_along_axis(x, xp.argmax(x, axis=1)[:, None], axis=1),
    "searchsorted": lambda xp, x: x * xp.searchsorted(xp.array([-1.0, 0, 1]), x),
    "cumsum": lambda xp, x: x.cumsum(axis=1),
    "cumprod": lambda xp, x: xp.cumprod(x, axis=1),
    "cumprod, a method": lambda xp, x: x.cumprod(0),
    "maximum.accumulate": lambda xp, x: xp.maximum.accumulate(x, axis=1),
    "add.reduce": lambda xp, x: xp.add.reduce(x, axis=1) + np.add.reduce(x, axis=1),
    "logaddexp.reduce": lambda xp, x: xp.logaddexp.reduce(x, axis=1, keepdims=True),
    "add.outer": lambda xp, x: xp.add.outer(x[0], x[1]),
    "diff": lambda xp, x: xp.diff(x, axis=1),
    "gradient": lambda xp, x: xp.gradient(x, axis=1),
    "trapezoid": lambda xp, x: xp.trapezoid(x, axis=1),
    "convolve": lambda xp, x: xp.convolve(x[0], x[1, :3], mode="same"),
    "correlate": lambda xp, x: xp.correlate(x[0], x[1, :3]),
    "interp": lambda xp, x: xp.interp(x, [-1.0, 0, 1], [0.0, 2, 1]),
    "polyval": lambda xp, x: xp.polyval([1.0, 2, 3], x),
    "unwrap": lambda xp, x: xp.unwrap(x * 3, axis=1),
    "vander": lambda xp, x: xp.vander(x[0], 3),
    "fft.rfft": lambda xp, x: xp.abs(xp.fft.rfft(x * xp.hanning(x.shape[-1]), n=8)) ** 2,
    "fft.irfft": lambda xp, x: xp.fft.irfft(xp.fft.rfft(x) * xp.fft.rfft(x[:1]) / (2 + 1j), n=6),
    "fft.fft": lambda xp, x: xp.angle(xp.fft.fft(x)[:, 1:3]) + xp.fft.fft(x, axis=0, norm="ortho").sum().imag,
    "fft.ifft": lambda xp, x: xp.real(xp.fft.ifft(-xp.fft.fft(x, axis=0).conj() * 2.0 + x, axis=0)),
    "sum": lambda xp, x: x.sum(axis=1), "mean": lambda xp, x: xp.mean(x, axis=0), "prod": lambda xp, x: x.prod(axis=1),
    "max": lambda xp, x: x - x.max(1, keepdims=True), "min": lambda xp, x: xp.min(x, axis=0), "ptp": lambda xp, x: xp.ptp(x, axis=1),
    "var": lambda xp, x: x.var(axis=0), "std": lambda xp, x: x.std(axis=0, ddof=1),
    "median": lambda xp, x: xp.median(x, axis=1), "quantile": lambda xp, x: xp.quantile(x, 0.3, axis=1),
    "percentile": lambda xp, x: xp.percentile(x, 40, axis=0), "nanmean": lambda xp, x: xp.nanmean(x, axis=0),
    "average": lambda xp, x: xp.average(x, axis=0, weights=[1.0, 2, 3, 4]), "cov": lambda xp, x: xp.cov(x),
    "corrcoef": lambda xp, x: xp.corrcoef(x), "count_nonzero": lambda xp, x: x * xp.count_nonzero(x > 0),
    "argmax": lambda xp, x: x * (xp.argmax(x, axis=1)[:, None] == xp.arange(x.shape[1])),
    "argmin": lambda xp, x: x * (x.argmin(1)[:, None] == 2), "any": lambda xp, x: x * (x > 1).any(axis=0),
    "all": lambda xp, x: x * xp.all(x > -1, axis=0), "histogram": lambda xp, x: xp.histogram(x, 3)[0] * x.sum(),
    "matmul": lambda xp, x: xp.matmul(x, x.T), "dot": lambda xp, x: x.dot(x.T), "vdot": lambda xp, x: xp.vdot(x, x),
    "inner": lambda xp, x: xp.inner(x, x), "outer": lambda xp, x: xp.outer(x[0], x[1]), "kron": lambda xp, x: xp.kron(x, x[:2, :2]),
    "tensordot": lambda xp, x: xp.tensordot(x, x, axes=((0,), (0,))), "cross": lambda xp, x: xp.cross(x[:, :3], x[:, 3:]),
    "einsum": lambda xp, x: xp.einsum("ij,kj->ik", x, x), "einsum of diagonals": lambda xp, x: xp.einsum("ii->i", x[:, :4]),
    "linalg.norm": lambda xp, x: x / xp.linalg.norm(x, axis=1, keepdims=True),
    "linalg.inv": lambda xp, x: xp.linalg.inv(square(xp, x)), "linalg.solve": lambda xp, x: xp.linalg.solve(square(xp, x), x),
    "linalg.det": lambda xp, x: xp.linalg.det(square(xp, x)), "linalg.cholesky": lambda xp, x: xp.linalg.cholesky(square(xp, x)),
    "linalg.eigh of the upper triangle": lambda xp, x: xp.linalg.eigh(square(xp, x))[0] + abs(xp.linalg.eigh(x[:, :4], "U")[1]),
    "linalg.eigvalsh": lambda xp, x: xp.linalg.eigvalsh(x[:, :4]),
    "linalg.cholesky of a triangle": lambda xp, x: xp.linalg.cholesky(x[:, :4] + 9 * xp.eye(4)),
    "linalg.qr": lambda xp, x: abs(xp.linalg.qr(x[:, :4])[1]), "linalg.eigh": lambda xp, x: abs(xp.linalg.eigh(x[:, :4]).eigenvectors),
    "linalg.svd": lambda xp, x: xp.linalg.svd(x, compute_uv=False), "linalg.pinv": lambda xp, x: xp.linalg.pinv(x),
    "linalg.slogdet": lambda xp, x: xp.linalg.slogdet(square(xp, x))[1],
    "reshape": lambda xp, x: x.reshape(x.shape[0] * 2, x.shape[1] // 2), "ravel": lambda xp, x: x.ravel()[xp.arange(0, 24, 5)],
    "transpose": lambda xp, x: x.transpose(1, 0), "swapaxes": lambda xp, x: xp.swapaxes(x, 0, 1),
    "moveaxis": lambda xp, x: xp.moveaxis(x[None], (0, 1), (1, 0)), "expand_dims": lambda xp, x: xp.expand_dims(x, (0, 2)),
    "squeeze": lambda xp, x: x.sum(axis=1, keepdims=True).squeeze(1), "atleast_3d": lambda xp, x: xp.atleast_3d(x),
    "broadcast_to": lambda xp, x: xp.broadcast_to(x[None], (3, *x.shape)), "meshgrid": lambda xp, x: xp.meshgrid(x[0], x[1])[0],
    "pad": lambda xp, x: xp.pad(x, ((0, 0), (1, 2))), "pad by reflecting": lambda xp, x: xp.pad(x, ((0, 0), (1, 2)), mode="reflect"),
    "roll": lambda xp, x: xp.roll(x, 2, axis=1), "flip": lambda xp, x: xp.flip(x, axis=1), "rot90": lambda xp, x: xp.rot90(x),
    "tile": lambda xp, x: xp.tile(x, (1, 2)), "repeat": lambda xp, x: xp.repeat(x, 2, axis=1),
    "split": lambda xp, x: xp.split(x, 3, axis=1)[1], "array_split": lambda xp, x: xp.array_split(x, 4, axis=1)[0],
    "concatenate": lambda xp, x: xp.concatenate([xp.zeros((x.shape[0], 1)), x], axis=1),
    "stack": lambda xp, x: xp.stack([x[:, i * 2:i * 2 + 3] for i in range((x.shape[1] - 3) // 2 + 1)], axis=1),
    "hstack": lambda xp, x: xp.hstack([x, x]), "vstack": lambda xp, x: xp.vstack([x, x]), "block": lambda xp, x: xp.block([[x], [x]]),
    "column_stack": lambda xp, x: xp.column_stack([x[0], x[1]]), "insert": lambda xp, x: xp.insert(x, 1, 0.0, axis=1),
    "delete": lambda xp, x: xp.delete(x, 1, axis=1), "tril": lambda xp, x: x @ xp.tril(xp.ones((x.shape[1], x.shape[1]))),
    "triu": lambda xp, x: xp.triu(x), "diag": lambda xp, x: xp.diag(x[0]), "diagonal": lambda xp, x: xp.diagonal(x),
    "trace": lambda xp, x: xp.trace(x[:, :4]), "take": lambda xp, x: xp.take(x, [0, 2], axis=1),
    "lib.stride_tricks.sliding_window_view": lambda xp, x: xp.lib.stride_tricks.sliding_window_view(x, (2, 3)).mean((-1, -2)),
    "apply_along_axis": lambda xp, x: xp.apply_along_axis(lambda row: row - row.mean(), 1, x),
    "where": lambda xp, x: xp.where(x > 0, x, 0.1 * x), "select": lambda xp, x: xp.select([x < 0, x > 1], [x * 2, x * 3], x),
    "clip": lambda xp, x: x.clip(-1, 1), "nan_to_num": lambda xp, x: xp.nan_to_num(x), "round": lambda xp, x: x - xp.round(x),
    "sinc": lambda xp, x: xp.sinc(x), "isin": lambda xp, x: x * xp.isin(xp.arange(6), [1, 2]),
    "x[...]": lambda xp, x: x[:, PLACES] + x[:, [1, 1, 0]], "x[...] of several arrays": lambda xp, x: x[[0, 1], [2, 3]],
    "x[...] of a grid": lambda xp, x: x[xp.ix_([0, 1], [2, 3])], "x[...] of known truth values": lambda xp, x: x[:, np.arange(6) % 2 > 0],
    "x[...] backwards": lambda xp, x: x[:, ::-1], "x[...] to a computed end": lambda xp, x: x[:, :x.shape[1] // 2] * x[:, x.shape[1] // 2:],
    "x[...] of frames": lambda xp, x: x[:, xp.arange(3)[None, :] + 2 * xp.arange((x.shape[1] - 3) // 2 + 1)[:, None]],
    "x[...] beside new axes": lambda xp, x: x[:, None, [1, 2]],
    "len(x)": lambda xp, x: x.sum(0) / len(x), "for row in x": lambda xp, x: sum(row * row for row in x),
    "linspace": lambda xp, x: x * xp.linspace(0, 1, x.shape[1]), "eye": lambda xp, x: x @ xp.eye(x.shape[1]),
    "hanning": lambda xp, x: x * xp.hanning(x.shape[1]),
}


def code_named(name):
    code = CODE[name]

    def run(xp, x):
        return code(xp, x)
    return run


@pytest.fixture(scope="module")
def ops():
    return {name: user_op(f"array_functions.f{i}")(code_named(name)) for i, name in enumerate(CODE)}


def gradient(op, sizes, a, weights):
    sd = SameDiff.create()
    x = sd.placeholder("x", DataType.DOUBLE, *sizes)
    y = op("y", x)
    sd.set_loss_variables(sd.sum("loss", y * sd.constant(weights)))
    return sd.output_single({"x": a}, "y"), sd.calculate_gradients({"x": a}, "x")["x"]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", CODE)
def test_values_and_gradients_at_known_and_open_sizes(name, ops, monkeypatch):
    monkeypatch.setenv("DL4PY_EXECUTOR", "reference")
    rng = np.random.default_rng(5)
    a, direction, h = rng.normal(size=(4, 6)), rng.normal(size=(4, 6)), 1e-6
    wanted = np.asarray(CODE[name](numpy_namespace, a))
    weights = rng.normal(size=wanted.shape)
    slope = np.sum(weights * (CODE[name](numpy_namespace, a + h * direction) - CODE[name](numpy_namespace, a - h * direction))) / (2 * h)
    for sizes in ((4, 6), (-1, -1)):
        value, found = gradient(ops[name], sizes, a, weights)
        np.testing.assert_allclose(value, wanted, rtol=1e-9, atol=1e-9, err_msg=str(sizes))
        np.testing.assert_allclose(np.vdot(found, direction), slope, rtol=1e-5, atol=1e-6, err_msg=str(sizes))


def test_the_page_lists_them():
    section = PAGE.read_text().partition("## Array functions with nodes")[2].partition("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| ")][1:]
    named = [n for row in rows for n in re.findall("`([^`]+)`", row.split("|")[2])]
    about = {name if name.startswith("for ") else re.split("[, ]", name)[0] for name in CODE}
    assert sorted(named) == sorted(about)


REFUSED = {
    "x[x > 0]": (lambda xp, x: x[x > 0], "np.where"),
    "nonzero": (lambda xp, x: x[xp.nonzero(x > 0)], "depends on values"),
    "if": (lambda xp, x: x if x.sum() > 0 else -x, "xp.where"),
    "float": (lambda xp, x: x * float(x[0, 0]), "functions of xp"),
    "assignment to the input": (lambda xp, x: assigned(x), "x = x.copy"),
    "NumPy's own arrays": (lambda xp, x: np.linalg.inv(np.asarray(x[:, :4])), "functions of xp"),
    "complex results": (lambda xp, x: xp.fft.fft(x), "xp.abs"),
    "frexp": (lambda xp, x: xp.frexp(x)[0], "np.frexp has no graph node"),
}


def assigned(y):
    y[:, 0] = 0
    return y


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize("sizes", [(4, 6), (-1, 6)])
def test_what_has_no_node_says_what_to_use(name, sizes):
    code, advice = REFUSED[name]

    def run(xp, x):
        return code(xp, x)
    op = user_op(f"array_functions.refused{list(REFUSED).index(name)}{len(set(sizes) & {-1})}", infer=lambda x: x)(run)
    sd = SameDiff.create()
    x = sd.placeholder("x", DataType.DOUBLE, *sizes)
    with pytest.raises(GradientError, match="has no gradient") as caught:
        sd.gradients(op("y", x).sum(), x)
    assert advice in str(caught.value)


def test_second_gradients_exist_at_open_sizes(monkeypatch):
    monkeypatch.setenv("DL4PY_EXECUTOR", "reference")
    a = np.random.default_rng(0).normal(size=(4, 6))

    @user_op("array_functions.halves")
    def halves(xp, x):
        return x[:, :x.shape[1] // 2] ** 3 * x[:, x.shape[1] // 2:]
    found = []
    for sizes in ((4, 6), (-1, -1)):
        sd = SameDiff.create()
        x = sd.placeholder("x", DataType.DOUBLE, *sizes)
        first, = sd.gradients(halves("y", x).sum(), x)
        second, = sd.gradients((first * first).sum(), x)
        found.append(sd.output_single({"x": a}, second))
    np.testing.assert_allclose(found[0], found[1], rtol=1e-12)


def test_code_without_a_module_runs():
    scope: dict = {}
    exec("def code(xp, x):\n    return xp.flip(x, 0)", {}, scope)  # as code in a notebook's string
    op = user_op("array_functions.nowhere")(scope["code"])
    sd = SameDiff.create()
    np.testing.assert_array_equal(op("y", sd.constant(np.arange(3.0))).eval(), [2, 1, 0])
