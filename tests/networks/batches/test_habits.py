"""Habits of Python's users, one row each: what they have as data trains and measures as arrays do, in networks and SameDiff."""
from __future__ import annotations

import array as buffers
import importlib
import re
import sys
import types
from typing import Any

import numpy as np
import pytest

from dl4py.networks import ParallelWrapper
from dl4py.samediff import DataSet, MultiDataSet, NumpyDataSetIterator
from dl4py.samediff.errors import ConfigurationError, DL4PyError, ShapeError
from dl4py.samediff.training import EvaluationRecord, ScoreIterationListener
from tests.helpers.habits import (
    MODELS,
    SINGLE,
    C,
    Capsule,
    Examples,
    InJava,
    InJavasSpelling,
    Loader,
    Pair,
    Record,
    Sequence,
    Tensors,
    Tracked,
    X,
    Y,
    parameters,
    samediff,
)


def library(name: str) -> Any:
    return pytest.importorskip(name)


def frame(kind: str | None = None, array: Any = X) -> Any:
    made = library("pandas").DataFrame(array, columns=[f"c{i}" for i in range(array.shape[1])])
    return made if kind is None else made.astype(kind)


def columns() -> dict[str, Any]:
    return {f"c{i}": X[:, i] for i in range(4)}


#: Features and labels that are the same as X and Y.
ARRAYS: dict[str, Any] = {
    "lists": lambda: (X.tolist(), Y.tolist()), "views of memory": lambda: (memoryview(X), memoryview(Y)),
    "class numbers, a buffer": lambda: (X, buffers.array("i", C.tolist())),
    "DLPack": lambda: (Capsule(X), Capsule(Y)),
    "a tensor with a history": lambda: (Tracked(X), Tracked(Y)),
    "other types": lambda: (X.astype(">f8"), Y.astype(bool)),
    "pandas": lambda: (frame(), frame(array=Y)),
    "pandas, nullable": lambda: (frame("Float32"), frame("Int64", Y)),
    "pandas, columns of several types": lambda: (frame().assign(c0=frame("Float32").c0), frame("boolean", Y.astype(bool))),
    "polars": lambda: (library("polars").DataFrame(columns()), library("polars").DataFrame(Y)),
    "pyarrow": lambda: (library("pyarrow").table(columns()), Y),
    "pyarrow, a batch": lambda: (library("pyarrow").record_batch(columns()), Y),
    "class numbers": lambda: (X, C),
    "class numbers, a list": lambda: (X, C.tolist()),
    "class numbers, fractional type": lambda: (X, C.astype(float)),
    "class numbers, a column": lambda: (X, C[:, None]),
    "class numbers, a table": lambda: (X, library("pandas").DataFrame({"kind": C})),
    "class numbers, a series": lambda: (frame(), library("pandas").Series(C, dtype="Int64")),
    "class numbers, polars": lambda: (X, library("polars").Series(C)),
    "class numbers, pyarrow": lambda: (X, library("pyarrow").array(C)),
    "class numbers, chunks": lambda: (X, library("pyarrow").chunked_array([C[:5], C[5:]])),
}

#: One batch of X and Y.
WHOLE: dict[str, Any] = {
    "data set": lambda: DataSet(X, Y), "data set of class numbers": lambda: DataSet(X, C), "multi data set": lambda: MultiDataSet([X], [Y]),
    "pair": lambda: (X, Y), "pair of lists": lambda: (X.tolist(), C.tolist()), "by name": lambda: {"x": X, "y": Y},
    "by part": lambda: {"features": X, "labels": Y}, "by name, class numbers": lambda: {"x": frame(), "y": C},
    "record": lambda: types.SimpleNamespace(x=X, y=Y), "named tuple": lambda: Pair(X, Y), "data class": lambda: Record(X, Y),
}

