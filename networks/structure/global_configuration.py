"""Options of a whole network, as builders collect them."""
from __future__ import annotations

import time
from typing import Any

from ...layers.base.base import Layer
from ...layers.base.defaults import LayerDefaults
from ...samediff.base.datatype import DataType
from ...samediff.configuration.declaring import Convertible, configuration, field
from ...samediff.errors import ConfigurationError
from .configuration import NeuralNetConfiguration
from .java_names import GlobalConfigurationNames
from .settings import CacheMode, OptimizationAlgorithm, StepFunction, WorkspaceMode


@configuration(kw_only=True)
class GlobalConfiguration(LayerDefaults, GlobalConfigurationNames):
    """All options of ``NeuralNetConfiguration.Builder``."""

    seed: int = field(default_factory=lambda: time.time_ns() // 1_000_000)
    mini_batch: bool = True
    minimize: bool = True
    max_num_line_search_iterations: int = 5
    optimization_algo: Convertible[OptimizationAlgorithm] = OptimizationAlgorithm.STOCHASTIC_GRADIENT_DESCENT
    step_function: StepFunction | None = None
    data_type: Convertible[DataType] = DataType.FLOAT
    cache_mode: Convertible[CacheMode] = CacheMode.NONE
    training_workspace_mode: Convertible[WorkspaceMode] = WorkspaceMode.ENABLED
    inference_workspace_mode: Convertible[WorkspaceMode] = WorkspaceMode.ENABLED
    layer: Layer | None = None

    def validate(self) -> None:
        if self.data_type not in (DataType.FLOAT, DataType.DOUBLE, DataType.HALF, DataType.BFLOAT16):
            raise ConfigurationError(f"networks compute in FLOAT, DOUBLE, HALF or BFLOAT16; got {self.data_type.name}")

    def of_layer(self, layer: Layer | None) -> NeuralNetConfiguration:
        """Return the configuration of one layer of the network."""
        shared = {name: getattr(self, name) for name in NeuralNetConfiguration._fields if name in type(self)._fields}
        return NeuralNetConfiguration(**{**shared, "layer": layer})

    def of_network(self) -> dict[str, Any]:
        """Return what list networks and graphs take over."""
        names = ("training_workspace_mode", "inference_workspace_mode", "cache_mode", "data_type")
        return {name: getattr(self, name) for name in names}
