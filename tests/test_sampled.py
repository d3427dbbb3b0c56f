"""Of a test marked ``sampled(n)`` one of n cases is quick."""
from __future__ import annotations

import pytest


@pytest.mark.sampled(3)
@pytest.mark.parametrize("number", range(7))
def test_cases(number, request):
    assert (request.node.get_closest_marker("slow") is None) == (number % 3 == 0)
