"""What is shown: tables in notebooks, progress, completion of shells."""
from __future__ import annotations

import importlib
import importlib.util
import re
import shutil
import subprocess
import sys
import types
from typing import Any

import numpy as np
import pytest

import dl4py
from dl4py.elsewhere import ELSEWHERE
from dl4py.networks import MultiLayerNetwork
from dl4py.networks.commands import main
from dl4py.samediff import Evaluation
from dl4py.samediff.training import History, TrainingConfig
from dl4py.samediff.training.progress import with_bar
from tests.helpers.habits import MODELS, Loader, X, Y

#: What notebooks show, and words that stand there.
SHOWN: dict[str, tuple[Any, list[str]]] = {
    "list": (lambda: MODELS["list"](), ["&lt;MultiLayerNetwork: 2 layers", "DenseLayer", ">25<", ">18<"]),
    "graph": (lambda: MODELS["graph"](), ["&lt;ComputationGraph", ">d<", ">y<", "OutputLayer"]),
    "without parameters": (lambda: MultiLayerNetwork(MODELS["list"]().configuration), ["not initialised", "DenseLayer", "<td></td>"]),
    "samediff": (lambda: MODELS["samediff"](), ["SameDiff(7 variables", "softmax", "PLACEHOLDER"]),
    "epochs": (lambda: MODELS["list"]().fit(X, Y, epochs=3).history, ["3 epochs", "validation_score", ">2<"]),
    "history": (lambda: MODELS["samediff"]().fit(X, Y, epochs=3), ["3 epochs", "loss", ">2<"]),
    "history of nothing": (History, ["0 epochs"]),
    "evaluation": (lambda: MODELS["list"]().evaluate(X, Y), ["Evaluation", "Accuracy"]),
    "record": (lambda: MODELS["samediff"]().evaluate(X, Y), ["<summary>p</summary>", "Accuracy"]),
    "regression": (lambda: MODELS["list"]().evaluate_regression((X, Y)), ["RegressionEvaluation", "MSE"]),
    "roc": (lambda: MODELS["list"]().evaluate_roc_multi_class((X, Y)), ["ROCMultiClass", "AUC"]),
}


@pytest.mark.parametrize("row", SHOWN)
def test_notebooks(row):
    make, words = SHOWN[row]
    found = make()
    html = found._repr_html_()
    assert not [word for word in words if word not in html], html
    assert html.startswith("<") and len(re.findall("<table|<details", html)) == len(re.findall("</table|</details", html)) >= 1
    assert "_engine" not in vars(found) or row != "without parameters" or found._engine is None


class Bar:
    """Stands in for a bar of tqdm."""

    seen: list[str] = []

    def __init__(self, batches: Any, title: str, total: Any, leave: bool) -> None:
        self.batches = batches
        self.seen.append(f"{title} of {total}")

    def __iter__(self) -> Any:
        return iter(self.batches)

    def set_postfix_str(self, text: str, refresh: bool) -> None:
        self.seen.append(text)


class Progress:
    """Stands in for that of rich."""

    def __init__(self, **options: Any) -> None:
        Bar.seen.append("open")

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *error: object) -> None:
        Bar.seen.append("closed")

    def add_task(self, title: str, total: Any) -> int:
        Bar.seen.append(f"{title} of {total}")
        return 7

    def update(self, task: int, advance: int, description: str) -> None:
        Bar.seen.append(description.partition(", ")[2])


