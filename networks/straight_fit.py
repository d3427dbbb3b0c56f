"""Steps that need nothing but features and labels, without a detour: for small networks the way to a step costs as much as the step."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..samediff.data import DataSet
from ..samediff.executor.session import uses_reference
from .engine import Engine
from .optimizers import StochasticGradientDescent

if TYPE_CHECKING:
    from .fitting import Fitting


class StraightFit:
    """Does what :meth:`Fitting._fit_batch` does, for batches of a form that was fitted before."""

    def __init__(self, network: Fitting, engine: Engine) -> None:
        self.network, self.engine = network, engine

    @staticmethod
    def of(network: Fitting) -> StraightFit | None:
        """None where steps have to be watched, checked, cut into pieces, or are of another kind."""
        engine = network.engine
        plain = type(network.get_optimizer()) is StochasticGradientDescent and network._tbptt() is None
        if network._checks_finite or network.get_listeners() or not plain or not engine.updates_in_steps or uses_reference():
            return None
        return StraightFit(network, engine)

    def __call__(self, data: Any) -> bool:
        """One step; False where that was not possible, and nothing was done."""
        if type(data) is not DataSet:
            return False
        x, y = data.features, data.labels
        if type(x) is not np.ndarray or type(y) is not np.ndarray or data.features_mask is not None or data.labels_mask is not None:
            return False
        engine = self.engine
        known = engine.known_steps.get((x.shape, x.dtype.num, y.shape, y.dtype.num))       # as Batch.form
        whole = None if known is None else known.whole
        if known is None or whole is None:
            return False
        network, rows = self.network, len(y)
        with engine.lock:
            engine.begin(known.step)
            network._last_batch_size = rows
            penalty = engine.regularization_score()
            given = (x, y)
            network._score = penalty + known.run_whole(whole, [given[k] for k, _ in known.places], engine.iteration, engine.epoch,
                                                       engine.scale(rows))
            engine.iteration += 1
        return True
