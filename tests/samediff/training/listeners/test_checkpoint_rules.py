"""When checkpoints are saved and which stay, against the rules written out; what is read from their folder."""
from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from dl4py.samediff.errors import ConfigurationError, FileFormatError
from dl4py.samediff.training import At, Checkpoint, CheckpointListener, Operation, available_checkpoints, last_checkpoint, load_checkpoint
from dl4py.samediff.training.checkpoints.checkpoint_folder import file_for_checkpoint
from dl4py.samediff.training.listeners import checkpoint


class Model:
    """What is saved; ``inside`` says of which iterations pieces of the batch follow."""

    def __init__(self, inside=()):
        self.inside, self.count = inside, 0

    def save(self, path, save_updater):
        Path(path).write_text(f"{save_updater}")

    def is_inside_batch(self):
        return self.count in self.inside

    def get_iteration_count(self):
        return self.count + 1


@pytest.fixture
def clock(monkeypatch):
    """Milliseconds, ten for each iteration."""
    class Clock:
        now = 1000
    monkeypatch.setattr(checkpoint, "_now", lambda: Clock.now)
    return Clock


def saved(folder, clock, model=None, epochs=3, batches=5, **options):
    """Number, iteration and epoch of all checkpoints that are made."""
    found, model = [], model or Model()
    listener = CheckpointListener(folder, log_saving=False, **options)
    for epoch in range(epochs):
        for _ in range(batches):
            clock.now += 10
            listener.iteration_done(model, At(epoch, model.count, Operation.TRAINING))
            model.count += 1
        model.count -= 1
        listener.epoch_end(model, At(epoch, model.count, Operation.TRAINING), None, 0)
        model.count += 1
        found += [c for c in available_checkpoints(folder) if c not in found] if (folder / "checkpointInfo.txt").exists() else []
    return [(c.checkpoint_num, c.iteration, c.epoch) for c in found]


def by_rule(epochs=3, batches=5, every_epochs=None, every_iterations=None, every_ms=None, since=False):
    """The same in the plainest way."""
    found, last, last_ms = [], 0, 1010
    for epoch in range(epochs):
        for i in range(epoch * batches, (epoch + 1) * batches):
            now = 1010 + 10 * i
            by_count = every_iterations is not None and i > 0 and (
                i - last >= every_iterations if since else i % every_iterations == 0)
            by_time = every_ms is not None and now - last_ms >= every_ms
            if i and (by_count or by_time):
                found.append((i, epoch))
                last, last_ms = i, now if (by_time and not by_count) or since else last_ms
        if every_epochs is not None and (epoch + 1) % every_epochs == 0:
            found.append((i + 1, epoch))
            last, last_ms = i + 1, now if since else last_ms
    return [(k, *f) for k, f in enumerate(found)]


@pytest.mark.parametrize("since", [False, True])
@pytest.mark.parametrize("every_epochs, every_iterations, every_ms", [
    (1, None, None), (2, None, None), (None, 1, None), (None, 3, None), (None, None, 10), (None, None, 25), (None, None, 40), (1, 3, None),
    (1, None, 25), (None, 4, 30), (2, 4, 30)])
def test_when(every_epochs, every_iterations, every_ms, since, tmp_path, clock):
    options = {"save_every_n_epochs": every_epochs, "save_every_n_iterations": every_iterations, "save_every_ms": every_ms,
               "save_every_n_iterations_since_last": since, "save_every_ms_since_last": since}
    assert saved(tmp_path, clock, **options) == by_rule(every_epochs=every_epochs, every_iterations=every_iterations, every_ms=every_ms,
                                                        since=since)


def test_between_pieces_of_a_batch_saving_waits(tmp_path, clock):
    assert [i for _, i, _ in saved(tmp_path, clock, Model(inside=(2, 3, 6)), save_every_n_iterations=2)] == [4, 7, 8, 10, 12, 14]