def installed(monkeypatch: Any, *libraries: str) -> None:
    """Have these libraries, or rather what stands in for them, and no other."""
    made = {"tqdm": {"tqdm": types.SimpleNamespace(tqdm=Bar)}, "rich": {
        "rich": types.ModuleType("rich"), "rich.console": types.SimpleNamespace(Console=lambda stderr: None),
        "rich.progress": types.SimpleNamespace(Progress=Progress)}}
    for library in libraries:
        for name, module in made[library].items():
            monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name in libraries or None)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    Bar.seen = []


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("libraries", [("tqdm",), ("rich",), ("tqdm", "rich"), ()], ids="-".join)
def test_bars_follow_the_score(kind, libraries, monkeypatch, capsys):
    installed(monkeypatch, *libraries)
    MODELS[kind]().fit(list(Loader()), epochs=2, verbose=True)
    titles = [text for text in Bar.seen if "epoch" in text]
    scores = [float(text) for text in Bar.seen if re.fullmatch(r"[\d.]+", text)]
    assert titles == (["epoch 1/2 of 3", "epoch 2/2 of 3"] if libraries else [])
    assert len(scores) == (6 if libraries else 0) and all(0 < score < 3 for score in scores)
    assert Bar.seen.count("closed") == Bar.seen.count("open") == (2 if libraries == ("rich",) else 0)
    lines = "".join(capsys.readouterr()).splitlines()
    assert len(lines) == 2 and re.fullmatch(r"epoch 1/2: .*, [\d.e-]+ s, [\d.e-]+ s left", lines[0]) and "left" not in lines[1]


def test_bars_close_where_nobody_goes_on(monkeypatch):
    installed(monkeypatch, "rich")
    batches = with_bar(iter(range(3)), "some", None)
    assert next(batches) == 0
    batches.close()
    assert Bar.seen == ["open", "some of None", "closed"]


def test_lines_name_metrics_of_graphs(capsys):
    sd = MODELS["samediff"]()
    config = sd.get_training_config()
    sd.set_training_config(TrainingConfig(
        config.updater, data_set_feature_mapping="x", data_set_label_mapping="y", data_set_label_mask_mapping="weights",
        train_evaluations={"p": [Evaluation()]}, train_evaluation_labels={"p": 0},
        validation_evaluations={"p": [Evaluation()]}, validation_evaluation_labels={"p": 0}))
    history = sd.fit(X, Y, epochs=1, verbose=True, validation_data=(X, Y))
    said = "".join(capsys.readouterr())
    assert "accuracy 0." in said and "validation accuracy 0." in said and "validation accuracy 0." in history._repr_html_()


def test_verbose_measuring(monkeypatch):
    installed(monkeypatch, "tqdm")
    for make in MODELS.values():
        model = make()
        quiet = model.evaluate(list(Loader())), model.predict(list(Loader()))
        assert Bar.seen == []
        shown = model.evaluate(list(Loader()), verbose=1), model.predict(list(Loader()), verbose=1)
        assert (Bar.seen == ["evaluate of 3", "predict of 3"] and str(shown[0]) == str(quiet[0])) or type(model).__name__ == "SameDiff"
        np.testing.assert_array_equal(shown[1], quiet[1])
        Bar.seen = []


@pytest.mark.parametrize("name, said", [("Word2Vec", "gensim"), ("CodecRecordReader", "CollectionRecordReader"),
                                        ("OnnxImport", "import_onnx"), ("TFGraphMapper", "import_frozen_tf"), ("IMax", "ArgMax"),
                                        ("GymEnv", "gymnasium"), ("DL4JInvalidConfigException", "ConfigurationError"),
                                        ("StringToWritablesFunction", "dl4py.spark"), ("MemoryReport", "memory_info"), ("KDTree", "learn")])
def test_names_of_what_is_not_here_say_what_is(name, said):
    with pytest.raises(AttributeError, match=said):
        getattr(dl4py, name)
    assert not {key for key in dl4py.__all__ if key.lower() in ELSEWHERE}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_names_commands_and_options(shell, capsys):
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    for word in ("inspect", "new-plugin", "completion", "version", "batch", "form"):
        assert re.search(rf"\b{word}\b", script), word


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash")
@pytest.mark.parametrize("words, wanted", [("dl4py in", {"inspect", "info"}), ("dl4py profile --tr", {"--train", "--trace"}),
                                           ("dl4py --v", {"--version"}), ("dl4py nothing x", set())])
def test_bash_completes(words, wanted, capsys):
    main(["completion", "bash"])
    script = capsys.readouterr().out
    line = f"{script}\nCOMP_WORDS=({words}); COMP_CWORD={len(words.split()) - 1}; _dl4py; echo ${{COMPREPLY[@]}}"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) == wanted
