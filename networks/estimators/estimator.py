"""The base of estimators: parameters, training, early stopping."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, check_random_state

from ...samediff.errors import ConfigurationError
from .models import network_for, options_of


class NetworkEstimator(BaseEstimator):  # type: ignore[misc, unused-ignore]
    """Base of the estimators.

    Parameters
    ----------
    model : function, configuration or network, optional
        What is trained. A function is called with its options and, where it takes them, ``n_in``, ``n_out`` and ``seed``; it gives a
        configuration or network. A network is copied, and training goes on from its parameters. Without one: a small network with the
        options ``hidden``, ``activation`` and ``learning_rate``.
    options : mapping, optional
        Options of that function; ``set_params(options__hidden=8)`` and grids name them one by one.
    epochs : int
        Passes over the data, at most.
    batch_size : int
        Examples of a step.
    shuffle : bool
        Whether examples come in another order in every epoch.
    warm_start : bool
        Whether ``fit`` goes on with the network that it trained before.
    early_stopping : bool
        Whether a part of the data is kept back, and training ends when its score no longer improves; the best parameters stay.
    validation_fraction : float
        That part.
    n_iter_no_change : int
        Epochs without an improvement of ``tol`` after which training ends.
    tol : float
        What counts as an improvement.
    random_state : int, RandomState or None
        Seed of the network that a function makes, and of the split of early stopping.
    callbacks : sequence of Listener, optional
        Hear the training.
    verbose : bool
        Whether to show progress.

    Attributes
    ----------
    network_ : the trained network
    n_iter_ : epochs that were trained in all
    loss_curve_ : score of the last step of each epoch
    validation_scores_ : with early stopping, losses of what was kept back
    """

    def __init__(self, model: Any = None, *, options: Mapping[str, Any] | None = None, epochs: int = 100, batch_size: int = 32,
                 shuffle: bool = True, warm_start: bool = False, early_stopping: bool = False, validation_fraction: float = 0.1,
                 n_iter_no_change: int = 10, tol: float = 1e-4, random_state: Any = None, callbacks: Any = None, verbose: Any = 0) -> None:
        self.model, self.options, self.epochs, self.batch_size, self.shuffle = model, options, epochs, batch_size, shuffle
        self.warm_start, self.early_stopping, self.validation_fraction = warm_start, early_stopping, validation_fraction
        self.n_iter_no_change, self.tol, self.random_state = n_iter_no_change, tol, random_state
        self.callbacks, self.verbose = callbacks, verbose

    # Parameters, options of the function among them

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters; with ``deep`` also the options of the function, as ``options__name``."""
        found: dict[str, Any] = super().get_params(deep=False)
        if deep:
            known = {n: v for n, v in options_of(self.model).items() if n not in self._decided()}
            known |= self.options if isinstance(self.options, Mapping) else {}
            found.update((f"options__{name}", value) for name, value in known.items())
        return found

    def set_params(self, **params: Any) -> Self:
        """Change parameters; ``options__name`` is an option of the function."""
        own = {name.removeprefix("options__"): value for name, value in params.items() if name.startswith("options__")}
        rest = {name: value for name, value in params.items() if not name.startswith("options__")}
        for name in rest:
            if name not in self.get_params(deep=False):
                raise ValueError(f"Invalid parameter {name!r} for estimator {self!r}. Valid parameters are: {sorted(self.get_params())!r}.")
        for name, value in rest.items():
            setattr(self, name, value)
        known = self.get_params()
        wrong = next((name for name in own if f"options__{name}" not in known), None)
        if wrong is not None:
            options = sorted(name for name in known if name.startswith("options__"))
            raise ValueError(f"Invalid parameter 'options__{wrong}' for estimator {self!r}: the model has the options {options!r}.")
        if own:
            self.options = {**(self.options or {}), **own}
        return self

    def _decided(self) -> Mapping[str, Any]:
        """Options of the small network that are not for users to choose."""
        return {"last": "softmax", "loss": "mcxent"}

    # Training

    def _start(self, n_in: int, n_out: int) -> Any:
        """The network to train: a new one, or the one from before."""
        if self.warm_start and hasattr(self, "network_"):
            return self.network_
        seed = int(check_random_state(self.random_state).randint(2 ** 31 - 1))
        self.n_iter_ = 0
        self.loss_curve_: list[float] = []
        given = {"n_in": n_in, "n_out": n_out, "seed": seed, **self._decided()}
        return network_for(self.model, self.options or {}, given)

    def _train(self, network: Any, x: Any, y: Any, weights: Any, epochs: int) -> None:
        """Some epochs, fewer with early stopping."""
        if epochs < 1 or self.batch_size < 1:
            raise ConfigurationError(f"epochs and batch_size must be at least 1; got {epochs} and {self.batch_size}")
        size = min(self.batch_size, len(x))
        options = {"batch_size": size, "shuffle": self.shuffle, "listeners": self.callbacks or (), "verbose": self.verbose}
        if not self.early_stopping:
            network.fit(x, y, epochs=epochs, sample_weight=weights, **options)
            self._note(network)
        else:
            self._until_no_change(network, x, y, weights, epochs, options)
        self.network_ = network

    def _note(self, network: Any) -> None:
        records = network.history
        self.loss_curve_ = [*self.loss_curve_, *(record.score for record in records)]
        self.n_iter_ += len(records)

    def _until_no_change(self, network: Any, x: Any, y: Any, weights: Any, epochs: int, options: Mapping[str, Any]) -> None:
        count = max(1, round(len(x) * self.validation_fraction))
        if count >= len(x):
            raise ConfigurationError(f"early stopping keeps back {count} of {len(x)} examples: nothing is left to train on")
        order = check_random_state(self.random_state).permutation(len(x))
        kept, used = order[:count], order[count:]
        best, best_params, since = np.inf, None, 0
        self.validation_scores_: list[float] = []
        for _ in range(epochs):
            network.fit(x[used], y[used], epochs=1, sample_weight=None if weights is None else weights[used], **options)
            self._note(network)
            loss = network.score(x[kept], y[kept])
            self.validation_scores_.append(loss)
            since = 0 if loss < best - self.tol else since + 1
            if loss < best:
                best, best_params = loss, network.params()
            if since >= self.n_iter_no_change:
                break
        if best_params is not None:
            network.set_params(best_params)

    def _output(self, x: Any) -> Any:
        """The outputs of the network for checked features."""
        check_is_fitted(self, "network_")
        found = self.network_.output(x)
        return found[0] if isinstance(found, list) else found
