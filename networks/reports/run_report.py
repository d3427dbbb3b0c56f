"""Reports of trained networks: one page with everything that somebody else needs to judge and repeat a training."""
from __future__ import annotations

import base64
import time
from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

from ...samediff.data import DataSet
from ...samediff.drawing.figures import figure_of, lines, svg
from ...samediff.drawing.images import as_pictures, data_uri, png
from ...samediff.drawing.pages import asset, page, script_data
from ...samediff.errors import DL4PyError, GraphError
from ...samediff.evaluation import Evaluation, EvaluationCalibration, RegressionEvaluation, ROCMultiClass
from ...samediff.text.html import html_table, html_text
from ...samediff.training import plot_stats
from ...samediff.training.listeners.stats_run import environment, hyperparameters_of
from ...samediff.training.tracking.evaluated import is_classes

#: Examples with the largest losses that are shown, and examples that are looked at together.
WORST, TOGETHER = 24, 256


def report_of(network: Any, data: DataSet | None = None, stats: Any = None, names: Sequence[str] | None = None, worst: int = WORST) -> str:
    """The page as text; see :meth:`MultiLayerNetwork.report`."""
    body = [_overview(network), _model(network), _curves(network, stats)]
    if data is not None:
        body += [*_evaluation(network, data, names, worst)]
    body += [_environment(), _again(network)]
    return page(f"{type(network).__name__}: report of {time.strftime('%Y-%m-%d %H:%M')}", "".join(body))


def _part(title: str, *inside: str) -> str:
    return f"<section><h2>{escape(title)}</h2>{''.join(inside)}</section>"


def _figure(figure: Any) -> str:
    return f'<div class="figure">{svg(figure)}</div>'


def _overview(network: Any) -> str:
    facts = {"iterations": network.get_iteration_count(), "epochs": network.get_epoch_count(), "score of the last step": network.score(),
             **hyperparameters_of(network)}
    return _part("Overview", html_table("", ["what", "value"], facts.items()))


def _model(network: Any) -> str:
    drawn = (f'<div id="graph" class="graph"></div>{script_data("drawing", network.drawing().to_document())}<script>{asset("graph.js")}\n'
             "showGraph(document.getElementById('graph'), JSON.parse(document.getElementById('drawing').textContent));</script>")
    return _part("Model", html_text("Summary", network.summary()).replace("<details open>", "<details>"), drawn)


def _curves(network: Any, stats: Any) -> str:
    parts = []
    if stats is not None:
        parts.append(_figure(plot_stats(stats)))
    if network.history:
        parts.append(_figure(network.history.plot()))
    nothing = "<p>Nothing was recorded: fit for epochs, or give the stats of a StatsListener.</p>"
    return _part("Curves", *(parts or [nothing]))


def _evaluation(network: Any, data: DataSet, names: Sequence[str] | None, worst: int) -> list[str]:
    if len(network.structure.inputs) != 1 or len(network.structure.outputs) != 1:
        raise GraphError(f"a report evaluates networks with one input and one output; this one has {len(network.structure.inputs)} and "
                         f"{len(network.structure.outputs)}: leave the data out")
    found: Any = network.output(np.asarray(data.features), batch_size=TOGETHER)
    outputs = np.asarray(found[0] if isinstance(found, list) else found)
    labels = np.asarray(data.labels)
    if labels.ndim == 2 and labels.shape[1] > 1 and is_classes(labels):
        found, roc, table = Evaluation(*([list(names)] if names else [])), ROCMultiClass(100, labels=names), EvaluationCalibration()
        for one in (found, roc, table):
            one.eval(labels, outputs)
        shown = [_figure(e.plot()) for e in (found, roc, table)]
        classes = list(names or map(str, range(labels.shape[1])))
        told = [(classes[t.argmax()], f"{classes[p.argmax()]} ({p.max():.3g})") for t, p in zip(labels, outputs)]
    else:
        found = RegressionEvaluation()
        found.eval(labels, outputs)
        shown = [_figure(found.plot()), _figure(figure_of([lines(
            "predictions", {"": (labels.reshape(-1)[:1000], outputs.reshape(-1)[:1000])}, "label", "prediction")], size=(5, 4)))]
        told = [(_short(t), _short(p)) for t, p in zip(labels, outputs)]
    numbers = html_text("Numbers", found.stats())
    return [_part(f"Evaluation of {len(labels):,} examples", *shown, numbers), _worst(network, data, told, worst)]


def _short(values: Any) -> str:
    flat = np.asarray(values).reshape(-1)
    return ", ".join(f"{v:.4g}" for v in flat[:6]) + (" …" if flat.size > 6 else "")


def _worst(network: Any, data: DataSet, told: Sequence[tuple[str, str]], worst: int) -> str:
    try:
        losses = np.asarray(network.score_examples(data)).reshape(-1)
    except DL4PyError as error:         # a loss that has no value for each example
        return _part("Worst examples", f"<p>{escape(str(error))}</p>")
    order = np.argsort(-np.nan_to_num(losses, nan=np.inf), kind="stable")[:worst]
    features = np.asarray(data.features)
    if features.ndim == 4:
        figures = [_example(features[i], i, losses[i], *told[i]) for i in order]
        return _part("Worst examples", *figures)
    rows = [[int(i), float(losses[i]), *told[i], _short(features[i])] for i in order]
    return _part("Worst examples", html_table("", ["example", "loss", "label", "prediction", "features"], rows))


def _example(pixels: Any, number: int, loss: float, label: str, prediction: str) -> str:
    drawn = as_pictures(pixels[None])
    picture = f'<img alt="example {number}" src="{data_uri(png(drawn))}" width="120">' if drawn is not None else ""
    return (f"<figure>{picture}<figcaption>example {number}, loss {loss:.4g}<br>label {escape(label)}<br>"
            f"prediction {escape(prediction)}</figcaption></figure>")


def _environment() -> str:
    return _part("Environment", html_table("", ["what", "value"], environment().items()))


def _again(network: Any) -> str:
    """How to make the same network once more."""
    configuration, kind = network.get_configuration(), type(network).__name__
    text = configuration.to_json()
    link = f"data:application/json;base64,{base64.b64encode(text.encode('utf-8')).decode('ascii')}"
    versions = " ".join(f"{n}=={v}" for n, v in environment().items() if n in ("numpy", "numba"))
    steps = f"""pip install dl4py {versions}
python - <<'END'
from dl4py import {kind}, {type(configuration).__name__}

with open("configuration.json", encoding="utf-8") as stream:
    net = {kind}({type(configuration).__name__}.from_json(stream.read())).init()
net.fit(...)        # the same data in the same order: seeds and updaters are part of the configuration
END"""
    return _part("How to repeat it", f'<p>Save <a download="configuration.json" href="{link}">configuration.json</a>, then:</p>',
                 f"<pre>{escape(steps)}</pre>", html_text("configuration.json", text).replace("<details open>", "<details>"))


def checked(data: Any) -> DataSet | None:
    """The data set that a report evaluates."""
    if data is None or isinstance(data, DataSet):
        return data
    if isinstance(data, tuple) and len(data) == 2:
        return DataSet(*data)
    raise GraphError(f"a report evaluates a DataSet or (features, labels); got {data!r:.60}")
