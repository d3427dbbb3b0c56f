"""What users of Keras, PyTorch and scikit-learn do without thinking, one row each: it works, or the error says what to do.

Forms of data, and options of ``fit``, are in ``tests/networks/batches/test_habits.py``; type checkers in ``tests/test_types.py``.
"""
from __future__ import annotations

import copy
import inspect
import io
import pickle
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dl4py
from dl4py.networks import MultiLayerNetwork
from dl4py.samediff import DataType, NumpyDataSetIterator, SameDiff
from dl4py.samediff.errors import DL4PyError
from dl4py.samediff.training import PerformanceListener
from tests.helpers.habits import C, Loader, X, Y, graph_network, list_network, single_network


def same(model: Any, other: Any) -> bool:
    return bool(np.array_equal(model.output(X), other.output(X)))


def trained(*data: Any, **options: Any) -> Any:
    net = list_network()
    net.fit(*data, **options)
    return net


def rate() -> float:
    listener = PerformanceListener(1)
    net = list_network()
    net.set_listeners(listener)
    net.fit(NumpyDataSetIterator(X, Y, 4), epochs=2)
    return listener.last_samples_per_sec


def threads() -> bool:
    net, found = list_network(), list[Any]()
    workers = [threading.Thread(target=lambda: found.append(net.output(X))) for _ in range(4)]
    for one in workers:
        one.start()
    for one in workers:
        one.join()
    return len(found) == 4 and all(np.array_equal(one, found[0]) for one in found)


def through_joblib() -> bool:
    joblib = pytest.importorskip("joblib")
    file = io.BytesIO()
    joblib.dump(list_network(), file)
    file.seek(0)
    return same(joblib.load(file), list_network())


def in_pipeline() -> bool:
    pytest.importorskip("sklearn")
    from sklearn.base import clone
    from sklearn.model_selection import cross_val_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from dl4py.networks.estimators import DL4PyClassifier
    pipeline = make_pipeline(StandardScaler(), DL4PyClassifier(list_network().configuration, epochs=1))
    return len(cross_val_score(clone(pipeline), X, C, cv=2)) == 2 and pipeline.fit(X, C).predict(X).shape == (12,)


def variable() -> Any:
    return SameDiff.create().placeholder("v", DataType.FLOAT, -1, 4)


