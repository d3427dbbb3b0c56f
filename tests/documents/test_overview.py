"""The dense classifier of DL4J's overview of SameDiff."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff import SameDiff
from dl4py.samediff.data import DataSet, ListDataSetIterator

from .programs import run, spellings

# Inputs are multiplied from the left (printed: weights_1.mmul(input), whose sizes do not fit), and the second layer has its own weights.
PROGRAM = """
samediff = SameDiff.create()

input = samediff.placeHolder("input", DataType.FLOAT, -1, 784)

weights_1 = samediff.var(XavierInitScheme('c', 784, 100), DataType.FLOAT, 784, 100)
bias_1 = samediff.var(XavierInitScheme('c', 100), DataType.FLOAT, 100)
out_1 = samediff.nn.relu(input.mmul(weights_1).add(bias_1))

weights_2 = samediff.var(XavierInitScheme('c', 100, 10), DataType.FLOAT, 100, 10)
bias_2 = samediff.var(XavierInitScheme('c', 10), DataType.FLOAT, 10)
output = samediff.nn.softmax("output", out_1.mmul(weights_2).add(bias_2))

lables = samediff.placeHolder("lables", 10)
loss = samediff.loss.crossEntropy(output, lables)

config = (TrainingConfig.Builder()
    .l2(1e-4)
    .updater(Adam(1e-3))
    .dataSetFeatureMapping("input")
    .dataSetLabelsMapping("lables")
    .build())
samediff.setTrainingConfig(config)

samediff.fit(trainData, numEpochs)

outputVariable = "output"
evaluation = Evaluation()
samediff.evaluate(testData, outputVariable, evaluation)
print(evaluation.stats())

samediff.asFlatFile(File(modelFileName))
samediffFromFile = SameDiff.fromFlatFile(File(modelFileName))
"""


@spellings
def test_dense_classifier(spelling, tmp_path, capsys, rng):
    centres = rng.normal(size=(10, 784))
    classes = rng.integers(10, size=320)
    x, y = (centres[classes] + 0.3 * rng.normal(size=(320, 784))).astype(np.float32), np.eye(10, dtype=np.float32)[classes]
    train, test = (ListDataSetIterator(list(DataSet(x[part], y[part]).batch_by(32)), 32) for part in (slice(256), slice(256, None)))
    # a batch has another first axis than the printed lables, 10
    program = PROGRAM.replace('samediff.placeHolder("lables", 10)', 'samediff.placeHolder("lables", -1, 10)')
    made = run(program, spelling, trainData=train, testData=test, numEpochs=5, File=str, modelFileName=str(tmp_path / "sameDiffModel.fd"))
    assert made["evaluation"].accuracy() > 0.9 and "Accuracy" in capsys.readouterr().out
    found = [made[sd].outputSingle({"input": x[:5]}, "output") for sd in ("samediffFromFile", "samediff")]
    np.testing.assert_array_equal(*found)


def test_placeholders_without_a_type_are_float():
    sd = SameDiff.create()
    lables = sd.placeHolder("lables", 10)
    assert lables.get_shape() == (10,) and lables.data_type().name == "FLOAT"


@pytest.mark.parametrize("line", ["samediff.loss.crossEntropy(output, labels)", "samediff.loss.cross_entropy(output, labels)"])
def test_losses_count_by_themselves(line):
    sd = SameDiff.create()
    output, labels = sd.placeHolder("output", -1, 3), sd.placeHolder("labels", -1, 3)
    loss = eval(line, {"samediff": sd, "output": output, "labels": labels})
    assert sd.getLossVariables() == [loss.name()]
