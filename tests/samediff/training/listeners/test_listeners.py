"""The listener protocol and the ready-made listeners, on a stand-in for a model."""
from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dl4py.samediff.errors import ConfigurationError, FileFormatError
from dl4py.samediff.evaluation import Evaluation
from dl4py.samediff.training import (
    At,
    BaseListener,
    BaseTrainingListener,
    Checkpoint,
    CheckpointListener,
    CollectScoresIterationListener,
    CollectScoresListener,
    EvaluativeListener,
    HistoryListener,
    InvocationType,
    Listener,
    ListenerResponse,
    Listeners,
    ListenerVariables,
    Loss,
    LossCurve,
    Operation,
    PerformanceListener,
    ProgressListener,
    ScoreIterationListener,
    ScoreListener,
    Sgd,
    TimeIterationListener,
    TrainingConfig,
    available_checkpoints,
    load_checkpoint,
)

GOLDEN = Path(__file__).parents[3] / "golden" / "training" / "listeners"


class MultiLayerNetwork:
    """As much of a network as listeners need; trains by counting."""

    def __init__(self) -> None:
        self.iteration = self.epoch = 0
        self.values = [0.5, 0.25, 0.125]

    def score(self) -> float:
        return self.values[self.iteration % len(self.values)]

    def get_iteration_count(self) -> int:
        return self.iteration

    def save(self, path: str, save_updater: bool) -> None:
        Path(path).write_text(f"{self.iteration} {save_updater}")

    def do_evaluation(self, data: Any, *evaluations: Evaluation) -> None:
        for labels, predictions in data:
            for evaluation in evaluations:
                evaluation.eval(labels, predictions)

    def fit(self, listeners: list[Listener], epochs: int, batches: int = 3) -> None:
        bus = Listeners(listeners, Operation.TRAINING)
        for _ in range(epochs):
            bus.epoch_start(self, At(self.epoch, self.iteration, Operation.TRAINING))
            for _ in range(batches):
                at = At(self.epoch, self.iteration, Operation.TRAINING)
                bus.call("iteration_start", self, at, None, 0)
                bus.iteration_done(self, at)
                self.iteration += 1
            if bus.epoch_end(self, At(self.epoch, self.iteration - 1, Operation.TRAINING), None, 0):
                return
            self.epoch += 1


@pytest.mark.parametrize(("case", "options"), [
    ("checkpoint_every_epoch_keep_last_2", lambda b: b.save_every_epoch().keep_last(2)),
    ("checkpoint_every_2_epochs_keep_all", lambda b: b.saveEveryNEpochs(2).keepAll()),
    ("checkpoint_every_3_iterations_keep_all", lambda b: b.save_every_n_iterations(3)),
    ("checkpoint_every_4_iterations_keep_last_and_every",
     lambda b: b.save_every_n_iterations(4).keep_last_and_every(2, 2)),
])
def test_recorded_checkpoints(case: str, options: Any, tmp_path: Path) -> None:
    info = json.loads((GOLDEN / case / "case.json").read_text())
    listener = options(CheckpointListener.builder(tmp_path).log_saving(False)).build()
    MultiLayerNetwork().fit([listener], 4)
    record = (tmp_path / "checkpointInfo.txt").read_text().splitlines()
    stampless = [record[0], *(re.sub(r"^(\d+),\d+,", r"\1,T,", line) for line in record[1:])]
    assert stampless == (GOLDEN / case / "checkpointInfo.txt").read_text().splitlines()
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(info["files_left"])
    found = available_checkpoints(tmp_path)
    assert [(c.checkpoint_num, c.iteration, c.epoch, c.model_type, c.filename) for c in found] == [
        (c["number"], c["iteration"], c["epoch"], c["type"], c["file"]) for c in info["available"]]
    assert listener.last_checkpoint().filename == info["last"]
    assert load_checkpoint(tmp_path, None, lambda p: Path(p).name) == info["last"]


def test_checkpoints_since_the_last_save_and_by_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from dl4py.samediff.training.listeners import checkpoint
    clock = iter(range(0, 10**9, 60_000))
    monkeypatch.setattr(checkpoint, "_now", lambda: next(clock))
    first = CheckpointListener.builder(tmp_path / "a").log_saving(False).save_every_n_iterations(2, True).build()
    MultiLayerNetwork().fit([first], 1, batches=6)
    assert [c.iteration for c in first.available_checkpoints()] == [2, 4]
    second = CheckpointListener.builder(tmp_path / "b").log_saving(False).saveEvery(4, "MINUTES").build()
    MultiLayerNetwork().fit([second], 1, batches=12)
    assert len(second.available_checkpoints()) >= 2


