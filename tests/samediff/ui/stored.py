"""Records of made-up trainings."""
from __future__ import annotations

import base64
import math

import numpy as np

from dl4py.samediff.drawing.images import png, tiles
from dl4py.samediff.training.listeners.stats import summary_of
from dl4py.samediff.training.tracking.evaluated import evaluated

GRAPH = {"title": "net", "nodes": [
    {"name": "input", "kind": "input", "inputs": [], "shape": "(?, 4)", "details": {}},
    {"name": "0", "kind": "DenseLayer", "inputs": ["input"], "shape": "(?, 8)", "details": {"activation": "RELU"}},
    {"name": "1", "kind": "OutputLayer", "inputs": ["0"], "shape": "(?, 3)", "details": {"loss": "<b>MCXENT</b>"}}]}


def record(iteration, session="first", score=None):
    """An iteration in which everything was recorded."""
    rng = np.random.default_rng(iteration)
    arrays = {"0_W": rng.normal(size=(4, 8)), "1_W": rng.normal(size=(8, 3))}
    made = {"session": session, "iteration": iteration, "epoch": iteration // 10, "time": 1000.0 + iteration, "iteration_ms": 8.0,
            "etl_ms": 2, "recording_ms": 0.5, "examples": 32, "memory_mb": 300.0 + iteration,
            "cpu_seconds": 1.5 * iteration, "learning_rate": 0.01,
            "score": 2.0 * math.exp(-iteration / 20) if score is None else score,
            "parameters": {n: summary_of(a, 10) for n, a in arrays.items()},
            "gradients": {n: summary_of(a / 10, 10) for n, a in arrays.items()},
            "updates": {n: summary_of(a / 1000, 10) for n, a in arrays.items()},
            "activations": {"0": summary_of(arrays["0_W"], 0)}}
    if iteration == 0:
        made["run"] = {"model": "MultiLayerNetwork", "graph": GRAPH, "hyperparameters": {"updater": "Adam", "learning_rate": 0.01},
                       "environment": {"python": "3.11", "cores": 2}}
    return made


def looked(iteration, session="first"):
    """The end of an epoch."""
    rng = np.random.default_rng(7)
    labels = np.eye(3)[np.arange(30) % 3]
    chances = np.exp(2 * labels + rng.normal(size=(30, 3)) * (1 + 10 / (iteration + 1)))
    picture = base64.b64encode(png(tiles(rng.random((4, 8, 8))))).decode()
    return {"session": session, "iteration": iteration, "epoch": iteration // 10, "time": 1000.0 + iteration,
            "evaluation": evaluated(labels, chances / chances.sum(1, keepdims=True), ["cat", "dog", "<i>owl</i>"]),
            "embedding": {"layer": "0", "method": "pca", "points": rng.normal(size=(30, 2)).round(3).tolist(), "labels": [0, 1, 2] * 10,
                          "names": ["cat", "dog", "<i>owl</i>"]},
            "pictures": {"filters 0_W": picture}}
