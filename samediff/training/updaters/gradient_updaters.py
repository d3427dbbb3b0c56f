"""Updaters at work by DL4J's names: each is a :class:`GradientUpdater` of one kind of configuration."""
from __future__ import annotations

from .updater import GradientUpdater
from .updaters import AdaBelief, AdaDelta, AdaGrad, Adam, AdaMax, AMSGrad, Nadam, Nesterovs, NoOp, RmsProp, Sgd

__all__ = ["AMSGradUpdater", "AdaBeliefUpdater", "AdaDeltaUpdater", "AdaGradUpdater", "AdaMaxUpdater", "AdamUpdater",
           "NadamUpdater", "NesterovsUpdater", "NoOpUpdater", "RmsPropUpdater", "SgdUpdater"]


class AdaBeliefUpdater(GradientUpdater):
    """The rule of :class:`AdaBelief` with its state."""

    config_type = AdaBelief


class AdaDeltaUpdater(GradientUpdater):
    """The rule of :class:`AdaDelta` with its state."""

    config_type = AdaDelta


class AdaGradUpdater(GradientUpdater):
    """The rule of :class:`AdaGrad` with its state."""

    config_type = AdaGrad


class AdaMaxUpdater(GradientUpdater):
    """The rule of :class:`AdaMax` with its state."""

    config_type = AdaMax


class AdamUpdater(GradientUpdater):
    """The rule of :class:`Adam` with its state.

    Examples
    --------
    >>> import numpy as np
    >>> updater, pixels, gradient = AdamUpdater(Adam(0.5)), np.array([4.0, 1.0]), np.array([0.1, -2.0])
    >>> updater.set_state_view_array(np.zeros(2 * 2), gradient.shape, "c", True)
    >>> updater.apply_updater(gradient, iteration=0, epoch=0)
    >>> (pixels - gradient).round(3)
    array([3.5, 1.5])
    """

    config_type = Adam


class AMSGradUpdater(GradientUpdater):
    """The rule of :class:`AMSGrad` with its state."""

    config_type = AMSGrad


class NadamUpdater(GradientUpdater):
    """The rule of :class:`Nadam` with its state."""

    config_type = Nadam


class NesterovsUpdater(GradientUpdater):
    """The rule of :class:`Nesterovs` with its state."""

    config_type = Nesterovs


class NoOpUpdater(GradientUpdater):
    """The rule of :class:`NoOp` with its state."""

    config_type = NoOp


class RmsPropUpdater(GradientUpdater):
    """The rule of :class:`RmsProp` with its state."""

    config_type = RmsProp


class SgdUpdater(GradientUpdater):
    """The rule of :class:`Sgd` with its state."""

    config_type = Sgd