#: What is done, and what is found: True where it works.
WORKS: dict[str, Callable[[], Any]] = {
    "small floats, other byte orders": lambda: trained(X.astype(np.float16), Y.astype(">f4")).output(X.astype(">f8")).shape == (12, 3),
    "class numbers": lambda: same(trained(X, C), trained(X, Y)),
    "class numbers in a column": lambda: same(trained(X, C[:, None]), trained(X, Y)),
    "0 and 1 for one output": lambda: single_network().fit(X, C > 0).output(X).shape == (12, 1),
    "a loader": lambda: same(trained(Loader()), trained(X, Y, batch_size=4)),
    "a list of pairs": lambda: same(trained(list(Loader())), trained(X, Y, batch_size=4)),
    "evaluate and score of arrays": lambda: list_network().evaluate(X, Y).accuracy() >= 0 and list_network().score(X, Y) > 0,
    "validation data, shuffle": lambda: trained(X, Y, epochs=2, validation_data=(X, Y), shuffle=True).history[-1].validation_score > 0,
    "weights": lambda: not same(trained(X, C, sample_weight=np.arange(12.0)), trained(X, C, class_weight={0: 2.0})),
    "callbacks": lambda: trained(X, Y, callbacks=[PerformanceListener(100)]).get_iteration_count() == 1,
    "pickle": lambda: all(same(pickle.loads(pickle.dumps(m())), m()) for m in (list_network, graph_network)),
    "deepcopy": lambda: all(same(copy.deepcopy(m()), m()) for m in (list_network, graph_network)),
    "a copy trains alone": lambda: (lambda net, other: not same(other.fit(X, Y), net))(*(lambda n: (n, copy.deepcopy(n)))(list_network())),
    "joblib": through_joblib,
    "scikit-learn": in_pipeline,
    "length": lambda: (len(list_network()), len(graph_network())) == (2, 2),
    "layers by number and name": lambda: (list_network()[0].n_out, list_network()[-1].n_out, graph_network()["y"].n_out) == (5, 3, 3),
    "iteration": lambda: [one.n_out for one in list_network()] == [one.n_out for one in list_network().layers] == [5, 3],
    "call": lambda: np.array_equal(list_network()(X), list_network().output(X)),
    "equal configurations": lambda: len({list_network().configuration, list_network().configuration}) == 1,
    "print": lambda: "2 layers" in repr(list_network()) and "<table" in list_network()._repr_html_(),
    "signature of fit": lambda: {"x", "y", "epochs", "batch_size", "verbose"} <= {*inspect.signature(MultiLayerNetwork.fit).parameters},
    "signature of an op": lambda: "x" in inspect.signature(SameDiff.create().nn.softmax).parameters,
    "help": lambda: "epochs" in inspect.getdoc(MultiLayerNetwork.fit),
    "completion": lambda: {"fit", "output", "summary"} <= {*dir(list_network())} and {"softmax", "relu"} <= {*dir(SameDiff.create().nn)},
    "completion in Java's spelling": lambda: {"numParams", "num_params"} <= {*dir(list_network())} and {"nOut", "n_out"} <= {
        *dir(dl4py.DenseLayer.Builder())} & {*dir(list_network()[0])},
    "completion of names": lambda: {"MultiLayerNetwork", "DenseLayer", "Adam"} <= {*dir(dl4py)},
    "threads": threads,
    "rate": lambda: rate() > 0,
    "functions of NumPy": lambda: (np.exp(variable()).op_name(), np.concatenate([variable()] * 1).shape) == ("exp", (None, 4)),
    "axis": lambda: variable().mean(axis=1, keepdims=True).shape == (None, 1) and variable().T.shape == (4, None),
    "slices with steps": lambda: variable()[:, ::2].shape == (None, 2),
}


@pytest.mark.parametrize("habit", WORKS)
def test_works(habit):
    assert WORKS[habit]()


#: What is misunderstood, and what the error says.
SAID: dict[str, tuple[Callable[[], Any], str]] = {
    "misspelt option": (lambda: list_network().fit(X, Y, epoch=2), "epochs"),
    "misspelt size": (lambda: list_network().fit(X, Y, batchsize=2), "batch_size"),
    "misspelt method": (lambda: list_network().ftt(X, Y), "ftt"),
    "misspelt class": (lambda: dl4py.MultiLayerNetwok, "MultiLayerNetwork"),
    "misspelt op": (lambda: SameDiff.create().nn.softmx, "softmax"),
    "misspelt activation": (lambda: dl4py.DenseLayer(n_out=2, activation="rleu"), "relu"),
    "misspelt option of a layer": (lambda: dl4py.DenseLayer(n_oot=2), "n_out"),
    "no batches": (lambda: list_network().fit([]), "empty"),
    "a function as listener": (lambda: list_network().set_listeners(lambda *args: None), "listener"),
    "NaN": (lambda: list_network().fit(np.full_like(X, np.nan), Y, check_finite=True), "NaN"),
    "truth of a variable": (lambda: bool(variable()), "eval"),
    "a changed variable": (lambda: variable().__setitem__(0, 1), "where"),
}


@pytest.mark.parametrize("habit", SAID)
def test_said(habit):
    act, said = SAID[habit]
    with pytest.raises(Exception, match=said):
        act()


def test_one_example_alone_is_told_how_to_be_given():
    for model in (list_network(), graph_network()):
        with pytest.raises(DL4PyError) as raised:
            model.predict(X[0])
        assert "x[None]" in "".join(raised.value.__notes__) and model.predict(X[:1]).shape == (1,)
