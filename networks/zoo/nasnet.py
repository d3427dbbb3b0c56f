"""NASNet."""
from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from ...samediff.configuration.declaring import Convertible, configuration
from ...samediff.errors import ConfigurationError
from ...samediff.training.updaters.updater import IUpdater
from ...samediff.training.updaters.updaters import AdaDelta
from ..structure.graph_builder import GraphBuilder
from ..structure.java_names import NASNetNames
from ..structure.settings import CacheMode
from .model import ZooGraph
from .pretrained import PretrainedFile, PretrainedType

__all__ = ["NASNet"]


@configuration(kw_only=True, tag="")
class NASNet(ZooGraph, NASNetNames):
    """NASNet-A (Zoph et al., 2017), from DL4J's files: ``init_pretrained`` alone works.

    DL4J's builder of it fails, whatever its options: it asks for sizes before there are inputs, and joins images of different sizes. There
    is no graph of DL4J to follow, so ``init`` and ``conf`` are errors here, too.

    Parameters
    ----------
    seed, input_shape, num_classes, updater, ...
        See `ZooModel`; they have no effect on networks from files.
    """

    pretrained: ClassVar[Mapping[PretrainedType, PretrainedFile]] = {
        PretrainedType.IMAGENET: PretrainedFile("models/nasnetmobile_dl4j_inference.v1.zip", 3082463801),
        PretrainedType.IMAGENETLARGE: PretrainedFile("models/nasnetlarge_dl4j_inference.v1.zip", 321395591)}
    cache_mode: Convertible[CacheMode] = CacheMode.DEVICE
    updater: Convertible[IUpdater] = AdaDelta()

    def graph_builder(self) -> GraphBuilder:
        raise ConfigurationError("NASNet cannot be built, since DL4J's own builder of it fails: load it from a local model file with "
                                 "init_pretrained(path=...)")
