from __future__ import annotations

import contextlib

import numpy as np
import pytest

from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.errors import DL4PyError, GradientError, ShapeError
from dl4py.samediff.ops.linalg.matrix_solve import SingularMatrixError
from tests.helpers.gradcheck import check_gradients

RNG = np.random.default_rng(9)
A, B = RNG.normal(size=(2, 3, 3)) + 3 * np.eye(3), RNG.normal(size=(2, 3, 2))
POSITIVE = A @ A.swapaxes(-1, -2)
TALL = RNG.normal(size=(4, 2))
TURNED = np.array([[0.5, -1.2, 0.3], [0.9, 0.8, -0.4], [0.2, 0.7, -1.1]])


def symmetric(sd: SameDiff, a: object) -> object:
    return (a + a.permute(0, 2, 1)) * 0.5


GRADIENTS = {
    "matrix_inverse": (lambda sd, a: sd.linalg.matrix_inverse(a), {"a": A}, 2),
    "matrix_determinant": (lambda sd, a: sd.linalg.matrix_determinant(a), {"a": A}, 2),
    "logdet": (lambda sd, a: sd.linalg.logdet(symmetric(sd, a)), {"a": POSITIVE}, 2),
    "cholesky": (lambda sd, a: sd.linalg.cholesky(symmetric(sd, a)), {"a": POSITIVE}, 2),
    "solve": (lambda sd, a, b: sd.linalg.solve(a, b), {"a": A, "b": B}, 2),
    "solve adjoint": (lambda sd, a, b: sd.linalg.solve(a, b, True), {"a": A, "b": B}, 2),
    "triangular": (lambda sd, a, b: sd.linalg.triangular_solve(a, b, True, False), {"a": A, "b": B}, 2),
    "triangular adjoint": (lambda sd, a, b: sd.linalg.triangular_solve(a, b, False, True), {"a": A, "b": B}, 2),
    "lstsq": (lambda sd, a, b: sd.linalg.lstsq(a, b, 0.1), {"a": TALL, "b": RNG.normal(size=(4, 1))}, 2),
    "lstsq wide": (lambda sd, a, b: sd.linalg.lstsq(a, b, 0.0), {"a": TALL.T, "b": RNG.normal(size=(2, 1))}, 2),
    "lu": (lambda sd, a: sd.linalg.lu(a), {"a": A}, 2),
    "qr": (lambda sd, a: sd.linalg.qr(a, False), {"a": TALL}, 2),
    "qr wide": (lambda sd, a: sd.linalg.qr(a, False), {"a": B.swapaxes(-1, -2)}, 2),
    "qr full": (lambda sd, a: sd.linalg.qr(a, True), {"a": TALL.T}, 2),
    "svd": (lambda sd, a: sd.linalg.svd(a, False, False), {"a": TALL}, 2),
    "svd wide": (lambda sd, a: sd.linalg.svd(a, False, False), {"a": B.swapaxes(-1, -2)}, 2),
    "eig": (lambda sd, a: sd.linalg.eig(a), {"a": A[0]}, 2),
    "eig with a complex pair": (lambda sd, a: sd.linalg.eig(a), {"a": TURNED}, 2),
    "band": (lambda sd, a: sd.linalg.matrix_band_part(a, 1, 0), {"a": A}, 1),
    "triu": (lambda sd, a: sd.linalg.triu(a, 1), {"a": A}, 1),
    "cross": (lambda sd, a, b: sd.linalg.cross(a, b), {"a": A[0], "b": A[1]}, 2),
    "diag": (lambda sd, a: sd.linalg.diag(a), {"a": TALL}, 1),
}


@pytest.mark.sampled(25)
@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients(name: str) -> None:
    build, arrays, order = GRADIENTS[name]
    check_gradients(build, arrays, order, rtol=2e-5)


