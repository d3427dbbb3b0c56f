"""Facts about public data sets from DL4J's loaders and fetchers; the iterators fetch these."""
from __future__ import annotations

__all__ = ["Cifar10Fetcher", "CifarLoader", "MnistDataFetcher", "TinyImageNetFetcher", "UciSequenceDataFetcher"]


class CifarLoader:
    """Sizes of CIFAR-10."""

    NUM_TRAIN_IMAGES, NUM_TEST_IMAGES, NUM_LABELS = 50_000, 10_000, 10
    HEIGHT, WIDTH, CHANNELS = 32, 32, 3


class Cifar10Fetcher:
    """Sizes of CIFAR-10."""

    INPUT_WIDTH, INPUT_HEIGHT, INPUT_CHANNELS, NUM_LABELS = 32, 32, 3, 10


class TinyImageNetFetcher:
    """Sizes of Tiny ImageNet."""

    INPUT_WIDTH, INPUT_HEIGHT, INPUT_CHANNELS, NUM_LABELS, NUM_EXAMPLES = 64, 64, 3, 200, 100_000


class MnistDataFetcher:
    """Sizes of MNIST."""

    NUM_EXAMPLES, NUM_EXAMPLES_TEST = 60_000, 10_000


class UciSequenceDataFetcher:
    """Sizes of the control charts."""

    NUM_LABELS, NUM_EXAMPLES = 6, 600
