"""Networks as estimators of scikit-learn: its own checks, and what its users do with estimators."""
from __future__ import annotations

import pickle
import warnings
from typing import Any

import numpy as np
import pytest

from dl4py.layers import DenseLayer, OutputLayer
from dl4py.networks import ComputationGraph, MultiLayerNetwork, NeuralNetConfiguration
from dl4py.samediff.errors import DL4PyError
from dl4py.samediff.training import Adam

sklearn = pytest.importorskip("sklearn", "1.6")

from sklearn.base import clone  # noqa: E402
from sklearn.calibration import CalibratedClassifierCV  # noqa: E402
from sklearn.model_selection import GridSearchCV, cross_val_score  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402
from sklearn.utils.estimator_checks import check_estimator  # noqa: E402

from dl4py.networks.estimators import DL4PyClassifier, DL4PyRegressor, DL4PyTransformer  # noqa: E402

#: Checks that fail, and why.
EXCEPTIONS = {"check_sample_weight_equivalence_on_dense_data":
              "an example of weight 0 is still one of its batch, so that batches differ from those without it"}
RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
KIND = np.array(["b", "a", "c"])[np.argmax(X, axis=1)]
TARGET = X @ [1.0, -2.0, 0.5]


def build(n_in: int, n_out: int, seed: int, hidden: int = 8, rate: float = 0.05) -> Any:
    return NeuralNetConfiguration.Builder().seed(seed).updater(Adam(rate)).list(
        DenseLayer(n_in=n_in, n_out=hidden, activation="tanh"), OutputLayer(n_in=hidden, n_out=n_out)).build()


@pytest.mark.slow
@pytest.mark.parametrize("kind", [DL4PyClassifier, DL4PyRegressor, DL4PyTransformer])
def test_checks_of_scikit_learn(kind):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = check_estimator(kind(), expected_failed_checks=EXCEPTIONS, on_fail=None, on_skip=None)
    failed = {one["check_name"]: one["exception"] for one in found if one["status"] == "failed"}
    assert not failed and len(found) > 40


def test_models_of_every_kind():
    conf = build(3, 3, 1)
    graph = MultiLayerNetwork(conf).to_computation_graph()
    for model in (build, conf, MultiLayerNetwork(conf), graph, graph.get_configuration(), lambda n_in, n_out: ComputationGraph(
            graph.get_configuration()), None):
        made = DL4PyClassifier(model, epochs=30, random_state=1).fit(X, KIND)
        assert made.score(X, KIND) > 0.8 and made.predict_proba(X).shape == (60, 3) and made.n_iter_ == len(made.loss_curve_) == 30
        np.testing.assert_allclose(made.predict_proba(X).sum(axis=1), 1)
        again = clone(made)
        assert not hasattr(again, "network_") and type(again.model) is type(model)
    assert not np.array_equal(MultiLayerNetwork(conf).params(), made.network_.params())


def test_a_network_stays_as_it_was():
    net = MultiLayerNetwork(build(3, 3, 1)).init()
    before = net.params()
    made = DL4PyClassifier(net, epochs=2).fit(X, KIND)
    assert np.array_equal(net.params(), before) and not np.array_equal(made.network_.params(), before)


def test_one_output_for_two_classes():
    def sigmoid(n_in: int) -> Any:
        return NeuralNetConfiguration.Builder().seed(1).updater(Adam(0.1)).list(
            OutputLayer(n_in=n_in, n_out=1, activation="sigmoid", loss_function="xent")).build()
    made = DL4PyClassifier(sigmoid, epochs=60).fit(X, X[:, 0] > 0)
    assert made.score(X, X[:, 0] > 0) > 0.9 and made.predict(X).dtype == bool and made.predict_proba(X).shape == (60, 2)


def test_grids_over_options_of_the_function():
    search = GridSearchCV(DL4PyClassifier(build, epochs=10, random_state=0), {"options__hidden": [2, 8], "options__rate": [0.05],
                                                                              "batch_size": [20]}, cv=2).fit(X, KIND)
    assert set(search.best_params_) == {"options__hidden", "options__rate", "batch_size"}
    assert search.best_estimator_.network_.layers[0].n_out == search.best_params_["options__hidden"]
    model = DL4PyClassifier(build)
    assert model.get_params()["options__hidden"] == 8 and model.set_params(options__hidden=3).get_params()["options__hidden"] == 3
    assert clone(model).options == {"hidden": 3}
    with pytest.raises(ValueError, match="options__hiden"):
        model.set_params(options__hiden=3)
    with pytest.raises(ValueError, match="epocs"):
        model.set_params(epocs=3)
    with pytest.raises(DL4PyError, match="did you mean 'hidden'"):
        DL4PyClassifier(build, options={"hiden": 3}).fit(X, KIND)


