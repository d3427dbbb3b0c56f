"""Networks as classifiers and regressors of scikit-learn."""
from __future__ import annotations

import numbers
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, check_consistent_length, check_is_fitted, validate_data

from ...samediff.errors import ConfigurationError
from .estimator import NetworkEstimator


def _weights(sample_weight: Any, x: Any) -> Any:
    """One weight for each example; a number stands for all."""
    given = np.full(len(x), sample_weight) if isinstance(sample_weight, numbers.Real) else sample_weight
    checked = check_array(given, ensure_2d=False, dtype=np.float64, input_name="sample_weight")
    if checked.ndim != 1:
        raise ValueError(f"Sample weights must be 1D array or scalar; got shape {checked.shape}")
    check_consistent_length(x, checked)
    if not checked.any():
        raise ValueError("Sample weights must contain at least one non-zero number.")
    return checked


class DL4PyClassifier(ClassifierMixin, NetworkEstimator):  # type: ignore[misc, unused-ignore]
    """A network that classifies, as an estimator of scikit-learn.

    Its output is one probability for each class (softmax), or the probability of the second of two classes (sigmoid).

    Parameters
    ----------
    model : function, configuration or network, optional
        See :class:`~.estimator.NetworkEstimator`, as for all further parameters.
    class_weight : mapping, "balanced" or None
        Weights of the classes, by their labels.
    **parameters
        Those of all estimators.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([[0.0], [0.2], [0.8], [1.0]] * 8)
    >>> kinds = np.array(["low", "low", "high", "high"] * 8)
    >>> model = DL4PyClassifier(epochs=60, random_state=0, options={"hidden": (8,)}).fit(x, kinds)
    >>> model.predict([[0.1], [0.9]]).tolist()
    ['low', 'high']
    """

    def __init__(self, model: Any = None, *, options: Mapping[str, Any] | None = None, epochs: int = 100, batch_size: int = 32,
                 shuffle: bool = True, warm_start: bool = False, early_stopping: bool = False, validation_fraction: float = 0.1,
                 n_iter_no_change: int = 10, tol: float = 1e-4, class_weight: Any = None, random_state: Any = None, callbacks: Any = None,
                 verbose: Any = 0) -> None:
        super().__init__(model, options=options, epochs=epochs, batch_size=batch_size, shuffle=shuffle, warm_start=warm_start,
                         early_stopping=early_stopping, validation_fraction=validation_fraction, n_iter_no_change=n_iter_no_change, tol=tol,
                         random_state=random_state, callbacks=callbacks, verbose=verbose)
        self.class_weight = class_weight

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train on features (examples, columns) and labels of any kind."""
        X, y = validate_data(self, X, y)
        check_classification_targets(y)
        if not (self.warm_start and hasattr(self, "network_")):
            self.classes_ = np.unique(y)
        self._learn(X, y, sample_weight, self.epochs, self._start(X.shape[1], max(2, len(self.classes_))))
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Train for one epoch more; the first call names all classes, unless ``y`` has them."""
        first = not hasattr(self, "network_")
        X, y = validate_data(self, X, y, reset=first)
        check_classification_targets(y)
        if first:
            self.classes_ = np.unique(y if classes is None else classes)
        self._learn(X, y, sample_weight, 1, self._start(X.shape[1], max(2, len(self.classes_))) if first else self.network_)
        return self

    def _learn(self, x: Any, y: Any, sample_weight: Any, epochs: int, network: Any) -> None:
        unknown = np.setdiff1d(y, self.classes_)
        if unknown.size:
            raise ValueError(f"y has labels that were not among the first classes: {unknown[:5].tolist()}; classes: "
                             f"{self.classes_.tolist()}")
        weights = None if sample_weight is None else _weights(sample_weight, x)
        if self.class_weight is not None:
            of_class = compute_sample_weight(self.class_weight, y)
            weights = of_class if weights is None else weights * of_class
        self._train(network, x, np.searchsorted(self.classes_, y), weights, epochs)

    def predict_proba(self, X: Any) -> Any:
        """The probability of each class, in the order of ``classes_``."""
        check_is_fitted(self, "network_")
        found = self._output(validate_data(self, X, reset=False))
        if found.ndim == 2 and found.shape[1] == 1:
            found = np.concatenate([1 - found, found], axis=1)
        if found.ndim != 2 or found.shape[1] < len(self.classes_):
            raise ConfigurationError(f"a network for {len(self.classes_)} classes needs as many outputs; it gives shape {found.shape}")
        found = found[:, :len(self.classes_)].astype(np.float64)
        return found / found.sum(axis=1, keepdims=True)

    def predict(self, X: Any) -> Any:
        """The most probable class."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)] if hasattr(self, "classes_") else self.predict_proba(X)


class DL4PyRegressor(RegressorMixin, NetworkEstimator):  # type: ignore[misc, unused-ignore]
    """A network with numbers as outputs, as an estimator of scikit-learn.

    Parameters
    ----------
    model : function, configuration or network, optional
        See :class:`~.estimator.NetworkEstimator`, as for all further parameters.
    **parameters
        Those of all estimators.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(-1, 1, 40)[:, None]
    >>> model = DL4PyRegressor(epochs=150, random_state=0).fit(x, 2 * x[:, 0])
    >>> bool(abs(model.predict([[0.5]])[0] - 1) < 0.2)
    True
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train on features (examples, columns) and targets (examples,) or (examples, outputs)."""
        X, y = self._checked(X, y, True)
        self._learn(X, y, sample_weight, self.epochs, self._start(X.shape[1], 1 if y.ndim == 1 else y.shape[1]))
        return self

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train for one epoch more."""
        first = not hasattr(self, "network_")
        X, y = self._checked(X, y, first)
        self._learn(X, y, sample_weight, 1, self._start(X.shape[1], 1 if y.ndim == 1 else y.shape[1]) if first else self.network_)
        return self

    def _checked(self, x: Any, y: Any, first: bool) -> tuple[Any, Any]:
        x, y = validate_data(self, x, y, multi_output=True, y_numeric=True, reset=first)
        return x, y.astype(np.float64, copy=False)

    def _learn(self, x: Any, y: Any, sample_weight: Any, epochs: int, network: Any) -> None:
        weights = None if sample_weight is None else _weights(sample_weight, x)
        self._single_ = y.ndim == 1
        self._train(network, x, y.reshape(len(y), -1), weights, epochs)

    def _decided(self) -> Mapping[str, Any]:
        return {"last": "identity", "loss": "mse"}

    def predict(self, X: Any) -> Any:
        """The outputs of the network."""
        check_is_fitted(self, "network_")
        found = self._output(validate_data(self, X, reset=False)).astype(np.float64)
        return found[:, 0] if self._single_ and found.ndim == 2 and found.shape[1] == 1 else found

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