@pytest.mark.parametrize("dtype", [DataType.HALF, DataType.BFLOAT16])
@pytest.mark.parametrize("name", [n for n in GRADIENTS if not n.startswith("eig")])
def test_types_that_lapack_does_not_have(name: str, dtype: DataType) -> None:
    """They are computed in single precision, and come back in their own."""
    found = []
    for kind in (np.dtype(np.float64), dtype.numpy):
        sd = SameDiff.create()
        made = GRADIENTS[name][0](sd, *(sd.constant(a.astype(dtype.numpy).astype(kind)) for a in GRADIENTS[name][1].values()))
        found.append([v.eval() for v in (made if isinstance(made, list | tuple) else [made])])
    for wanted, brief in zip(*found, strict=True):
        assert brief.dtype == dtype.numpy
        near = 0.02 if dtype is DataType.HALF else 0.15
        np.testing.assert_allclose(brief.astype(float), wanted, atol=near * max(1.0, np.abs(wanted).max()))


def test_factors_multiply_to_the_matrix() -> None:
    sd = SameDiff.create()
    a = sd.constant(A)
    q, r = (v.eval() for v in sd.linalg.qr(a, True))
    np.testing.assert_allclose(q @ r, A)
    factor = sd.linalg.cholesky(sd.constant(POSITIVE)).eval()
    np.testing.assert_allclose(factor @ factor.swapaxes(-1, -2), POSITIVE)
    packed = sd.linalg.lu(sd.constant(A[0])).eval()
    product = (np.tril(packed, -1) + np.eye(3)) @ np.triu(packed)
    np.testing.assert_allclose(sorted(product.tolist()), sorted(A[0].tolist()))


def test_eigenvalues_and_vectors() -> None:
    sd = SameDiff.create()
    values, vectors = (v.eval() for v in sd.linalg.eig(sd.constant(A[0])))
    values, vectors = values[:, 0] + 1j * values[:, 1], vectors[..., 0] + 1j * vectors[..., 1]
    np.testing.assert_allclose(A[0] @ vectors, vectors * values, atol=1e-12)


def test_slope_of_an_eigenvalue_is_that_of_its_vectors() -> None:
    sd = SameDiff.create()
    a = sd.var("a", TURNED)
    values, _ = sd.linalg.eig(a)
    (found,) = (g.eval() for g in sd.gradients(values.sum(), [a]))
    assert np.iscomplexobj(np.linalg.eigvals(TURNED))
    np.testing.assert_allclose(found, np.eye(3), atol=1e-12)         # the sum of the eigenvalues is the trace


@pytest.mark.sampled(6)
@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("name", GRADIENTS)
def test_matrices_that_are_not_finite(name: str, value: float) -> None:
    """They come to an end, with numbers or a typed error, gradients too."""
    sd = SameDiff.create()
    build, arrays, _ = GRADIENTS[name]
    given = [a.copy() for a in arrays.values()]
    given[0][..., 1, 0] = value
    made = build(sd, *(sd.var(f"x{i}", a) for i, a in enumerate(given)))
    results = list(made) if isinstance(made, (list, tuple)) else [made]
    loss = sum(r.sum() for r in results if r.dtype.is_floating)
    for names in ([r.name() for r in results], [g.name() for g in sd.gradients(loss, ["x0"])]):
        with contextlib.suppress(SingularMatrixError), np.errstate(all="ignore"):
            sd.output({}, *names)


def test_determinant_gradient_of_a_singular_matrix() -> None:
    sd = SameDiff.create()
    x = sd.var("x", np.array([[1.0, 2], [2, 4]]))
    sd.set_loss_variables(sd.linalg.matrix_determinant(x))
    np.testing.assert_allclose(sd.calculate_gradients({}, "x")["x"], [[4, -2], [-2, 1]], atol=1e-12)


def test_bad_matrices_are_refused() -> None:
    sd = SameDiff.create()
    with pytest.raises(ShapeError, match="square"):
        sd.linalg.matrix_inverse(sd.constant(TALL))
    with pytest.raises(DL4PyError, match="ingular"):
        sd.linalg.matrix_inverse(sd.constant(np.ones((2, 2)))).eval()
    with pytest.raises(DL4PyError, match="ositive"):
        sd.linalg.cholesky(sd.constant(-np.eye(2))).eval()
    q = sd.linalg.qr(sd.var("tall", TALL), True)[0]
    sd.set_loss_variables(q.sum())
    with pytest.raises(GradientError, match="arbitrary"):
        sd.calculate_gradients({}, "tall")