@pytest.mark.sampled(12)
@pytest.mark.parametrize("last, every", list(product((1, 2, 4), (1, 2, 3))))
def test_which_stay(last, every, tmp_path, clock):
    for mode, stays in (("ALL", lambda k: True), ("LAST", lambda k: k > 13 - last),
                        ("LAST_AND_EVERY", lambda k: k > 13 - last or (k > 0 and (k + 1) % every == 0))):
        folder = tmp_path / mode
        saved(folder, clock, save_every_n_iterations=1, keep_mode=mode, keep_last=last, keep_every=every)
        assert [c.checkpoint_num for c in available_checkpoints(folder)] == [k for k in range(14) if stays(k)]
        assert sorted(p.name for p in folder.iterdir()) == sorted(
            [*(f"checkpoint_{k}_Model.zip" for k in range(14) if stays(k)), "checkpointInfo.txt"])


@pytest.mark.parametrize("updater", [True, False])
@pytest.mark.parametrize("log", [True, False])
def test_names_contents_and_reports(log, updater, tmp_path, clock, monkeypatch):
    lines = []
    monkeypatch.setattr(checkpoint, "report", lines.append)
    listener = CheckpointListener(tmp_path, save_every_n_epochs=1, file_name_prefix="mine_", log_saving=log, save_updater_state=updater)
    assert listener.last_checkpoint() is None and listener.available_checkpoints() == []
    listener.epoch_end(Model(), At(2, 9, Operation.TRAINING), None, 0)
    listener.epoch_end(type("SameDiff", (Model,), {})(), At(3, 9, Operation.TRAINING), None, 0)
    names = ["mine_checkpoint_0_Model.zip", "mine_checkpoint_1_SameDiff.fb"]
    assert [c.filename for c in listener.available_checkpoints()] == names and listener.last_checkpoint().filename == names[1]
    assert (tmp_path / names[0]).read_text() == str(updater)
    told = [f"Model checkpoint saved: epoch {2 + k}, iteration 1, path: {tmp_path / n}" for k, n in enumerate(names)]
    assert lines == (told if log else [])
    for which in (0, listener.available_checkpoints()[0]):
        assert listener.get_file_for_checkpoint(which) == tmp_path / names[0]
    assert [listener.is_active(o) for o in Operation] == [o is Operation.TRAINING for o in Operation]


def test_a_layer_that_is_pretrained_is_not_saved_and_starts_no_clock(tmp_path, clock):
    listener = CheckpointListener(tmp_path, save_every_n_iterations=1, log_saving=False)
    for k in range(3):
        listener.iteration_done(object(), At(0, k, Operation.TRAINING))
    listener.iteration_done(Model(), At(0, 3, Operation.TRAINING))
    assert not listener.available_checkpoints()
    listener.iteration_done(Model(), At(0, 4, Operation.TRAINING))
    assert [c.iteration for c in listener.available_checkpoints()] == [4]


