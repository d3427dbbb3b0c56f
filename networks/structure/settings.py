"""Network-wide settings of DL4J's configurations."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

from ...samediff.base.java.java_enum import JavaEnum
from ...samediff.configuration.configuration import Configuration
from ...samediff.configuration.declaring import configuration
from ...samediff.errors import ConfigurationError
from .java_names import (
    DefaultStepFunctionNames,
    GradientStepFunctionNames,
    LayerWorkspaceMgrNames,
    NegativeDefaultStepFunctionNames,
    NegativeGradientStepFunctionNames,
    StepFunctionNames,
)


class BackpropType(JavaEnum):
    """Whole sequences, or truncated back-propagation through time."""

    Standard = "Standard"
    TruncatedBPTT = "TruncatedBPTT"


class WorkspaceMode(JavaEnum):
    """DL4J's memory workspaces; kept for its files, without effect here."""

    NONE = "NONE"
    ENABLED = "ENABLED"
    SINGLE = "SINGLE"
    SEPARATE = "SEPARATE"


class CacheMode(JavaEnum):
    """DL4J's cache of activations; kept for its files, without effect here."""

    NONE = "NONE"
    HOST = "HOST"
    DEVICE = "DEVICE"


class OptimizationAlgorithm(JavaEnum):
    """Algorithms by which a network is fitted."""

    LINE_GRADIENT_DESCENT = "LINE_GRADIENT_DESCENT"
    CONJUGATE_GRADIENT = "CONJUGATE_GRADIENT"
    LBFGS = "LBFGS"
    STOCHASTIC_GRADIENT_DESCENT = "STOCHASTIC_GRADIENT_DESCENT"


@configuration(tag="")
class StepFunction(Configuration, StepFunctionNames):
    """The change of parameters by an update; the negative ones subtract it, which is what a descent needs.

    The size is the step that a line search found, 1 where there is none.
    """

    json_name: ClassVar[str] = ""
    sign: ClassVar[int] = -1
    sized: ClassVar[bool] = True

    def step(self, params: Any, direction: Any, size: float = 1.0) -> None:
        """Move flat parameters along a direction, in place."""
        params += params.dtype.type(self.sign * size) * direction if self.sized else params.dtype.type(self.sign) * direction

    def to_document(self) -> dict[str, Any]:
        return {self.json_name: {}}

    @classmethod
    def from_document(cls, document: Any) -> Self:
        if isinstance(document, Mapping) and len(document) == 1:
            (name,) = document
            for kind in _STEPS:
                if kind.json_name == name and issubclass(kind, cls):
                    found: Any = kind()
                    return found  # type: ignore[no-any-return]
        raise ConfigurationError(f"no step function is written {document!r:.80}")


_STEP = "org.deeplearning4j.nn.conf.stepfunctions."


@configuration(_STEP + "DefaultStepFunction")
class DefaultStepFunction(StepFunction, DefaultStepFunctionNames):
    """The step ``params + size * update``."""

    json_name: ClassVar[str] = "default"
    sign: ClassVar[int] = 1


@configuration(_STEP + "GradientStepFunction")
class GradientStepFunction(StepFunction, GradientStepFunctionNames):
    """The step ``params + update``, whatever the size."""

    json_name: ClassVar[str] = "gradient"
    sign: ClassVar[int] = 1
    sized: ClassVar[bool] = False


@configuration(_STEP + "NegativeDefaultStepFunction")
class NegativeDefaultStepFunction(StepFunction, NegativeDefaultStepFunctionNames):
    """The step ``params - size * update``."""

    json_name: ClassVar[str] = "negativeDefault"


@configuration(_STEP + "NegativeGradientStepFunction")
class NegativeGradientStepFunction(StepFunction, NegativeGradientStepFunctionNames):
    """The step ``params - update``, whatever the size."""

    json_name: ClassVar[str] = "negativeGradient"
    sized: ClassVar[bool] = False


_STEPS = (DefaultStepFunction, GradientStepFunction, NegativeDefaultStepFunction, NegativeGradientStepFunction)


class LayerWorkspaceMgr(LayerWorkspaceMgrNames):
    """Stands for DL4J's managers of memory: here arrays are NumPy's, and what runs plans its memory when it is compiled.

    Examples
    --------
    >>> from dl4py.networks import LayerWorkspaceMgr
    >>> LayerWorkspaceMgr.noWorkspaces() is None      # which methods take in its place
    True
    """

    @staticmethod
    def no_workspaces() -> None:
        """None."""

    @staticmethod
    def no_workspaces_immutable() -> None:
        """None."""
