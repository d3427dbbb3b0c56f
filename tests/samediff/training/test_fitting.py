"""Training of graphs: steps, counters, history, listeners, updater state, errors."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.data import DataSet, ExistingDataSetIterator, MultiDataSet
from dl4py.samediff.errors import ConfigurationError, DL4PyError, NumericalError, ShapeError, UnknownNameError
from dl4py.samediff.evaluation import RegressionEvaluation
from dl4py.samediff.training import Adam, Listener, ListenerResponse, ListenerVariables, Nesterovs, Operation, Sgd, TrainingConfig

RNG = np.random.default_rng(7)
X, Y = RNG.normal(size=(12, 3)).astype(np.float32), RNG.normal(size=(12, 2)).astype(np.float32)
BATCHES = [DataSet(X[i:i + 4], Y[i:i + 4]) for i in (0, 4, 8)]


def config(updater=None, **options):
    return TrainingConfig(updater or Sgd(0.1), data_set_feature_mapping="x", data_set_label_mapping="y", **options)


def linear(updater=None, dtype=DataType.FLOAT, **options):
    """z = x w + b with the mean squared error of 12 rows: its gradients are known."""
    sd = SameDiff.create()
    x, y = sd.placeholder("x", dtype, -1, 3), sd.placeholder("y", dtype, -1, 2)
    w = sd.var("w", np.full((3, 2), 0.5, dtype.numpy))
    b = sd.var("b", np.zeros(2, dtype.numpy))
    d = x.mmul(w).add("z", b) - y
    (d * d).mean("loss")
    sd.set_loss_variables("loss")
    sd.set_training_config(config(updater, **options))
    return sd


def gradient(w, b, x=X, y=Y):
    d = 2 * (x @ w + b - y) / y.size
    return x.T @ d, d.sum(0)


def test_one_step_is_gradient_descent():
    sd = linear()
    w, b = sd.get_variable("w").get_arr().copy(), sd.get_variable("b").get_arr().copy()
    history = sd.fit(DataSet(X, Y))
    gw, gb = gradient(w, b)
    np.testing.assert_allclose(sd.get_variable("w").get_arr(), w - 0.1 * gw, rtol=1e-5)
    np.testing.assert_allclose(sd.get_variable("b").get_arr(), b - 0.1 * gb, rtol=1e-4, atol=1e-7)
    np.testing.assert_allclose(history.loss_curve().last_mean_loss("loss"), ((X @ w + b - Y) ** 2).mean(), rtol=1e-5)
    assert (sd.get_training_config().iteration_count, sd.get_training_config().epoch_count) == (1, 0)


FORMS = {
    "data set": lambda: DataSet(X, Y), "multi data set": lambda: MultiDataSet([X], [Y]), "dictionary": lambda: {"x": X, "y": Y},
    "pair": lambda: (X, Y), "list": lambda: [DataSet(X, Y)], "list of pairs": lambda: [(X, Y)],
    "iterator": lambda: ExistingDataSetIterator([DataSet(X, Y)]), "generator": lambda: (d for d in [DataSet(X, Y)]),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_data_gives_the_same_step(form):
    plain, sd = linear(), linear()
    plain.fit(X, Y)
    sd.fit(FORMS[form]())
    np.testing.assert_array_equal(sd.get_variable("w").get_arr(), plain.get_variable("w").get_arr())


def test_epochs_counters_and_loss_curve():
    sd = linear()
    history = sd.fit(BATCHES, 4)
    counters = sd.get_training_config()
    assert (counters.iteration_count, counters.epoch_count, history.training_epochs()) == (12, 4, 4)
    curve = history.loss_curve().mean_loss("loss")
    assert curve.shape == (4,) and (np.diff(curve) < 0).all()


@pytest.mark.sampled(4)
@pytest.mark.parametrize("options, expected", [
    ({"l2": 0.3}, lambda w, g: w - 0.1 * (g + 0.3 * w)),
    ({"l1": 0.3}, lambda w, g: w - 0.1 * (g + 0.3 * np.sign(w))),
    ({"weight_decay": 0.3}, lambda w, g: w - 0.1 * g - 0.1 * 0.3 * w),
    ({"minimize": False}, lambda w, g: w + 0.1 * g),
])
def test_regularization_and_ascent(options, expected):
    sd = linear()
    builder = TrainingConfig.builder().updater(Sgd(0.1)).data_set_feature_mapping("x").data_set_label_mapping("y")
    for name, value in options.items():
        getattr(builder, name)(value)
    sd.set_training_config(builder.build())
    w, b = sd.get_variable("w").get_arr().copy(), sd.get_variable("b").get_arr().copy()
    sd.fit(X, Y)
    np.testing.assert_allclose(sd.get_variable("w").get_arr(), expected(w, gradient(w, b)[0]), rtol=1e-5)


def test_regularization_is_reported_beside_the_loss():
    sd = linear()
    sd.set_training_config(TrainingConfig.builder().updater(Sgd(0.1)).l2(0.5).data_set_feature_mapping("x").data_set_label_mapping("y").build())
    score = sd.calc_regularization_score()
    np.testing.assert_allclose(score, 0.25 * 6 * 0.25)
    loss = sd.fit(X, Y).loss_curve().last_mean_loss()
    assert loss.loss_names() == ["loss", "L2Regularization"]
    np.testing.assert_allclose(loss.get_loss("L2Regularization"), score, rtol=1e-6)


def test_updater_state_is_shared_and_survives_changes_of_the_graph():
    sd = linear(Adam(0.1))
    assert sd.get_updater_map() == {}
    sd.fit(X, Y)
    state = sd.get_updater_map()["w"].get_state()
    assert set(state) == {"M", "V"} and state["M"].shape == (3, 2)
    before = state["M"].copy()
    sd.math.tanh("new", sd.get_variable("z"))
    sd.fit(X, Y)
    assert not np.array_equal(before, state["M"]), "the same arrays go on"
    sd.get_variable("b").convert_to_constant()
    sd.fit(X, Y)
    assert set(sd.get_updater_map()) == {"w"}


def test_constant_keeps_its_value_and_becomes_trainable_again():
    sd = linear()
    sd.fit(X, Y)
    w = sd.get_variable("w").convert_to_constant()
    kept = w.get_arr().copy()
    sd.fit(X, Y)
    np.testing.assert_array_equal(w.get_arr(), kept)
    w.convert_to_variable()
    sd.fit(X, Y)
    assert not np.array_equal(w.get_arr(), kept)


def test_set_array_and_renaming_between_steps():
    sd, plain = linear(Nesterovs(0.1)), linear(Nesterovs(0.1))
    for graph in (sd, plain):
        graph.fit(X, Y)
        graph.get_variable("w").set_array(np.ones((3, 2)))
    sd.get_variable("w").rename("weights")
    for graph in (sd, plain):
        graph.fit(X, Y)
    np.testing.assert_array_equal(sd.get_variable("weights").get_arr(), plain.get_variable("w").get_arr())


def test_variables_off_the_path_stay():
    sd = linear()
    unused = sd.var("unused", np.ones(2, np.float32))
    whole = sd.var("whole", np.ones(2, np.int32))
    sd.set_training_config(TrainingConfig.builder().updater(Adam(0.1)).l2(0.5).data_set_feature_mapping("x").data_set_label_mapping("y").build())
    sd.fit(X, Y)
    assert unused.get_arr().tolist() == [1, 1] and whole.get_arr().tolist() == [1, 1]


def test_mixed_data_types_train_together():
    sd = SameDiff.create()
    a, b = sd.var("a", np.ones(2, np.float32)), sd.var("b", np.ones(2, np.float64))
    (a * a).sum("la")
    (b * b).sum("lb")
    sd.set_loss_variables("la", "lb")
    sd.set_training_config(TrainingConfig(Sgd(0.25), data_set_label_mapping=(), data_set_feature_mapping=()))
    sd.fit({})
    assert a.get_arr().tolist() == b.get_arr().tolist() == [0.5, 0.5] and b.get_arr().dtype == np.float64


class Record(Listener):
    def __init__(self):
        self.heard = []

    def operation_start(self, sd, operation):
        self.heard.append(f"start {operation.name}")

    def operation_end(self, sd, operation):
        self.heard.append(f"end {operation.name}")

    def epoch_start(self, sd, at):
        self.heard.append(f"epoch {at.epoch()} {at.iteration()}")

    def epoch_end(self, sd, at, loss_curve, epoch_time_millis):
        self.heard.append(f"epoch end {at.epoch()} {at.iteration()} {len(loss_curve)}")

    def iteration_start(self, sd, at, data, etl_time_ms):
        self.heard.append(f"iteration {at.epoch()} {at.iteration()} {at.operation().name}")

    def pre_update(self, sd, at, variable, update):
        self.heard.append(f"update {variable.name()}")

    def activation_available(self, sd, at, batch, op, var_name, activation):
        self.heard.append(f"value {var_name}")

    def iteration_done(self, sd, at, data_set, loss):
        self.heard.append("done" if loss is None else f"done {loss.loss_names()}")

    def validation_done(self, sd, at, validation_time_millis):
        self.heard.append(f"validated {at.epoch()}")


def test_listeners_hear_everything_in_order():
    sd, record = linear(), Record()
    values = [f"value {n}" for node in sd.nodes() for n in node.outputs]
    sd.fit(BATCHES[:1], 1, BATCHES[:1], 1, listeners=[record])
    assert record.heard == [
        "start TRAINING", "epoch 0 0", "iteration 0 0 TRAINING", *values, "update w", "update b", "done ['loss']", "epoch end 0 0 1",
        "start TRAINING_VALIDATION", "iteration 0 0 TRAINING_VALIDATION", "done", "end TRAINING_VALIDATION", "validated 0", "end TRAINING"]


def test_hearing_updates_changes_nothing_but_changing_them_does():
    plain, heard, frozen = linear(Adam(0.1)), linear(Adam(0.1)), linear(Adam(0.1))

    class Freeze(Listener):
        def pre_update(self, sd, at, variable, update):
            update[...] = 0

    heard.add_listeners(Record())
    frozen.add_listeners(Freeze())
    for sd in (plain, heard, frozen):
        sd.fit(BATCHES, 1)
    np.testing.assert_array_equal(heard.get_variable("w").get_arr(), plain.get_variable("w").get_arr())
    assert (frozen.get_variable("w").get_arr() == 0.5).all()


def test_required_variables_are_computed():
    seen = {}

    class Want(Listener):
        def required_variables(self, sd):
            return ListenerVariables({Operation.TRAINING: ["z"]})

        def activation_available(self, sd, at, batch, op, var_name, activation):
            seen[var_name] = activation

    sd = linear()
    sd.fit(X, Y, listeners=[Want()])
    np.testing.assert_allclose(seen["z"], X @ np.full((3, 2), 0.5), rtol=1e-5)


def test_a_listener_stops_after_an_epoch():
    class Stop(Listener):
        def epoch_end(self, sd, at, loss_curve, epoch_time_millis):
            return ListenerResponse.STOP if at.epoch() == 1 else None

    sd = linear()
    assert sd.fit(BATCHES, 5, Stop()).training_epochs() == 2
    assert sd.get_training_config().epoch_count == 2


@pytest.mark.parametrize("where", ["iteration_start", "pre_update", "iteration_done", "data"])
@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_after_an_interruption_the_last_whole_step_stands(where, error):
    steps = 2 if where == "iteration_done" else 1

    class Fail(Listener):
        pass

    def fail(self, sd, at, *rest):
        if at.iteration() == 1:
            raise error
    if where != "data":
        setattr(Fail, where, fail)

    def data():
        yield BATCHES[0]
        if where == "data":
            raise error
        yield BATCHES[1]

    sd, plain = linear(Adam(0.1)), linear(Adam(0.1))
    with pytest.raises(error):
        sd.fit(data(), listeners=[Fail()])
    for batch in BATCHES[:steps]:
        plain.fit(batch)
    for graph in (sd, plain):
        graph.fit(BATCHES[2])
    assert sd.get_training_config().iteration_count == steps + 1
    for name in ("w", "b"):
        np.testing.assert_array_equal(sd.get_variable(name).get_arr(), plain.get_variable(name).get_arr())


def test_nan_is_named_on_request_and_nothing_is_updated():
    sd = linear()
    bad = X.copy()
    bad[2, 1] = np.nan
    with pytest.raises(NumericalError, match="'x'"):
        sd.fit(bad, Y, check_finite=True)
    sd.get_variable("w").set_array(np.full((3, 2), 3e38))
    with pytest.raises(NumericalError, match="inf"):
        sd.fit(X, Y, check_finite=True)
    assert (sd.get_variable("w").get_arr() == np.float32(3e38)).all() and sd.get_training_config().iteration_count == 0


@pytest.mark.parametrize("value, is_steep", [(0.0, True), (np.inf, False)])
def test_a_loss_or_a_gradient_alone_that_is_not_finite_is_found(value, is_steep):
    """0 times what overflows is 0 with an infinite slope; an infinity that is added changes no slope."""
    sd = SameDiff.create()
    w = sd.var("w", np.ones(1))
    x = sd.placeholder("x", DataType.DOUBLE, -1, 1)
    ((w - 1) * 1e308 * 10 + x if is_steep else w + x).sum("loss").mark_as_loss()
    sd.set_training_config(TrainingConfig(Sgd(0.1), data_set_feature_mapping="x", data_set_label_mapping=[]))
    with pytest.raises(NumericalError):
        sd.fit(DataSet(np.full((2, 1), value), None), check_finite=True)
    assert w.get_arr() == 1


def test_evaluations_inside_fit():
    sd = linear(train_evaluations={"z": [RegressionEvaluation()]}, train_evaluation_labels={"z": 0},
                validation_evaluations={"z": [RegressionEvaluation()]}, validation_evaluation_labels={"z": 0})
    history = sd.fit(BATCHES, 3, BATCHES, 2)
    assert (history.training_epochs(), history.validation_epochs()) == (3, 2), "after the first and the third epoch"
    now = sd.evaluate(BATCHES, "z", RegressionEvaluation()).evaluation()
    last = history.final_validation_evaluations().evaluation("z")
    np.testing.assert_allclose(last.average_mean_squared_error(), now.average_mean_squared_error())


def test_fluent_form():
    sd, plain = linear(), linear()
    plain.fit(BATCHES, 2)
    assert sd.fit().train(BATCHES, 2).validate(BATCHES, 1).listeners(Record()).exec().training_epochs() == 2
    np.testing.assert_array_equal(sd.get_variable("w").get_arr(), plain.get_variable("w").get_arr())
    with pytest.raises(ConfigurationError, match="train"):
        sd.fit().exec()


def test_output_over_batches():
    sd = linear()
    whole = sd.output({"x": X, "y": Y}, "z", "loss")
    joined = sd.output(BATCHES, "z", "loss")
    np.testing.assert_allclose(joined["z"], whole["z"], rtol=1e-6)
    assert joined["loss"].shape == (3,)
    np.testing.assert_allclose(joined["loss"].mean(), whole["loss"], rtol=1e-5)
    assert [b["z"].shape for b in sd.output_batches(BATCHES, "z")] == [(4, 2)] * 3
    np.testing.assert_allclose(sd.output([DataSet(X)], "z")["z"], whole["z"], rtol=1e-6)


MISTAKES = [
    ("no configuration", lambda sd: sd.set_training_config(None), None, ConfigurationError, "TrainingConfig"),
    ("zero epochs", None, lambda sd: sd.fit(BATCHES, 0), ConfigurationError, "epochs"),
    ("frequency", None, lambda sd: sd.fit(BATCHES, 1, BATCHES, 0), ConfigurationError, "validation_frequency"),
    ("two features", None, lambda sd: sd.fit(MultiDataSet([X, X], [Y])), ConfigurationError, "maps 1 feature"),
    ("label width", None, lambda sd: sd.fit(X, Y[:, :1]), ShapeError, "'y'"),
    ("unknown placeholder", None, lambda sd: sd.fit({"x": X, "yy": Y}), UnknownNameError, "'yy'"),
    ("generator twice", None, lambda sd: sd.fit((d for d in BATCHES), 2), ConfigurationError, "again"),
    ("no batch", None, lambda sd: sd.fit([], 1), ConfigurationError, "no batch"),
    ("no data", None, lambda sd: sd.fit([3]), ConfigurationError, "int"),
    ("no listener", None, lambda sd: sd.fit(X, Y, listeners=["x"]), ConfigurationError, "listener"),
    ("label index", None, lambda sd: sd.evaluate(BATCHES, "z", 3, RegressionEvaluation()), ConfigurationError, "3"),
    ("unknown output", None, lambda sd: sd.evaluate(BATCHES, "nope", RegressionEvaluation()), UnknownNameError, "nope"),
]


@pytest.mark.parametrize("prepare, act, error, text", [m[1:] for m in MISTAKES], ids=[m[0] for m in MISTAKES])
def test_mistakes_are_typed_and_change_nothing(prepare, act, error, text):
    sd = linear()
    with pytest.raises(error, match=text) as caught:
        if prepare:
            prepare(sd)
        act(sd)
    assert isinstance(caught.value, DL4PyError)
    assert (sd.get_variable("w").get_arr() == 0.5).all() and sd.get_training_config().iteration_count == 0


def test_training_without_configuration():
    sd = linear()
    sd._config = None
    with pytest.raises(ConfigurationError, match="no training configuration"):
        sd.fit(X, Y)
    evaluation = RegressionEvaluation()
    sd.evaluate(BATCHES, "z", evaluation)               # which depends on a single placeholder
    assert evaluation.num_columns() == len(Y[0])
    np.testing.assert_array_equal(sd.output(X, "z")["z"], sd.output({"x": X}, "z")["z"])
    for call in (lambda: sd.output(X, "loss"), lambda: sd.output((X, Y), "loss"), lambda: sd.evaluate(BATCHES, "loss", evaluation),
                 lambda: sd.score(X, Y), lambda: sd.output(X, "loss", batch_size=2)):
        with pytest.raises(ConfigurationError, match=r"no training configuration .*placeholders \(x, y\).*or give values of placeholders"):
            call()


def test_dropout_differs_from_step_to_step():
    sd = SameDiff.create()
    x = sd.placeholder("x", DataType.FLOAT, -1)
    w = sd.var("w", np.ones(64, np.float32))
    sd.nn.dropout(x * w, 0.5).sum("loss")
    sd.set_loss_variables("loss")
    sd.set_training_config(TrainingConfig(Sgd(0.0), data_set_feature_mapping="x", data_set_label_mapping=()))
    losses = [sd.fit({"x": np.arange(64)}).loss_curve().last_mean_loss("loss") for _ in range(3)]
    assert len(set(losses)) == 3
