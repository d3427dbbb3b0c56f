"""Streams recorded from ND4J: uniforms, integers and states exactly, normals to float32's last digits."""
from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from dl4py.samediff.base.datatype import DataType
from dl4py.samediff.errors import DataTypeError
from dl4py.samediff.initializers.nd4j_random import Nd4jRandom

RECORDED = Path(__file__).parents[2] / "golden" / "init"

EXACT = {
    "rand_4x5": lambda r: r.uniform((4, 5)),
    "rand_f_3x4": lambda r: r.uniform((3, 4), order="f"),
    "rand_double_4x5": lambda r: r.uniform((4, 5), dtype=DataType.DOUBLE),
    "rand_7": lambda r: r.uniform(7),
    "rand_1000_tail": lambda r: r.uniform(1000)[-20:],
    "uniform_m2_3": lambda r: r.uniform((4, 5), -2, 3),
    "dist_uniform_m1_1": lambda r: r.uniform((4, 5), -1, 1),
    "bernoulli_0_3": lambda r: r.bernoulli((4, 5), 0.3),
    "bernoulli_0_5_1x9": lambda r: r.bernoulli((1, 9), 0.5),
    "binomial_5_0_4": lambda r: r.binomial((4, 5), 5, 0.4),
    "dist_binomial_6_0_5": lambda r: r.binomial((4, 5), 6, 0.5),
    "choice": lambda r: r.choice([1, 2, 3, 4], [0.1, 0.2, 0.3, 0.4], 12),
    **{name: lambda r, call=call: np.array([call(r) for _ in range(10)]) for name, call in {
        "next_int": lambda r: r.next_int(),
        "next_int_100": lambda r: r.next_int(100),
        "next_int_5_20": lambda r: r.next_int(5, 20),
        "next_double": lambda r: r.next_double(),
        "next_float": lambda r: r.next_float(),
        "next_gaussian": lambda r: r.next_gaussian(),
        "next_long": lambda r: r.next_long(),
        "next_boolean": lambda r: r.next_boolean()}.items()},
}
CLOSE = {
    "randn_4x5": lambda r: r.normal((4, 5)),
    "randn_odd_7": lambda r: r.normal(7),
    "randn_1": lambda r: r.normal(1),
    "randn_f_3x4": lambda r: r.normal((3, 4), order="f"),
    "randn_double_4x5": lambda r: r.normal((4, 5), dtype=float),
    "randn_1001_tail": lambda r: r.normal(1001)[-21:],
    "dist_normal_1_2": lambda r: r.normal((4, 5), 1, 2),
    "dist_truncated_0_1": lambda r: r.truncated_normal((4, 5)),
    "dist_lognormal_0_0_5": lambda r: r.log_normal((4, 5), 0, 0.5),
    "exponential_2": lambda r: r.exponential((4, 5), 2),
}


@pytest.fixture(params=["42", "m1"])
def recorded(request):
    folder = RECORDED / f"rng_seed_{request.param}"
    with np.load(folder / "arrays.npz") as arrays:
        return json.loads((folder / "case.json").read_text()), dict(arrays)


@pytest.mark.parametrize("name", [*EXACT, *CLOSE])
def test_stream_and_state_are_nd4js(recorded, name):
    info, arrays = recorded
    rng = Nd4jRandom(info["seed"])
    got = {**EXACT, **CLOSE}[name](rng)
    np.testing.assert_allclose(got, arrays[name], rtol=0, atol=0 if name in EXACT else 4e-6)
    if name + "_then_rand3" in arrays:
        np.testing.assert_array_equal(rng.uniform(3), arrays[name + "_then_rand3"])


def test_sequence_of_operations(recorded):
    info, arrays = recorded
    rng = Nd4jRandom(info["seed"])
    for name, draw in (("seq_rand", rng.uniform), ("seq_then_rand", rng.uniform), ("seq_then_randn", rng.normal),
                       ("seq_then_rand2", rng.uniform), ("seq_then_bernoulli", rng.bernoulli)):
        np.testing.assert_allclose(draw((2, 3)), arrays[name], rtol=0, atol=4e-6)
    assert rng.next_int() == info["seq_then_next_int"]
    assert (rng.root_state(), rng.node_state()) == (info["root_state_after_seq"], info["node_state_after_seq"])


def test_long_arrays_do_not_depend_on_the_block_size():
    whole = Nd4jRandom(5).uniform(200_001)
    np.testing.assert_array_equal(whole[:10], Nd4jRandom(5).uniform(10))
    assert 0.49 < whole.mean() < 0.51 and whole.min() >= 0 and whole.max() < 1


def test_truncated_normal_stays_within_two_deviations():
    z = Nd4jRandom(3).truncated_normal(20_000, 1.0, 0.5, dtype=DataType.DOUBLE)
    assert np.abs(z - 1).max() <= 1.0


def test_seed_and_types():
    rng = Nd4jRandom(9)
    first = rng.next_gaussian()
    rng.set_seed(9)
    assert rng.next_gaussian() == first and rng.get_seed() == 9
    assert rng.uniform((2, 0)).shape == (2, 0)
    assert rng.normal((2,), dtype=DataType.BFLOAT16).dtype == DataType.BFLOAT16.numpy
    with pytest.raises(DataTypeError, match="numeric"):
        rng.uniform(3, dtype=DataType.UTF8)
    with pytest.raises(ValueError, match="bound > 0"):
        rng.next_int(0)