#: Three batches of four.
BATCHES: dict[str, Any] = {
    "iterator": lambda: NumpyDataSetIterator(X, Y, 4), "list of pairs": lambda: list(Loader()), "list of data sets":
        lambda: DataSet(X, Y).batch_by(4), "loader": Loader, "loader of lists of two": lambda: Loader(lambda x, y: [x, y]),
    "loader of data sets": lambda: Loader(DataSet), "loader of class numbers": lambda: Loader(lambda x, y: (x, y.argmax(1))),
    "loader of lists": lambda: Loader(lambda x, y: (x.tolist(), y.tolist())), "loader of tensors": lambda: Loader(
        lambda x, y: (Capsule(x), Capsule(y))), "loader of tuples": lambda: Loader(lambda x, y: ((x,), (y,))),
    "loader by name": lambda: Loader(lambda x, y: {"x": x, "y": y}), "loader by part": lambda: Loader(
        lambda x, y: {"features": x, "labels": y}), "loader with a name of its own": lambda: Loader(lambda x, y: {"pixels": x, "label": y}),
    "loader of names in a tuple": lambda: Loader(lambda x, y: ({"x": x}, y) if len(x) else None),
    "progress bar": lambda: library("tqdm").tqdm(list(Loader()), disable=True), "generator": lambda: iter(Loader()),
    "function of a generator": lambda: lambda: iter(Loader()), "numbered batches": Sequence,
    "has_next and next": InJava, "hasNext and next": InJavasSpelling,
    "list of records": lambda: [types.SimpleNamespace(x=x, y=y) for x, y in Loader()],
    "list of data classes": lambda: [Record(x, y) for x, y in Loader()], "named tuples": lambda: [Pair(x, y) for x, y in Loader()],
    "as_numpy_iterator": Tensors, "as_numpy_iterator by name": lambda: Tensors(lambda x, y: {"x": x, "y": y}),
}
ONCE = {"generator"}

#: Single examples, put together in fours.
EXAMPLES: dict[str, Any] = {
    "numbered": Examples, "by name": lambda: Examples(lambda x, y: {"x": x, "y": y}), "with a class": lambda: Examples(
        lambda x, y: (x, int(y.argmax()))), "of lists": lambda: Examples(lambda x, y: (x.tolist(), y.tolist())),
    "generator": lambda: iter(Examples()), "list": lambda: list(Examples()), "function": lambda: lambda: iter(Examples()),
}


@pytest.fixture(params=MODELS)
def model(request):
    return MODELS[request.param]()


def kind_of(model: Any) -> str:
    return {"MultiLayerNetwork": "list", "ComputationGraph": "graph", "SameDiff": "samediff"}[type(model).__name__]


def outputs(model: Any, *data: Any, **options: Any) -> Any:
    found = model.output(*data, **options)
    return np.ravel(found["p"] if isinstance(found, dict) else found)


def accuracy(model: Any, *data: Any, **options: Any) -> float:
    found = model.evaluate(*data, **options)
    return (found.evaluation() if isinstance(found, EvaluationRecord) else found).accuracy()


@pytest.mark.sampled(63)
@pytest.mark.parametrize("form", ARRAYS)
def test_arrays(model, form):
    wanted, (x, y) = MODELS[kind_of(model)](), ARRAYS[form]()
    wanted.fit(X, Y)
    model.fit(x, y)
    np.testing.assert_array_equal(parameters(model), parameters(wanted))
    np.testing.assert_array_equal(outputs(model, x), outputs(wanted, X))
    np.testing.assert_array_equal(model.predict(x), wanted.predict(X))
    assert model.score(x, y) == wanted.score(X, Y) and accuracy(model, x, y) == accuracy(wanted, X, Y)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("form", WHOLE)
def test_one_batch(model, form):
    wanted = MODELS[kind_of(model)]()
    wanted.fit(X, Y)
    model.fit(WHOLE[form]())
    np.testing.assert_array_equal(parameters(model), parameters(wanted))
    assert model.score(WHOLE[form]()) == wanted.score(X, Y)
    np.testing.assert_array_equal(outputs(model, WHOLE[form]()), outputs(wanted, X))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("form", BATCHES)
def test_batches(model, form):
    if form == "loader of names in a tuple" and kind_of(model) == "list":
        pytest.skip("the input of a list has no name")
    wanted, epochs = MODELS[kind_of(model)](), 1 if form in ONCE else 2
    wanted.fit(DataSet(X, Y).batch_by(4), epochs=epochs)
    model.fit(BATCHES[form](), epochs=epochs)
    np.testing.assert_array_equal(parameters(model), parameters(wanted))
    np.testing.assert_allclose(outputs(model, BATCHES[form]()), outputs(wanted, X), 1e-6)
    assert accuracy(model, BATCHES[form]()) == accuracy(wanted, X, Y)
    assert model.score(BATCHES[form]()) == pytest.approx(wanted.score(X, Y), 1e-6)
    np.testing.assert_array_equal(model.predict(BATCHES[form]()), wanted.predict(X))


