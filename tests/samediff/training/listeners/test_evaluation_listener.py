"""Listeners that evaluate, and those that show or keep what ops computed."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff import DataSet, DataType, Evaluation, SameDiff
from dl4py.samediff.errors import ConfigurationError
from dl4py.samediff.training import (
    ArraySavingListener,
    BaseEvaluationListener,
    ExecDebuggingListener,
    HistoryListener,
    ListenerEvaluations,
    ListenerResponse,
    ListenerVariables,
    Operation,
    PrintMode,
    Sgd,
    TrainingConfig,
)

R = np.random.default_rng(0)
DATA = DataSet(R.normal(size=(8, 3)).astype(np.float32), np.eye(2, dtype=np.float32)[[0, 1] * 4])


def graph():
    sd = SameDiff.create()
    x, y = sd.placeholder("x", DataType.FLOAT, -1, 3), sd.placeholder("y", DataType.FLOAT, -1, 2)
    w = sd.var("w", np.linspace(-1, 1, 6, dtype=np.float32).reshape(3, 2))
    z = x.mmul(w, name="z")
    sd.nn.softmax("p", z)
    sd.loss.softmax_cross_entropy("loss", y, z)
    sd.set_loss_variables("loss")
    sd.set_training_config(TrainingConfig(Sgd(0.1), data_set_feature_mapping="x", data_set_label_mapping="y"))
    return sd


class Watch(BaseEvaluationListener):
    def __init__(self, stop=False):
        self.found, self.validated, self.started, self.stop = [], [], 0, stop
        self._plan = (ListenerEvaluations.builder().train_evaluation("p", 0, Evaluation())
                      .validationEvaluation("p", 0, Evaluation()).build())

    def evaluations(self):
        return self._plan

    def epoch_start_evaluations(self, sd, at):
        self.started += 1

    def epoch_end_evaluations(self, sd, at, loss_curve, epoch_time_millis, evaluations):
        self.found.append(evaluations.evaluation("p"))
        return ListenerResponse.STOP if self.stop else None

    def validation_done_evaluations(self, sd, at, validation_time_millis, evaluations):
        self.validated.append(evaluations.evaluation("p").accuracy())


def test_evaluations_of_epochs():
    sd, watch = graph(), Watch()
    history = sd.fit([DATA, DATA], epochs=3, listeners=watch, validation_data=[DATA])
    assert watch.started == len(watch.found) == 3 and [e.get_num_row_counter() for e in watch.found] == [16] * 3
    assert watch.validated[-1] == sd.evaluate(DATA, "p").evaluation("p").accuracy() and len(watch.validated) == 3
    assert history.training_epochs() == 3 and not watch.hears_every_value()
    assert not watch.evaluations().train_evaluations()["p"][0].get_num_row_counter()     # the patterns stay empty


def test_it_may_stop_the_training():
    watch = Watch(stop=True)
    graph().fit([DATA], epochs=4, listeners=watch)
    assert len(watch.found) == 1


def test_other_values():
    class All(Watch):
        names = ()

        def activation_available_evaluations(self, sd, at, batch, op, var_name, activation):
            self.names += (var_name,)

    class Some(Watch):
        def other_required_variables(self, sd):
            return ListenerVariables.of("z")

    every, some = All(), Some()
    graph().fit(DATA, listeners=[every])
    assert every.hears_every_value() and {"z", "p", "loss"} <= set(every.names)
    assert some.required_variables(None).training_variables() == {"p", "z"}
    with pytest.raises(NotImplementedError, match="must implement evaluations"):
        BaseEvaluationListener().required_variables(None)


def test_which_evaluations():
    make = ListenerEvaluations.builder().train_evaluation("p", 0, Evaluation())
    found = make.build()
    assert (found.is_empty(), ListenerEvaluations.builder().build().is_empty()) == (False, True)
    assert (found.train_evaluation_labels(), found.validation_evaluations(), found.validation_evaluation_labels()) == ({"p": 0}, {}, {})
    with pytest.raises(ConfigurationError, match="label array 0 already; it cannot be 1"):
        make.train_evaluation("p", 1, Evaluation())
    with pytest.raises(ConfigurationError, match="no label array is named for the evaluations of p"):
        ListenerEvaluations({"p": [Evaluation()]}, {}, {}, {})
    again = HistoryListener(found).new_instance()
    assert again.evaluations() is found and again.get_report().training_epochs() == 0


def test_variables_by_operation():
    made = (ListenerVariables.builder().trainingVariables("a", "b").inference_variables("c").validation_variables("d")
            .evaluation_variables("e").require_variables(Operation.TRAINING, "f").build())
    assert (made.training_variables(), made.inference_variables()) == ({"a", "b", "f"}, {"c"})
    assert (made.validation_variables(), made.evaluation_variables()) == ({"d"}, {"e"})


def test_arrays_of_two_runs(tmp_path, capsys):
    x = {"x": DATA.features}
    for name, values in (("one", x), ("same", x), ("other", {"x": DATA.features + 1}), ("fewer", {"x": DATA.features[:2]})):
        sd = graph()
        sd.output(values, "p", ArraySavingListener(tmp_path / name))
    names = sorted(p.name for p in (tmp_path / "one").iterdir())
    assert len(names) == 2 and all(n.startswith("0_") and n.endswith("__0.bin") for n in names)
    compare = ArraySavingListener.compare
    assert compare(tmp_path / "one", tmp_path / "same", 0) == []
    assert len(compare(tmp_path / "one", tmp_path / "other", 1e-3)) == 2 and "apart" in capsys.readouterr().err
    assert "shapes (8, 2) and (2, 2)" in compare(tmp_path / "one", tmp_path / "fewer", 1e-3)[0]
    (tmp_path / "same" / names[0]).unlink()
    assert compare(tmp_path / "one", tmp_path / "same", 0) == [f"{names[0]}: only in {tmp_path / 'one'}"]
    assert compare(tmp_path / "same", tmp_path / "one", 0) == [f"{names[0]}: only in {tmp_path / 'one'}"]
    with pytest.raises(ConfigurationError, match="is not empty"):
        ArraySavingListener(tmp_path / "one")


def test_ops_are_shown(capsys):
    sd, x = graph(), {"x": DATA.features[:1]}
    sd.output(x, "z", ExecDebuggingListener(PrintMode.OPS_ONLY, 0, True))
    assert [line.partition("(")[2] for line in capsys.readouterr().err.splitlines()] == ["", "matmul)"]
    sd.output(x, "z", ExecDebuggingListener(PrintMode.SHAPES_ONLY, 1, False))
    assert "float32(1, 3), float32(3, 2) -> float32(1, 2)" in capsys.readouterr().err
    listener = ExecDebuggingListener(PrintMode.REPRODUCE, 1, False)
    sd.fit([DATA, DATA], epochs=1, listeners=listener)
    shown = capsys.readouterr().err
    assert shown.count("(matmul)") == 1 and ".compute(np, np.array([[" in shown
