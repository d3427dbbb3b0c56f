"""Encoders: networks that learn to give their input back, whose inner activations are the features of others."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from ...samediff.errors import ConfigurationError
from .estimator import NetworkEstimator


class DL4PyTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, NetworkEstimator):  # type: ignore[misc, unused-ignore]
    """A network trained to give its input back; what a layer of it computes is the result.

    Parameters
    ----------
    model : function, configuration or network, optional
        See :class:`~.estimator.NetworkEstimator`, as for all further parameters; ``n_out`` is the number of columns.
    layer : int or str
        The layer whose activations are the result, by place or name; the first by default.
    **parameters
        Those of all estimators.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.random.default_rng(0).normal(size=(20, 5))
    >>> coder = DL4PyTransformer(epochs=5, random_state=0, options={"hidden": (2,), "activation": "tanh"})
    >>> coder.fit_transform(x).shape, coder.get_feature_names_out().tolist()
    ((20, 2), ['dl4pytransformer0', 'dl4pytransformer1'])
    """

    def __init__(self, model: Any = None, *, layer: int | str = 0, options: Mapping[str, Any] | None = None, epochs: int = 100,
                 batch_size: int = 32, shuffle: bool = True, warm_start: bool = False, early_stopping: bool = False,
                 validation_fraction: float = 0.1, n_iter_no_change: int = 10, tol: float = 1e-4, random_state: Any = None,
                 callbacks: Any = None, verbose: Any = 0) -> None:
        super().__init__(model, options=options, epochs=epochs, batch_size=batch_size, shuffle=shuffle, warm_start=warm_start,
                         early_stopping=early_stopping, validation_fraction=validation_fraction, n_iter_no_change=n_iter_no_change, tol=tol,
                         random_state=random_state, callbacks=callbacks, verbose=verbose)
        self.layer = layer

    def fit(self, X: Any, y: Any = None) -> Self:
        """Train on features (examples, columns); ``y`` is not looked at."""
        X = validate_data(self, X)
        self._train(self._start(X.shape[1], X.shape[1]), X, X, None, self.epochs)
        self._width_ = self._activations(X[:1]).shape[1]
        return self

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Train for one epoch more."""
        first = not hasattr(self, "network_")
        X = validate_data(self, X, reset=first)
        self._train(self._start(X.shape[1], X.shape[1]) if first else self.network_, X, X, None, 1)
        self._width_ = self._activations(X[:1]).shape[1]
        return self

    def transform(self, X: Any) -> Any:
        """The activations of the layer."""
        check_is_fitted(self, "network_")
        return self._activations(validate_data(self, X, reset=False)).astype(np.float64)

    def _activations(self, x: Any) -> Any:
        key = self.network_.structure.key_of(self.layer)
        found = self.network_.feed_forward(x)
        made = found[key] if isinstance(found, dict) else found[int(key) + 1]
        if made.ndim != 2:
            raise ConfigurationError(f"layer {self.layer!r} gives shape {made.shape}; a transformer gives (examples, columns)")
        return made

    @property
    def _n_features_out(self) -> int:
        return int(self._width_)

    def _decided(self) -> Mapping[str, Any]:
        return {"last": "identity", "loss": "mse"}