@pytest.mark.parametrize("form", EXAMPLES)
def test_examples(model, form):
    wanted = MODELS[kind_of(model)]()
    wanted.fit(X, Y, batch_size=4, epochs=1)
    model.fit(EXAMPLES[form](), batch_size=4, epochs=1)
    np.testing.assert_array_equal(parameters(model), parameters(wanted))


def test_shuffled_examples_come_as_shuffled_rows(model):
    wanted = MODELS[kind_of(model)]()
    wanted.fit(X, Y, batch_size=4, epochs=2, shuffle=True)
    model.fit(Examples(), batch_size=4, epochs=2, shuffle=True)
    np.testing.assert_array_equal(parameters(model), parameters(wanted))
    plain = MODELS[kind_of(model)]()
    plain.fit(X, Y, batch_size=4, epochs=2)
    assert not np.array_equal(parameters(model), parameters(plain))


@pytest.mark.parametrize("size", [1, 5, 12, 50])
def test_outputs_in_pieces(size):
    for make in MODELS.values():
        net = make()
        wanted = outputs(net, X)
        for data in (X, frame(), {"x": X}, DataSet(X, Y), Examples(), Examples(lambda x, y: x)):
            np.testing.assert_allclose(outputs(net, data, batch_size=size), wanted, 1e-6)
        assert len(net.predict(X, batch_size=size)) == 12
        assert net.score(X, Y, batch_size=size) == pytest.approx(net.score(X, Y), 1e-6)
        assert accuracy(net, X, Y, batch_size=size) == accuracy(net, X, Y)


def test_workers_take_any_batches():
    net, wanted = MODELS["list"](), MODELS["list"]()
    ParallelWrapper(net, workers=1).fit(Loader(lambda x, y: {"x": x, "y": y.argmax(1)}))
    wanted.fit(Loader())
    np.testing.assert_array_equal(net.params(), wanted.params())


# Options

def test_validation(model):
    if kind_of(model) == "samediff":
        assert model.fit(X, Y, epochs=2, validation_data=(X, C)) is not None
        return
    for data in ((X, Y), DataSet(X, Y), Loader(), (frame(), C), lambda: iter(Loader())):
        records = model.fit(X, Y, epochs=3, batch_size=4, validation_data=data, validation_frequency=2).history
        assert [r.validation_score is None for r in records] == [False, True, False] and [r.score > 0 for r in records] == [True] * 3
        assert records[-1].validation_score == pytest.approx(model.score(X, Y), 1e-6)
    assert model.fit(X, Y, validation_data=(X, Y)).history[0].validation_score == model.score(X, Y)


def test_progress_is_one_line_an_epoch_unless_asked_for_nothing(model, capsys):
    model.fit(X, Y, epochs=2)
    assert capsys.readouterr() == ("", "")
    model.fit(X, Y, epochs=2, verbose=1, **({} if kind_of(model) == "samediff" else {"validation_data": (X, Y)}))
    shown = "".join(capsys.readouterr()).splitlines()
    assert len(shown) == 2 and shown[1].startswith("epoch 2/2: ") and ("validation score" in shown[1]) == (kind_of(model) != "samediff")


def test_progress_is_a_bar_on_a_terminal(model, monkeypatch, capsys):
    library("tqdm")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    seen: list[Any] = []

    def bar(batches: Any, title: str, *args: Any, **options: Any) -> Any:
        seen.append((title, args))
        return batches
    monkeypatch.setitem(sys.modules, "tqdm", types.SimpleNamespace(tqdm=bar, __spec__=importlib.machinery.ModuleSpec("tqdm", None)))
    model.fit(list(Loader()), epochs=2, verbose=True)
    assert [title for title, _ in seen] == ["epoch 1/2", "epoch 2/2"] and seen[0][1][0] == 3


