"""Normalization of single examples, and with fixed numbers."""
from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ....layers.base.base import BaseLayer, NoParamLayer, layer
from ....layers.types.parameters import Parameter
from ....samediff.configuration.declaring import Convertible
from ....samediff.families.in_float import as_float, in_type_of, least

if TYPE_CHECKING:
    from ....layers.types.parameters import LayerScope, ParameterTable
    from ....samediff.graph.graph import SameDiff
    from ....samediff.ir.variable import SDVariable


def standardized(sd: Any, x: Any, axes: tuple[int, ...], eps: float, centered: bool = True) -> Any:
    """``(x - mean) / sqrt(var + eps)`` along axes, or ``x / sqrt(mean(x²) + eps)``."""
    away = x - sd.call("base", "mean", x, True, *axes) if centered else x
    return away / sd.call("math", "sqrt", sd.call("base", "mean", away * away, True, *axes) + eps)


@layer()
class ScaledNormalization(BaseLayer):
    """A normalization with a learned scale and shift.

    Parameters
    ----------
    shape : tuple of int
        Shape of gamma and beta, with ones for axes that share a value; without the batch.
    eps : float
        Added to variances.
    scale, center : bool
        Whether there are gamma and beta.
    """

    shape: Convertible[tuple[int, ...]] = ()
    eps: float = 1e-3
    scale: bool = True
    center: bool = True

    def define_parameters(self, params: ParameterTable) -> None:
        """gamma, then beta."""
        if self.scale:
            params.add(Parameter("gamma", self.shape, "unregularized", init=1.0))
        if self.center:
            params.add(Parameter("beta", self.shape, "unregularized", init=0.0))

    def normalized(self, sd: SameDiff, x: SDVariable) -> SDVariable:
        """Without scale and shift."""
        raise NotImplementedError

    def define_layer(self, sd: SameDiff, x: SDVariable, params: LayerScope, mask: SDVariable | None) -> SDVariable:
        y = self.normalized(sd, x)
        y = y * params["gamma"] if self.scale else y
        return y + params["beta"] if self.center else y


@layer("dl4py.keras.LayerNormalization")
class LayerNormalization(ScaledNormalization):
    """Each example by mean and variance along axes (Ba et al., 2016); without ``centered`` by the mean square alone.

    Parameters
    ----------
    axes : tuple of int
        Axes, the batch being 0.
    centered : bool
        Whether the mean is taken away; True by default.
    """

    axes: Convertible[tuple[int, ...]] = (1,)
    centered: bool = True

    def normalized(self, sd: SameDiff, x: SDVariable) -> SDVariable:
        return standardized(sd, x, self.axes, self.eps, self.centered)  # type: ignore[no-any-return]


@layer("dl4py.keras.GroupNormalization")
class GroupNormalization(ScaledNormalization):
    """Channels in groups, each by its mean and variance over all positions (Wu and He, 2018).

    Parameters
    ----------
    groups : int
        Number of groups.
    axis : int
        The axis of the channels: 1, or the last.
    sizes : tuple of int
        Shape of an example.
    """

    groups: int = 32
    axis: int = 1
    sizes: Convertible[tuple[int, ...]] = ()

    def normalized(self, sd: SameDiff, x: SDVariable) -> SDVariable:
        at = self.axis - 1
        split = (*self.sizes[:at], self.groups, self.sizes[at] // self.groups, *self.sizes[at + 1:])
        axes = tuple(i + 1 for i in range(len(split)) if i != at)
        parts = standardized(sd, sd.call("base", "reshape", x, -1, *split), axes, self.eps)
        return sd.call("base", "reshape", parts, -1, *self.sizes)  # type: ignore[no-any-return]


@layer("dl4py.keras.UnitNormalization")
class UnitNormalization(NoParamLayer):
    """Vectors along axes get the length 1.

    Parameters
    ----------
    axes : tuple of int
        Axes, the batch being 0.
    """

    axes: Convertible[tuple[int, ...]] = (1,)

    def define_layer(self, sd: SameDiff, x: SDVariable, params: LayerScope, mask: SDVariable | None) -> SDVariable:
        wide = as_float(x)
        norm = sd.call("base", "norm2", wide, True, *self.axes)
        return in_type_of(wide / sd.call("base", "scalar_max", norm, least(1e-6, x.dtype)), x)


@layer("dl4py.keras.Rescaling")
class Rescaling(NoParamLayer):
    """``x * scale + offset``, with numbers or one for each channel of the last axis.

    Parameters
    ----------
    scale, offset : tuple of float
        One number, or one for each channel.
    """

    scale: Convertible[tuple[float, ...]] = (1.0,)
    offset: Convertible[tuple[float, ...]] = (0.0,)

    def define_layer(self, sd: SameDiff, x: SDVariable, params: LayerScope, mask: SDVariable | None) -> SDVariable:
        scale, offset = (sd.constant(np.asarray(v, x.dtype.numpy)) for v in (self.scale, self.offset))
        return x * scale + offset


@layer("dl4py.keras.FixedNormalization")
class FixedNormalization(BaseLayer):
    """``(x - mean) / sqrt(variance)`` with numbers that do not train; the other way round with ``invert``.

    Parameters
    ----------
    shape : tuple of int
        Shape of mean and variance, without the batch.
    invert : bool
        Whether ``x * sqrt(variance) + mean`` is computed instead.
    """

    shape: Convertible[tuple[int, ...]] = ()
    invert: bool = False

    def define_parameters(self, params: ParameterTable) -> None:
        """mean, then deviation."""
        params.statistic("mean", self.shape)
        params.statistic("deviation", self.shape, 1.0)

    def define_layer(self, sd: SameDiff, x: SDVariable, params: LayerScope, mask: SDVariable | None) -> SDVariable:
        if self.invert:
            return x * params["deviation"] + params["mean"]
        return (x - params["mean"]) / params["deviation"]

    @staticmethod
    def deviation(variance: Any) -> Any:
        """The divisor of Keras: a deviation that is not zero."""
        return np.maximum(np.sqrt(variance), math.sqrt(1e-14))