def test_records_and_files(tmp_path, clock):
    saved(tmp_path, clock, save_every_n_epochs=1)
    first, second, third = available_checkpoints(tmp_path)
    assert Checkpoint.from_file_string(second.to_file_string()) == second == Checkpoint(1, 1100, 10, 1, "Model", "checkpoint_1_Model.zip")
    assert (tmp_path / "checkpointInfo.txt").read_text().splitlines() == [
        Checkpoint.get_file_header(), *(c.to_file_string() for c in (first, second, third))]
    assert last_checkpoint(tmp_path) == third and file_for_checkpoint(tmp_path, 1).name == second.filename
    assert load_checkpoint(tmp_path, second, str) == load_checkpoint(tmp_path, 1, str) == str(tmp_path / second.filename)
    assert load_checkpoint(tmp_path, load=str) == str(tmp_path / third.filename)
    for load in (CheckpointListener.load_checkpoint, CheckpointListener.load_last_checkpoint):
        with pytest.raises(ConfigurationError, match="holds a Model: give the function that reads it"):
            load(tmp_path)
    with pytest.raises(ConfigurationError, match="checkpoint 1 of .* holds a Model, not a MultiLayerNetwork"):
        CheckpointListener.load_checkpoint_mln(tmp_path, 1)
    with pytest.raises(ConfigurationError, match="checkpoint 1 of .* holds a Model, not a ComputationGraph"):
        CheckpointListener.loadCheckpointCG(tmp_path, second)
    with pytest.raises(ConfigurationError, match="checkpoint 2 of .* not a MultiLayerNetwork"):
        CheckpointListener.load_last_checkpoint_mln(tmp_path)
    with pytest.raises(ConfigurationError, match="checkpoint 2 of .* not a ComputationGraph"):
        CheckpointListener.load_last_checkpoint_cg(tmp_path)
    (tmp_path / third.filename).unlink()
    assert last_checkpoint(tmp_path) == second
    with pytest.raises(ConfigurationError, match="holds no checkpoint 2; there are: 0, 1"):
        file_for_checkpoint(tmp_path, third)
    for c in (first, second):
        (tmp_path / c.filename).unlink()
    assert last_checkpoint(tmp_path) is None
    with pytest.raises(ConfigurationError, match="holds no checkpoint any more"):
        load_checkpoint(tmp_path)
    with pytest.raises(ConfigurationError, match="no checkpoint 0; there are: none"):
        load_checkpoint(tmp_path, 0)


@pytest.mark.parametrize("line", ["1,2,3,4,M", "1,2,3,4,M,f,g", "a,2,3,4,M,f", "1,2,3,b,M,f", "", "1,2,3,4,M,../f"])
def test_lines_that_are_none(line):
    with pytest.raises(FileFormatError):
        Checkpoint.from_file_string(line)


@pytest.mark.parametrize("name, old", [
    ("checkpoint_3_Model.zip", True), ("p_checkpoint_12_X.fb", True), ("checkpoint_0_M.zip.resume.json", True),
    ("checkpointInfo.txt", True), ("checkpoint_M.zip", False), ("checkpoint_1_M.txt", False), ("notes.txt", False)])
def test_what_counts_as_an_old_checkpoint(name, old, tmp_path):
    (tmp_path / name).write_text("x")
    if old:
        with pytest.raises(ConfigurationError, match="already holds 1 checkpoint"):
            CheckpointListener(tmp_path, save_every_n_epochs=1)
    CheckpointListener(tmp_path, save_every_n_epochs=1, delete_existing=True)
    assert (tmp_path / name).exists() != old


@pytest.mark.parametrize("bad", [0, -1, 1.5, True, "2"])
@pytest.mark.parametrize("option", ["save_every_n_epochs", "save_every_n_iterations", "save_every_ms", "keep_last", "keep_every"])
def test_numbers_that_are_none(option, bad, tmp_path):
    with pytest.raises(ConfigurationError, match="whole numbers above 0"):
        CheckpointListener(tmp_path / "new", **({"save_every_n_epochs": 1} | {option: bad}))
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("mode", ["SOME", 3, None])
def test_modes_that_are_none(mode, tmp_path):
    with pytest.raises(ConfigurationError, match="unknown keep_mode .*; one of ALL, LAST, LAST_AND_EVERY"):
        CheckpointListener(tmp_path, save_every_n_epochs=1, keep_mode=mode)


def test_the_class_answers_for_a_folder(tmp_path, clock):
    listener = CheckpointListener(tmp_path, save_every_n_epochs=1, log_saving=False)
    for epoch in range(2):
        listener.epoch_end(Model(), At(epoch, epoch, Operation.TRAINING), None, 0)
    assert CheckpointListener.availableCheckpoints(tmp_path) == listener.available_checkpoints() != []
    newest = CheckpointListener.lastCheckpoint(str(tmp_path))
    assert newest == listener.lastCheckpoint() == listener.available_checkpoints()[-1]
    assert CheckpointListener.getFileForCheckpoint(tmp_path, newest) == listener.get_file_for_checkpoint(newest.checkpoint_num)
    assert CheckpointListener.last_checkpoint(tmp_path / "nothing") is None
