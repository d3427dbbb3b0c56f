"""The settings of parallel inference and parallel training."""
from __future__ import annotations

from ...samediff.base.java.java_enum import JavaEnum
from ...samediff.configuration.configuration import Configuration
from ...samediff.configuration.declaring import Convertible, configuration
from ...samediff.device.devices import Device
from ...samediff.errors import ConfigurationError
from ..structure.java_names import InferenceSettingsNames, WrapperSettingsNames
from ..structure.settings import WorkspaceMode


class InferenceMode(JavaEnum):
    """Ways to run requests on the network."""

    SEQUENTIAL = "SEQUENTIAL"   #: each request alone, by a worker
    BATCHED = "BATCHED"         #: requests that wait at the same time together, by a worker
    INPLACE = "INPLACE"         #: each request alone, at once, by the thread that asks


class LoadBalanceMode(JavaEnum):
    """Number of runs that ``INPLACE`` allows at the same time."""

    ROUND_ROBIN = "ROUND_ROBIN"     #: as many as threads ask
    FIFO = "FIFO"                   #: as many as there are workers; others wait


class TrainingMode(JavaEnum):
    """Values that the workers of a parallel training exchange."""

    AVERAGING = "AVERAGING"                 #: parameters (and updater state), every few iterations
    SHARED_GRADIENTS = "SHARED_GRADIENTS"   #: gradients, in every iteration
    CUSTOM = "CUSTOM"                       #: DL4J's own accumulators of gradients; not available here


@configuration(tag="")
class InferenceSettings(Configuration, InferenceSettingsNames):
    """Settings of :class:`~dl4py.networks.ParallelInference`.

    Parameters
    ----------
    inference_mode, batch_limit, queue_limit, workers, load_balance_mode
        See :class:`~dl4py.networks.ParallelInference`.
    """

    inference_mode: Convertible[InferenceMode] = InferenceMode.BATCHED
    batch_limit: int = 32
    queue_limit: int = 64
    workers: int = 1
    load_balance_mode: Convertible[LoadBalanceMode] = LoadBalanceMode.ROUND_ROBIN

    def validate(self) -> None:
        _positive(self, "batch_limit", "queue_limit", "workers")


@configuration(tag="")
class WrapperSettings(Configuration, WrapperSettingsNames):
    """Settings of :class:`~dl4py.networks.ParallelWrapper`.

    Parameters
    ----------
    workers, training_mode, averaging_frequency, average_updaters, report_score_after_averaging, processes, devices, prefetch_buffer, ...
        See :class:`~dl4py.networks.ParallelWrapper`.
    """

    workers: int = 2
    prefetch_buffer: int = 16
    averaging_frequency: int = 1
    average_updaters: bool = True
    report_score_after_averaging: bool = False
    training_mode: Convertible[TrainingMode] = TrainingMode.AVERAGING
    workspace_mode: Convertible[WorkspaceMode] = WorkspaceMode.ENABLED
    processes: bool = False
    devices: Convertible[tuple[str, ...]] = ()

    def validate(self) -> None:
        _positive(self, "workers", "averaging_frequency")
        if self.prefetch_buffer < 0:
            raise ConfigurationError(f"prefetch_buffer must be 0 (none) or more batches, got {self.prefetch_buffer}")
        self.places()
        if self.training_mode is TrainingMode.CUSTOM:
            raise ConfigurationError("training_mode CUSTOM needs an accumulator of gradients of DL4J's; "
                                     "use SHARED_GRADIENTS, which exchanges them whole")

    def places(self) -> list[Device]:
        """The device of each worker, in turn; empty when none were given."""
        return [Device.of(self.devices[rank % len(self.devices)]) for rank in range(self.workers)] if self.devices else []


def _positive(settings: Configuration, *names: str) -> None:
    for name in names:
        if getattr(settings, name) < 1:
            raise ConfigurationError(f"{name} must be at least 1, got {getattr(settings, name)}")
