"""Networks as estimators of scikit-learn.

::

    from sklearn.model_selection import GridSearchCV
    search = GridSearchCV(DL4PyClassifier(build, epochs=20), {"options__hidden": [8, 32], "batch_size": [16, 64]})
"""
from __future__ import annotations

from ...samediff.errors import MissingPackageError

try:
    import sklearn as _sklearn  # noqa: F401
except ImportError as error:
    raise MissingPackageError("estimators need scikit-learn 1.6 or later: pip install scikit-learn (or dl4py[sklearn])") from error

from .supervised import DL4PyClassifier, DL4PyRegressor
from .transformer import DL4PyTransformer

__all__ = ["DL4PyClassifier", "DL4PyRegressor", "DL4PyTransformer"]