def test_pipelines_scores_and_calibration():
    pipe = make_pipeline(StandardScaler(), DL4PyClassifier(build, epochs=30, random_state=0))
    assert cross_val_score(pipe, X, KIND, cv=3).mean() > 0.7
    assert CalibratedClassifierCV(pipe, cv=2).fit(X, KIND).predict_proba(X).shape == (60, 3)
    coder = make_pipeline(DL4PyTransformer(epochs=5, random_state=0, options={"hidden": (2,)}), DL4PyRegressor(epochs=5, random_state=0))
    assert coder.fit(X, TARGET).predict(X).shape == (60,)


def test_regression_of_one_and_of_several_targets():
    assert DL4PyRegressor(epochs=150, random_state=0).fit(X, TARGET).score(X, TARGET) > 0.9
    several = DL4PyRegressor(epochs=150, random_state=0).fit(X, np.stack([TARGET, -TARGET], axis=1))
    assert several.predict(X).shape == (60, 2) and several.score(X, np.stack([TARGET, -TARGET], axis=1)) > 0.9


def test_training_goes_on():
    one = DL4PyClassifier(build, epochs=4, shuffle=False, random_state=3).fit(X, KIND)
    two = DL4PyClassifier(build, epochs=2, shuffle=False, random_state=3, warm_start=True).fit(X, KIND).fit(X, KIND)
    part = DL4PyClassifier(build, shuffle=False, random_state=3)
    for _ in range(4):
        part.partial_fit(X, KIND, classes=["a", "b", "c"])
    np.testing.assert_array_equal(one.network_.params(), two.network_.params())
    np.testing.assert_array_equal(one.network_.params(), part.network_.params())
    assert one.n_iter_ == two.n_iter_ == part.n_iter_ == 4
    with pytest.raises(ValueError, match="not among the first classes"):
        part.partial_fit(X[:2], ["a", "d"])


def test_early_stopping_keeps_the_best():
    made = DL4PyClassifier(build, epochs=400, early_stopping=True, validation_fraction=0.3, n_iter_no_change=3, tol=0.01,
                           random_state=0).fit(X, KIND)
    assert made.n_iter_ < 400 and len(made.validation_scores_) == made.n_iter_
    with pytest.raises(DL4PyError, match="nothing is left to train on"):
        DL4PyClassifier(build, early_stopping=True, validation_fraction=1.0).fit(X, KIND)


def test_weights_of_classes_and_copies():
    heavy = DL4PyClassifier(build, epochs=30, random_state=0, class_weight={"a": 20, "b": 1, "c": 1}).fit(X, KIND)
    plain = DL4PyClassifier(build, epochs=30, random_state=0).fit(X, KIND)
    assert heavy.predict_proba(X)[:, 0].mean() > plain.predict_proba(X)[:, 0].mean()
    assert DL4PyClassifier(build, epochs=3, class_weight="balanced", random_state=0).fit(X, KIND).network_ is not None
    again = pickle.loads(pickle.dumps(DL4PyClassifier(build, epochs=3, random_state=0).fit(X, KIND)))
    assert again.predict(X).shape == (60,)


def test_encoders_give_a_layer():
    coder = DL4PyTransformer(epochs=3, random_state=0, options={"hidden": (4, 2)}, layer=1).fit(X)
    assert coder.transform(X).shape == (60, 2) and list(coder.get_feature_names_out()) == ["dl4pytransformer0", "dl4pytransformer1"]
    assert coder.partial_fit(X).n_iter_ == 4
    with pytest.raises(DL4PyError, match="did you mean|no layer|layer"):
        DL4PyTransformer(epochs=1, layer="code").fit(X)


def test_what_is_no_model():
    for model, said in (("network", "a model is"), (lambda n_in: 3, "got int")):
        with pytest.raises(DL4PyError, match=said):
            DL4PyClassifier(model).fit(X, KIND)
    with pytest.raises(DL4PyError, match="options are for a function"):
        DL4PyClassifier(build(3, 3, 1), options={"hidden": 3}).fit(X, KIND)
    made = DL4PyClassifier(build(3, 3, 1), epochs=1).fit(X, KIND)
    made.classes_ = np.arange(5)
    with pytest.raises(DL4PyError, match="needs as many outputs"):
        made.predict(X)
