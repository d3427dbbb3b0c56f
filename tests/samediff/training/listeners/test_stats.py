"""Recorded statistics of trainings: the numbers, the file, the picture."""
from __future__ import annotations

import sys
import threading

import numpy as np
import pytest

from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.errors import ConfigurationError, FileFormatError, MissingPackageError, UnknownNameError
from dl4py.samediff.training import (
    FileMode,
    FileStatsStorage,
    InMemoryStatsStorage,
    Sgd,
    StatsListener,
    TrainingConfig,
    UIListener,
    plot_stats,
)
from dl4py.samediff.training.listeners.stats import summary_of

X, Y = np.ones((4, 1), np.float32), np.full((4, 1), 2, np.float32)


def graph():
    sd = SameDiff.create()
    x, y = sd.placeholder("x", DataType.FLOAT, -1, 1), sd.placeholder("y", DataType.FLOAT, -1, 1)
    w = sd.var("w", np.zeros((1, 1), np.float32))
    ((x.mmul(w) - y) ** 2).mean("loss")
    sd.set_loss_variables("loss")
    sd.set_training_config(TrainingConfig(Sgd(0.25), data_set_feature_mapping="x", data_set_label_mapping="y"))
    return sd


def test_numbers_of_an_array():
    a = np.array([3.0, -4.0, np.inf, 0.0])
    found = summary_of(a, 2)
    assert (found["l2"], found["mean_magnitude"], found["not_finite"]) == (5.0, pytest.approx(7 / 3), 1)
    assert found["histogram"] == {"min": -4.0, "max": 3.0, "counts": [1, 2]} and "histogram" not in summary_of(a, 0)
    assert summary_of([np.nan], 3) == {"not_finite": 1}


def test_a_graph_in_a_file(tmp_path):
    path, sd = tmp_path / "run.jsonl", graph()
    sd.fit((X, Y), epochs=3, listeners=StatsListener(FileStatsStorage(path)))
    storage = FileStatsStorage(path)
    assert storage.series("score") == ([0, 1, 2], [4.0, 1.0, 0.25])
    assert storage.series("updates", "w", "mean") == ([0, 1, 2], [-1.0, -0.5, -0.25])
    assert storage.series("parameters", "w", "mean")[1] == [1.0, 1.5, 1.75] and storage.series("learning_rate")[1] == [0.25] * 3
    with pytest.raises(UnknownNameError, match="no record has 'scor'; did you mean 'score'"):
        storage.series("scor")
    sd.fit((X, Y), epochs=1, listeners=StatsListener(storage, arrays=False))       # added, and read while it grows
    assert storage.series("score")[0] == [0, 1, 2, 3]
    with path.open("a") as file:
        file.write('{"iteration": 4, "sc')
    assert storage.series("score")[0] == [0, 1, 2, 3]


def test_other_files_are_refused(tmp_path):
    for text in ("not json\n", '{"format": "other"}\n', "[1]\n"):
        (tmp_path / "x").write_text(text)
        with pytest.raises(FileFormatError, match="not a file of training statistics"):
            FileStatsStorage(tmp_path / "x")


def test_listening_does_not_change_the_training():
    one, two = graph(), graph()
    one.fit((X, Y), epochs=3)
    two.fit((X, Y), epochs=3, listeners=StatsListener(InMemoryStatsStorage()))
    assert one.get_variable("w").get_arr() == two.get_variable("w").get_arr()


def test_scores_that_json_cannot_hold(tmp_path):
    sd = graph()
    with pytest.warns(UserWarning, match="score of epoch 1 is nan"):
        sd.fit((X, np.full((4, 1), np.nan)), epochs=1, listeners=StatsListener(FileStatsStorage(tmp_path / "x")))
    record = FileStatsStorage(tmp_path / "x").records()[0]
    assert record["score"] is None and record["updates"]["w"] == {"not_finite": 1}


def test_the_builder_of_the_ui_listener(tmp_path):
    path = tmp_path / "run.jsonl"
    make = UIListener.builder(path).plotLosses(1).update_ratios(2).histograms(4).learning_rate(2).performance_stats(3)
    with pytest.raises(ConfigurationError, match="is not there; the file mode is APPEND"):
        make.file_mode(FileMode.APPEND).build()
    graph().fit((X, Y), epochs=5, listeners=make.file_mode(FileMode.CREATE).build())
    with pytest.raises(ConfigurationError, match="is there already; the file mode is CREATE"):
        make.build()
    storage = FileStatsStorage(path)
    assert [storage.series(*p)[0] for p in (["score"], ["parameters"], ["learning_rate"], ["iteration_ms"])] == [
        [0, 1, 2, 3, 4], [0, 2, 4], [0, 2, 4], [3]]
    assert storage.series("parameters", "w", "histogram")[0] == [0, 4]
    with pytest.raises(ConfigurationError, match="at least 0"):
        make.plot_losses(-1)
    with pytest.raises(ConfigurationError, match="at least 1"):
        StatsListener(storage, 0)
    with pytest.raises(ConfigurationError, match="at least 0"):
        StatsListener(storage, bins=-1)
    assert StatsListener(storage, bins=0).bins == 0


def test_the_picture(tmp_path):
    pytest.importorskip("matplotlib")
    storage = InMemoryStatsStorage()
    graph().fit((X, Y), epochs=5, listeners=StatsListener(storage))
    figure = plot_stats(storage, tmp_path / "run.png")
    assert [a.get_title() for a in figure.axes] == ["score", "learning rate", "log10 of mean magnitudes: updates / parameters"]
    assert figure.axes[0].lines[0].get_ydata().tolist() == storage.series("score")[1]
    assert (tmp_path / "run.png").read_bytes()[:4] == b"\x89PNG"
    with pytest.raises(ConfigurationError, match="nothing to draw"):
        plot_stats(InMemoryStatsStorage())


def test_without_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingPackageError, match="pip install matplotlib"):
        plot_stats(InMemoryStatsStorage())


def test_no_record_of_several_writers_is_lost(tmp_path):
    path, count = tmp_path / "run.jsonl", 100
    FileStatsStorage(path)

    def write(k):
        storage = FileStatsStorage(path)
        for i in range(count):
            storage.put({"iteration": i, "writer": k})

    threads = [threading.Thread(target=write, args=(k,)) for k in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = FileStatsStorage(path).records()
    assert [[r["iteration"] for r in found if r["writer"] == k] for k in range(3)] == [list(range(count))] * 3


def test_sessions_of_a_storage():
    storage = InMemoryStatsStorage()
    for session in ("b", "a", "b"):
        storage.put({"session": session, "iteration": 0})
    assert storage.listSessionIDs() == storage.list_session_ids() == ["b", "a"]
