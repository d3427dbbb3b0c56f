"""java.util.Random and ND4J's shuffling order."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff.data import JavaRandom
from dl4py.samediff.data.sets.java_random import shuffled_order
from dl4py.samediff.errors import ConfigurationError


def test_first_numbers_of_seed_42():
    r = JavaRandom(42)
    assert [r.next_int(10) for _ in range(8)] == [0, 3, 8, 4, 0, 5, 5, 8]
    assert JavaRandom(42).next_int() == -1170105035
    assert JavaRandom().next_long() != JavaRandom().next_long()
    assert JavaRandom(42).next_double() == 0.7275636800328681


def test_normal_numbers_of_seed_42():
    random = JavaRandom(42)
    assert random.nextGaussian() == pytest.approx(1.1419053154730547, 1e-15)
    second = random.next_gaussian()
    random.set_seed(42)
    assert random.next_gaussian() != second == random.next_gaussian()


def test_powers_of_two_use_the_high_bits():
    assert JavaRandom(42).next_int(2**31 // 2) == JavaRandom(42).next_bits(31) * (2**30) >> 31


def test_a_bound_must_be_positive():
    with pytest.raises(ConfigurationError, match="positive"):
        JavaRandom(1).next_int(0)


def test_order_recorded_from_nd4j():
    assert shuffled_order(10, 42).tolist() == [3, 8, 5, 0, 7, 2, 9, 4, 1, 6]


@pytest.mark.parametrize("n", [0, 1, 2, 9, 64])
def test_shuffling_is_a_permutation_that_undoes_itself(n):
    order = shuffled_order(n, 7)
    np.testing.assert_array_equal(order[order], np.arange(n))