def test_callbacks_are_listeners(model, capsys):
    model.fit(X, Y, callbacks=[ScoreIterationListener(1)])
    assert "iteration 0" in "".join(capsys.readouterr())
    model.fit(X, Y, callbacks=None, listeners=None)
    with pytest.raises(ConfigurationError, match="One's own derives from BaseTrainingListener"):
        model.fit(X, Y, callbacks=[print])


def test_scores_that_are_no_numbers_are_told_once(model):
    with pytest.warns(UserWarning, match="score of epoch 1 is nan.*check_finite=True") as told:
        model.fit(np.full_like(X, np.nan), Y, epochs=3)
    assert len(told) == 1 and told[0].filename == __file__


def test_empty_batches_are_refused(model):
    with pytest.raises(ShapeError, match="(?s)without examples cannot be fitted.*in batch 1 of the data"):
        model.fit([(X, Y), (X[:0], Y[:0])])


def test_balanced_classes_and_batches_with_class_weights():
    for make in MODELS.values():
        net, wanted = make(), make()
        net.fit(X[:8], C[:8], class_weight="balanced")
        wanted.fit(X[:8], C[:8], class_weight={0: 8 / 9, 1: 8 / 9, 2: 8 / 6})
        np.testing.assert_allclose(parameters(net), parameters(wanted), 1e-6)
        net, wanted = make(), make()
        net.fit(Loader(), class_weight={0: 2.0}, epochs=2)
        wanted.fit(X, Y, batch_size=4, class_weight={0: 2.0}, epochs=2)
        np.testing.assert_array_equal(parameters(net), parameters(wanted))


WEIGHTS = np.linspace(0.5, 2, 12, dtype=np.float32)
#: The same weights of examples.
WEIGHED: dict[str, Any] = {
    "an option": lambda model: model.fit(X, Y, sample_weight=WEIGHTS),
    "a list": lambda model: model.fit(X, C, sample_weight=WEIGHTS.tolist()),
    "a series": lambda model: model.fit(DataSet(X, Y), sample_weight=library("pandas").Series(WEIGHTS)),
    "third in a batch": lambda model: model.fit((X, Y, WEIGHTS)), "third in a list": lambda model: model.fit([(X, Y, WEIGHTS)], epochs=1),
    "by name": lambda model: model.fit({"features": X, "labels": Y, "sample_weight": WEIGHTS}),
    "masks of labels": lambda model: model.fit(DataSet(X, Y, None, WEIGHTS[:, None])),
}


@pytest.mark.parametrize("form", WEIGHED)
def test_weights_of_examples(model, form):
    wanted, plain = MODELS[kind_of(model)](), MODELS[kind_of(model)]()
    wanted.fit(X, Y, sample_weight=WEIGHTS)
    plain.fit(X, Y)
    WEIGHED[form](model)
    np.testing.assert_array_equal(parameters(model), parameters(wanted))
    assert not np.array_equal(parameters(model), parameters(plain))


def test_weights_of_one_change_nothing(model):
    wanted = samediff(weights=False) if kind_of(model) == "samediff" else MODELS[kind_of(model)]()
    wanted.fit(X, Y)
    model.fit(X, Y, sample_weight=np.ones(12))
    np.testing.assert_allclose(parameters(model), parameters(wanted), 1e-6)


def test_the_last_rows_validate(model):
    wanted = MODELS[kind_of(model)]()
    wanted.fit(X[:9], Y[:9], epochs=2)
    model.fit(X, C, epochs=2, validation_split=0.25)
    np.testing.assert_array_equal(parameters(model), parameters(wanted))
    if kind_of(model) != "samediff":
        assert model.history[-1].validation_score == pytest.approx(wanted.score(X[9:], Y[9:]), 1e-6)


#: Features and labels by the names that other libraries have for them.
NAMED = [{"x": X, "y": Y}, {"features": X, "labels": Y}, {"inputs": X, "labels": Y}, {"data": (X, Y)}, {"data": Loader()}]


@pytest.mark.parametrize("names", NAMED, ids=lambda names: ",".join(names))
def test_arguments_by_name(model, names):
    wanted, data = MODELS[kind_of(model)](), Loader() if isinstance(names.get("data"), Loader) else (X, Y)
    wanted.fit(data, epochs=1)
    model.fit(**names, epochs=1)
    np.testing.assert_array_equal(parameters(model), parameters(wanted))
    assert accuracy(model, **names) == accuracy(wanted, X, Y) and model.score(**names) == pytest.approx(wanted.score(X, Y), 1e-6)
    first = {name: value for name, value in names.items() if name not in ("y", "labels")}
    np.testing.assert_allclose(outputs(model, **first), outputs(wanted, X), 1e-6)
    np.testing.assert_array_equal(model.predict(**first, verbose=0), wanted.predict(X))


