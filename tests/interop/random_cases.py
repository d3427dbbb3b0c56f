"""Random networks of ``tests/random_networks``, fixed by seed and number: lists and graphs of many layers, options and masks.

Of the first 150 these draw no random numbers and are run and trained right by DL4J; ``docs/differences.md`` says what the others meet.
"""
from __future__ import annotations

from typing import Any

import numpy as np

from tests.interop.network_cases import NetworkCase
from tests.random_networks import trying_networks

SEED = 20261130
NUMBERS = (11, 19, 22, 26, 28, 34, 35, 36, 40, 43, 45, 49, 50, 52, 53, 64, 79, 81, 83, 84, 85, 88, 91, 96, 97, 98, 100,
           101, 103, 109, 110, 112, 115, 134, 144, 147, 149)


def random_case(number: int) -> NetworkCase:
    """The network of that number and a batch of three examples."""
    made = trying_networks.drawn(SEED, number)
    net = trying_networks.built(made)
    data = trying_networks.batch(net, made, 3, np.random.default_rng(made.seed))
    return NetworkCase(f"random/{number}", net=net, inputs=tuple(data.get_features()), labels=data.get_labels(),
                       feature_masks=_whole(data.get_features_mask_arrays()), label_mask=_whole(data.get_labels_mask_arrays()))


def _whole(masks: Any) -> Any:
    """Masks where every array has one."""
    return None if masks is None or any(m is None for m in masks) else list(masks)


def random_cases() -> dict[str, Any]:
    """Functions that make the cases, by name."""
    return {f"random/{n}": (lambda n=n: random_case(n)) for n in NUMBERS}
