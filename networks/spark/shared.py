"""DL4J's gradient sharing between executors, which is not available."""
from __future__ import annotations

from typing import Any, ClassVar, Never

from ...samediff.base.javanames import JavaSpelling
from ...samediff.errors import ConfigurationError

_REFUSED = ("SharedTrainingMaster sends thresholded updates from executor to executor in every step, over a mesh of DL4J's own (Aeron), "
            "which PySpark has no counterpart of: a barrier stage passes texts through the driver alone, which costs more than the updates "
            "save. Use ParameterAveragingTrainingMaster(averaging_frequency=1), or on one machine ParallelWrapper with "
            "TrainingMode.SHARED_GRADIENTS, which exchanges gradients whole")


class SharedTrainingMaster(JavaSpelling):
    """Refuses to train: DL4J's asynchronous exchange of thresholded updates needs connections between executors that Spark does not give.

    Parameters
    ----------
    *given, **options
        DL4J's settings.

    Raises
    ------
    ConfigurationError
        Always, with what to use in its place.
    """

    Builder: ClassVar[Any]

    def __init__(self, *given: Any, **options: Any) -> None:
        _refuse()


class _SharedBuilder:
    def __init__(self, *given: Any, **options: Any) -> None:
        _refuse()


SharedTrainingMaster.Builder = _SharedBuilder


def _refuse() -> Never:
    raise ConfigurationError(_REFUSED)
