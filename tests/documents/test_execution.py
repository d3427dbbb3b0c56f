"""Execution and inference, as DL4J's document tells it."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.data import DataSet, ListDataSetIterator
from dl4py.samediff.errors import GraphError

from .programs import run, spellings


@pytest.fixture
def sd():
    made = SameDiff.create()
    x, y = made.placeHolder("input", DataType.FLOAT, -1, 4), made.placeHolder("labels", DataType.FLOAT, -1, 3)
    w1 = made.var("w1", np.arange(20, dtype=np.float32).reshape(4, 5) / 20)
    hidden = made.nn.relu("hidden", x.mmul(w1).add(made.var("b1", DataType.FLOAT, 5)), 0)
    logits = hidden.mmul(made.var("w2", np.arange(15, dtype=np.float32).reshape(5, 3) / 15))
    made.nn.softmax("softmax", logits)
    made.loss.softmaxCrossEntropy("loss", y, logits, None)
    return made


@pytest.fixture
def feeds(rng):
    return {"input": rng.normal(size=(6, 4)).astype(np.float32), "labels": np.eye(3, dtype=np.float32)[[0, 1, 2, 2, 1, 0]]}


RUNS = """
results = sd.output(placeholders, "softmax")
predictions = results.get("softmax")

results = sd.output(placeholders, "hidden", "softmax", "loss")
hiddenActivations = results.get("hidden")
outputProbabilities = results.get("softmax")
lossValue = results.get("loss")

single = sd.outputSingle(placeholders, "softmax")

weights = sd.getVariable("w1").eval()
bias = sd.getVariable("b1").getArr()

allOutputs = sd.exec(placeholders, sd.outputs())
hiddenOut = allOutputs.get("hidden")

outputNames = sd.outputs()
allVarNames = sd.variableNames()

inferredShape = sd.getShapeForVarName("hidden")
result = sd.outputSingle(placeholders, "hidden")
actualShape = result.shape

session = InferenceSession(sd)
inSession = session.output(
    ["softmax"],
    set(),
    {"input": placeholders["input"]},
    [],
    At.defaultAt(),
    MultiDataSets.singleton(None, None)
).get("softmax")

sd.validate()
"""


@spellings
def test_ways_to_run(sd, feeds, spelling):
    made = run(RUNS, spelling, sd=sd, placeholders=feeds)
    for name in ("outputProbabilities", "single", "inSession"):
        np.testing.assert_array_equal(made[name], made["predictions"])
    np.testing.assert_array_equal(made["hiddenOut"], made["hiddenActivations"])
    np.testing.assert_array_equal(sd.get_variable("hidden").get_arr(), made["hiddenOut"])       # the graph was executed
    assert made["lossValue"].shape == () and made["weights"].shape == (4, 5) and not made["bias"].any()
    assert made["outputNames"] == ["softmax", "loss"] and "hidden" in made["allVarNames"]
    assert made["inferredShape"] == (-1, 5) and made["actualShape"] == (6, 5)


BATCHES = """
allPredictions = []
while testIter.hasNext():
    batch = testIter.next()
    pv = {"input": batch.getFeatures()}
    batchPred = sd.outputSingle(pv, "softmax")
    allPredictions.append(batchPred)

eval = Evaluation()
sd.evaluate(testIter, "softmax", 0, eval)
stats = eval.stats()
"""


@spellings
def test_batches(sd, feeds, spelling):
    data = ListDataSetIterator(list(DataSet(feeds["input"], feeds["labels"]).batch_by(2)), 2)
    run('sd.setTrainingConfig(TrainingConfig.builder().updater(Adam(1e-3)).dataSetFeatureMapping("input").dataSetLabelMapping("labels")'
        '.build())', spelling, sd=sd)
    made = run(BATCHES, spelling, sd=sd, testIter=data)
    np.testing.assert_allclose(np.vstack(made["allPredictions"]), sd.outputSingle(feeds, "softmax"), rtol=1e-6)
    assert "Accuracy" in made["stats"]


@pytest.mark.parametrize("spoil, said", [
    (lambda sd: sd.placeHolder("lonely", DataType.FLOAT, 2), "lonely"),
    (lambda sd: sd.var("alone", 2), "alone"),
])
def test_wiring_errors_are_found(sd, spoil, said):
    spoil(sd)
    with pytest.raises(GraphError, match=said):
        sd.validate()