def test_checkpoint_directory_is_not_overwritten(tmp_path: Path) -> None:
    MultiLayerNetwork().fit([CheckpointListener.builder(tmp_path).log_saving(False).save_every_epoch().build()], 2)
    with pytest.raises(ConfigurationError, match="delete_existing"):
        CheckpointListener.builder(tmp_path).save_every_epoch().build()
    (tmp_path / "mine.txt").write_text("keep")
    CheckpointListener.builder(tmp_path).save_every_epoch().delete_existing(True).build()
    assert [p.name for p in tmp_path.iterdir()] == ["mine.txt"]


def test_bad_checkpoint_options(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="never saves"):
        CheckpointListener.builder(tmp_path).build()
    with pytest.raises(ConfigurationError, match="above 0"):
        CheckpointListener.builder(tmp_path).save_every_epoch().keep_last(0).build()
    with pytest.raises(ConfigurationError, match="WEEKS"):
        CheckpointListener.builder(tmp_path).save_every(1, "WEEKS")
    for unit, seconds in (("MILLISECONDS", 0.001), ("SECONDS", 1), ("MINUTES", 60), ("HOURS", 3600), ("DAYS", 86400)):
        assert CheckpointListener.builder(tmp_path).save_every(1.5, unit).build().every_ms == int(1500 * seconds)
    with pytest.raises(ConfigurationError, match="checkpointInfo"):
        available_checkpoints(tmp_path)
    with pytest.raises(FileFormatError, match="six fields"):
        Checkpoint.from_file_string("1,2,3")
    with pytest.raises(FileFormatError, match="same directory"):
        Checkpoint.from_file_string("1,2,3,4,Net,../../outside.zip")


def test_exported_scores_are_the_recorded_text(tmp_path: Path) -> None:
    recorded = json.loads((GOLDEN / "collect_scores" / "case.json").read_text())
    network = MultiLayerNetwork()
    network.values = [0.0] * 9
    for line in (GOLDEN / "collect_scores" / "export_scores_tab.txt").read_text().splitlines()[1:]:
        at, score = line.split("\t")
        network.values[int(at)] = float(score)
    every_second, every_third = CollectScoresListener(2), CollectScoresIterationListener(3)
    network.fit([every_second, every_third], 3)
    assert every_second.get_list_iteration() == recorded["collect_scores_iterations"]
    assert every_second.getListScore() == [network.values[i] for i in range(0, 9, 2)]
    every_third.export_scores(tmp_path / "tab.txt")
    assert (tmp_path / "tab.txt").read_text() == (GOLDEN / "collect_scores" / "export_scores_tab.txt").read_text()
    stream, raw = io.StringIO(), io.BytesIO()
    every_third.export_scores(stream, ",")
    every_third.exportScores(raw, ",")
    assert stream.getvalue() == raw.getvalue().decode()
    assert stream.getvalue() == (GOLDEN / "collect_scores" / "export_scores_comma.txt").read_text()


def test_one_class_for_graphs_and_networks_in_any_spelling() -> None:
    heard: list[Any] = []

    class AsNetwork(BaseTrainingListener):
        def iteration_done(self, model: Any, iteration: int, epoch: int) -> None:
            heard.append(("network", iteration, epoch))

        def on_epoch_start(self, model: Any) -> None:
            heard.append("start")

    class AsGraph(BaseListener):
        def iteration_done(self, sd: Any, at: At, data_set: Any, loss: Loss | None) -> None:
            heard.append(("graph", at.iteration(), loss))

        def epoch_end(self, sd: Any, at: At, loss_curve: Any, epoch_time_millis: int) -> ListenerResponse:
            return ListenerResponse.STOP

    class AsJava(Listener):
        def iterationDone(self, model: Any, iteration: int, epoch: int) -> None:
            heard.append(("java", iteration, epoch))

        def onEpochEnd(self, model: Any) -> None:
            heard.append("end")

    MultiLayerNetwork().fit([AsNetwork(), AsGraph(), AsJava()], 2, batches=1)
    assert heard == ["start", ("network", 0, 0), ("graph", 0, None), ("java", 0, 0), "end"]


def test_only_overridden_hooks_are_wanted() -> None:
    class Forward(Listener):
        def on_forward_pass(self, model: Any, activations: Any) -> None:
            self.seen = activations

        def required_variables(self, sd: Any) -> ListenerVariables:
            return ListenerVariables({Operation.TRAINING: ["a"]})

        def is_active(self, operation: Operation) -> bool:
            return operation is Operation.TRAINING

    listener = Forward()
    bus = Listeners([listener], Operation.TRAINING)
    assert bus.wants("on_forward_pass")
    assert not bus.wants("pre_update")
    bus.call("on_forward_pass", None, [1])
    assert listener.seen == [1]
    assert bus.required_variables(None, Operation.TRAINING) == {"a"}
    assert bus.required_variables(None, Operation.INFERENCE) == set()
    assert not Listeners([listener], Operation.INFERENCE)
    with pytest.raises(ConfigurationError, match="listener"):
        Listeners([print])  # type: ignore[list-item]