@pytest.mark.parametrize("call", ["fit", "evaluate", "score", "predict", "output"])
def test_unknown_options_name_the_known_ones(model, call):
    args = (X,) if call in ("predict", "output") else (X, Y)
    with pytest.raises(DL4PyError, match=f"(?s){call} has no option 'batchsize'; did you mean 'batch_size'.*batch_size"):
        getattr(model, call)(*args, batchsize=3)


def test_one_output_takes_0_and_1_in_any_form():
    truth = C == 0
    forms = [truth, truth.astype(int), truth.astype(float), truth.tolist(), truth[:, None], library("pyarrow").array(truth),
             library("pandas").Series(truth, dtype="boolean"), library("polars").Series(truth)]
    for kind in SINGLE:
        wanted = SINGLE[kind]()
        wanted.fit(X, truth[:, None].astype(np.float32))
        for y in forms:
            model = SINGLE[kind]()
            model.fit(X, y)
            np.testing.assert_array_equal(parameters(model), parameters(wanted))
            assert accuracy(model, X, y) == accuracy(wanted, X, truth) and model.score(X, y) == wanted.score(X, truth)
            np.testing.assert_array_equal(model.predict(X), wanted.predict(X))


def test_the_last_score(model):
    model.fit(X, Y, epochs=2)
    assert 0 < model.score() < 2 and model.score() > model.score(X, Y)


def test_single_numbers_that_are_no_probabilities_are_no_classes():
    sd = SINGLE["samediff"]()
    with pytest.raises(DL4PyError, match="not a probability"):
        sd.predict({"x": X}, "z")
    with pytest.raises(DL4PyError, match="predict needs data"):
        sd.predict()


# Refusals: the text, and what stands in notes behind it

def gap(at: int = 3) -> Any:
    made = frame("Float64")
    made.iloc[at, 2] = None
    return made


