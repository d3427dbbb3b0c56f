"""One row or more for every registered loss and activation, which ``test_every_layer`` checks."""
from __future__ import annotations

from typing import Any

import numpy as np

from dl4py import layers as L
from dl4py.layers import loss

RNG = np.random.default_rng(3)
N, K = 4, 3
Z = RNG.normal(size=(N, K))
REAL, ONE_HOT, SIGNS = RNG.normal(size=(N, K)), np.eye(K)[[0, 2, 1, 2]], 2 * np.eye(K)[[0, 2, 1, 2]] - 1
SETS = np.array([[1.0, 0, 1], [0, 1, 0], [1, 1, 0], [0, 0, 1]])


@loss("tests.LogCosh")
class LogCosh(L.SameDiffLoss):
    """log(cosh(error))."""

    def define_loss(self, sd, layer_input, labels):
        return sd.math.log(sd.math.cosh(labels - layer_input)).sum(1)


#: loss, labels, output, activation
LOSSES: list[tuple[Any, Any, Any, str]] = [
    (L.LossMSE(), REAL, Z, "tanh"), (L.LossMSE(weights=np.array([1.0, 0.5, 2.0])), REAL, Z, "identity"), (L.LossL1(), REAL, Z, "identity"),
    (L.LossMAE(), REAL, Z, "softsign"), (L.LossL2(), REAL, Z, "softmax"), (L.LossMAPE(), REAL, Z, "identity"),
    (L.LossMSLE(), RNG.random((N, K)), Z, "sigmoid"), (L.LossBinaryXENT(), SETS, Z, "sigmoid"), (L.LossMCXENT(), ONE_HOT, Z, "softmax"),
    (L.LossMCXENT(), ONE_HOT, Z, "sigmoid"), (L.LossNegativeLogLikelihood(), ONE_HOT, Z, "softmax"),
    (L.LossSparseMCXENT(), np.array([[0], [2], [1], [2]]), Z, "softmax"), (L.LossKLD(), RNG.dirichlet(np.ones(K), N), Z, "softmax"),
    (L.LossCosineProximity(), REAL, Z, "identity"), (L.LossHinge(), SIGNS, Z, "identity"), (L.LossSquaredHinge(), SIGNS, Z, "tanh"),
    (L.LossPoisson(), RNG.poisson(2.0, (N, K)), Z, "softplus"), (L.LossWasserstein(), SIGNS, Z, "identity"),
    (L.LossMultiLabel(), SETS, Z, "tanh"), (L.LossMixtureDensity(2, 1), REAL[:, :1], RNG.normal(size=(N, 6)), "identity"),
    (L.LossFMeasure(), SETS[:, :1], Z[:, :1], "sigmoid"), (L.LossFMeasure(beta=2.0), ONE_HOT[:, :2], Z[:, :2], "softmax"),
    (LogCosh(), REAL, Z, "tanh")]

ACTIVATIONS: list[Any] = [
    L.ActivationCube(), L.ActivationELU(), L.ActivationELU(0.7), L.ActivationGELU(), L.ActivationGELU(precise=True),
    L.ActivationHardSigmoid(), L.ActivationHardTanH(), L.ActivationIdentity(), L.ActivationLReLU(0.2), L.ActivationMish(),
    L.ActivationPReLU(np.full((1, 5), 0.3), None), L.ActivationRReLU(), L.ActivationRationalTanh(), L.ActivationReLU(),
    L.ActivationReLU(3.0, 1.0, 0.1), L.ActivationReLU6(), L.ActivationRectifiedTanh(), L.ActivationSELU(), L.ActivationSigmoid(),
    L.ActivationSoftPlus(), L.ActivationSoftSign(), L.ActivationSoftmax(), L.ActivationSwish(), L.ActivationTanH(),
    L.ActivationThresholdedReLU(0.5)]