def test_score_listeners_report(capsys: pytest.CaptureFixture[str]) -> None:
    speed = PerformanceListener.Builder().setFrequency(1).reportScore(True).reportETL(False).build()
    MultiLayerNetwork().fit([ScoreIterationListener(2), ScoreListener(2), speed, TimeIterationListener(3)], 1)
    text = capsys.readouterr().err
    assert "Score at iteration 0 is 0.5\n" in text
    assert "Score at iteration 1" not in text
    assert "iteration 2: 0.12500" in text
    assert "samples/sec" in text
    assert "ETL" not in text
    assert "Completed epoch 0" in text
    assert "0 iterations" in text


REPORTS = {"report_score": "score: ", "report_time": "iteration time: ", "report_etl": "ETL: ", "report_sample": "samples/sec: ",
           "report_batch": "batches/sec: ", "report_iteration": "iteration 1"}


@pytest.mark.parametrize("builder", [False, True])
@pytest.mark.parametrize(("option", "text"), REPORTS.items())
def test_a_performance_listener_reports_what_is_asked_for(option: str, text: str, builder: bool,
                                                          capsys: pytest.CaptureFixture[str]) -> None:
    wanted = {o: o == option for o in REPORTS}
    listener = PerformanceListener(**wanted)
    if builder:
        built = PerformanceListener.Builder()
        for name, value in wanted.items():
            getattr(built, name)(value)
        listener = built.build()
    MultiLayerNetwork().fit([listener], 1, 2)
    line = capsys.readouterr().err.strip()
    assert re.fullmatch(re.escape(text) + r"[0-9.]*( ms)?", line)


def test_progress_is_for_terminals(capsys: pytest.CaptureFixture[str]) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal, pipe = Terminal(), io.StringIO()
    MultiLayerNetwork().fit([ProgressListener(terminal, 0.0), ProgressListener(pipe, 0.0)], 1)
    assert "iteration 2" in terminal.getvalue()
    assert terminal.getvalue().endswith("\n")
    assert pipe.getvalue() == ""


def test_evaluative_listener() -> None:
    data = [(np.eye(3), np.eye(3)[[0, 1, 1]])]
    runs: list[tuple[int, float]] = []

    def callback(listener: EvaluativeListener, model: Any, number: int, evaluations: list[Any]) -> None:
        runs.append((number, evaluations[0].accuracy()))

    listener = EvaluativeListener(data, 2, InvocationType.EPOCH_END, Evaluation(), callback=callback)
    MultiLayerNetwork().fit([listener, EvaluativeListener(data, 100, callback=callback)], 3)
    assert runs == [(0, pytest.approx(2 / 3))] * 2 + [(1, pytest.approx(2 / 3))]
    with pytest.raises(ConfigurationError, match="EPOCH_END"):
        EvaluativeListener(data, 1, "EPOCH")
    with pytest.raises(ConfigurationError, match="frequency"):
        EvaluativeListener(data, 0)


def test_history_listener_collects() -> None:
    class Batch:
        def get_labels(self, index: int) -> Any:
            return np.eye(3)

        def get_labels_mask_array(self, index: int) -> Any:
            return None

    config = TrainingConfig(Sgd(0.1), train_evaluations={"out": [Evaluation()]}, train_evaluation_labels={"out": 0})
    listener, at = HistoryListener(config), At(0, 0, Operation.TRAINING)
    curve = LossCurve([Loss(["x"], [1.0])])
    assert listener.required_variables(None).required_variables(Operation.TRAINING) == {"out"}
    for _ in range(2):
        listener.epoch_start(None, at)
        for _ in range(3):
            listener.activation_available(None, at, Batch(), None, "out", np.eye(3)[[0, 1, 1]])
            listener.activation_available(None, at, Batch(), None, "other", np.eye(3))
        listener.epoch_end(None, at, curve, 5)
    for millis in (3, 4):
        listener.validation_done(None, at, millis)
    history = listener.get_report()
    assert history.validation_times_millis() == [3, 4] and history.validation_epochs() == 2
    assert history.training_eval("out", Evaluation.Metric.ACCURACY) == [pytest.approx(2 / 3)] * 2
    assert history.final_training_evaluations().evaluation("out").accuracy() == pytest.approx(2 / 3)
    assert history.training_time_millis() == 10
    assert history.loss_curve() is curve
    assert config.train_evaluations["out"][0] == Evaluation()


def test_positions() -> None:
    at = At(2, 7, Operation.TRAINING)
    assert (at.epoch(), at.iteration(), at.operation()) == (2, 7, Operation.TRAINING)
    assert at.copy(Operation.EVALUATION).operation() is Operation.EVALUATION
    assert At.default_at() == At(0, 0, Operation.INFERENCE)
    assert at.copy() == at
    both = ListenerVariables.of("a").merge(ListenerVariables.of("b"))
    assert both.required_variables(Operation.TRAINING) == {"a", "b"}
    assert Operation.TRAINING_VALIDATION.is_validation()