REFUSED: dict[str, tuple[Any, dict[str, Any], str]] = {
    "missing, pandas": ((gap,), {}, "column 'c2' has none in row 3, and 1 of 12"),
    "NaN, pandas": ((lambda: frame().assign(c1=[1.0] * 4 + [np.nan] * 8),), {}, r"column 'c1' has none in row 4.*to_numpy\(\)"),
    "missing in lists, polars": ((lambda: library("polars").Series([[1.0, 2.0], [None, 3.0]], dtype=library("polars").Array(
        library("polars").Float64, 2)),), {}, "the column has none in row 1"),
    "missing in lists of columns": ((lambda: [library("polars").Series([1.0, None])] * 3,), {}, "the column has none in row 1"),
    "missing, polars": (
        (lambda: library("polars").DataFrame({**columns(), "c1": [None, *X[1:, 1]]}),), {}, "column 'c1' has none in row 0"),
    "missing, pyarrow": (
        (lambda: library("pyarrow").table({**columns(), "c3": [*X[:11, 3], None]}),), {}, "column 'c3' has none in row 11"),
    "text column": ((lambda: frame().assign(c1=[1.0] * 5 + ["u"] * 7),), {}, "column 'c1' holds text.*'u' in row 5"),
    "dates": ((lambda: frame().assign(c1=np.datetime64("2020-01-01")),), {}, "column 'c1' holds dates"),
    "text labels": ((lambda: X, lambda: np.array(["a", "b", "c"] * 4)), {}, "np.unique"),
    "a class too many": ((lambda: X, lambda: [*C[:7], 3, *C[8:]]), {}, r"0 … 2; got 3 in row 7"),
    "half a class": ((lambda: X, lambda: [*C[:4], 0.5, *C[5:]]), {}, "got 0.5 in row 4"),
    "weights of a loader": ((lambda: Loader()), {"sample_weight": np.ones(12)}, "sample_weight is for the rows"),
    "too few weights": ((lambda: Loader(lambda x, y: (x, y, np.ones(3)))), {}, "(?s)one number for each of 4 examples.*in batch 0"),
    "negative weights": ((lambda: X, lambda: Y), {"sample_weight": -np.ones(12)}, "from 0 on"),
    "a share of all": ((lambda: X, lambda: Y), {"validation_split": 1.0}, "between 0 and 1"),
    "a share of a loader": ((lambda: Loader()), {"validation_split": 0.5}, "validation_split is for"),
    "text in a list": ((lambda: [[1.0, 2.0, 3.0, "u"], [1.0] * 4], lambda: Y[:2]), {}, r"'u' at \[0, 3\]"),
    "none in a list": ((lambda: [[1.0, 2.0, 3.0, 4.0], [None, 1.0, 1.0, 1.0]], lambda: Y[:2]), {}, r"None at \[1, 0\]"),
    "rows of two lengths": ((lambda: [[1.0, 2.0], [1.0]], lambda: Y[:2]), {}, "row 0 has 2 values, row 1 has 1"),
    "not computed yet": ((lambda: library("polars").DataFrame(columns()).lazy(), lambda: Y), {}, "collect|LazyFrame"),
    "examples without batch_size": ((lambda: Examples(lambda x, y: (x, int(y.argmax())))), {}, "batch_size"),
    "named as elsewhere": ((lambda: X, lambda: Y), {"steps_per_epoch": 2}, "EarlyTerminationDataSetIterator"),
    "second batch, shape": ((lambda: [(X, Y), (X[:, :3], Y)]), {}, "(?s)3.*in batch 1 of the data"),
    "second batch, form": ((lambda: [(X, Y), (X, "no")]), {}, r"(?s)a tuple of 2 \(ndarray, str\).*in batch 1 of the data"),
    "second batch, class": ((lambda: [(X, Y), (X, [*C[:7], 3, *C[8:]])]), {}, "(?s)in row 7.*in batch 1 of the data"),
    "third batch, gap": ((lambda: [(X, Y), (X, Y), (gap(), Y)]), {}, "(?s)column 'c2'.*in batch 2 of the data"),
    "unknown name": ((lambda: {"x": X, "y": Y, "zz": X}), {}, "'zz'"),
    "no input": ((lambda: {"y": Y}), {}, "no input|no value|maps 1 feature"),
    "uneven examples": ((lambda: Examples(lambda x, y: (x[: 4 if y[0] else 3], y))), {"batch_size": 4}, "different shapes.*in row 1"),
    "epochs of a generator": ((lambda: iter(Loader())), {"epochs": 2}, "can be read once"),
    "a function without batches": ((lambda: lambda: 3), {}, "must return batches"),
    "shuffled batches": ((lambda: Loader()), {"shuffle": True}, "decides on its batches itself"),
    "shuffled generator": ((lambda: iter(Examples())), {"shuffle": True, "batch_size": 4}, "numbered"),
    "size of batches of a loader": ((lambda: NumpyDataSetIterator(X, Y, 4)), {"batch_size": 2}, "decides on its batches itself"),
    "misspelt": ((lambda: X, lambda: Y), {"epoch": 2}, "did you mean 'epochs'"),
    "a path": ((lambda: "file.csv", lambda: Y), {}, "file.csv|str"),
    "a sparse matrix": ((lambda: library("scipy.sparse").csr_matrix(X), lambda: Y), {}, "toarray"),
    "a class": ((lambda: Loader, lambda: Y), {}, "type|objects such as"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_with_the_reason(model, case):
    given, options, said = REFUSED[case]
    args = [make() for make in (given if isinstance(given, tuple) else (given,))]
    args = [args[0], Y] if isinstance(given, tuple) and len(args) == 1 else args
    before = parameters(model)
    with pytest.raises(DL4PyError) as error:
        model.fit(*args, **options)
    text = "\n".join([str(error.value), *getattr(error.value, "__notes__", ())])
    assert re.search(said, text), text
    if "batch" not in case:
        np.testing.assert_array_equal(parameters(model), before)


def test_graphs_without_a_place_for_weights_say_what_is_missing():
    for option in ({"sample_weight": np.ones(12)}, {"class_weight": {0: 1.0}}):
        with pytest.raises(DL4PyError, match="data_set_label_mask_mapping"):
            samediff(weights=False).fit(X, Y, **option)
