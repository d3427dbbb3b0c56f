"""What DL4J's document on execution promises, by the line that says it."""
from __future__ import annotations

from .promises import keep, promises

PROMISES = """
# 3 values for placeholders are needed
refused(lambda: sd.output({}, "softmax"), "input")
# 3 only what is needed is computed
equal(sd.output({"input": feeds["input"]}, "softmax")["softmax"].sum(1), [1, 1])
# 7 a session gives the same
equal(InferenceSession(sd).output(["hidden"], feeds)["hidden"], sd.outputSingle(feeds, "hidden"))
# 9 values go by names
equal(sd.output({"input": feeds["input"]}, "hidden").get("hidden"), sd.outputSingle(feeds, "hidden"))
# 11 what two outputs share is computed once
assert set(sd.output(feeds, "hidden", "softmax")) == {"hidden", "softmax"}
# 12 what comes back is what was asked for
assert list(sd.output(feeds, "softmax")) == ["softmax"]
# 28 values stand in a map
placeholders = {}
placeholders["input"] = Nd4j.create(feeds["input"])
assert sd.outputSingle(placeholders, "softmax").shape == (2, 3)
# 34 labels too, for losses
refused(lambda: sd.outputSingle({"input": feeds["input"]}, "loss"), "labels")
assert sd.outputSingle(feeds, "loss").shape == ()
# 37 variables and constants have theirs
sd.constant("k", np.ones(3, np.float32)).add("more", w.sum(0))
equal(sd.outputSingle({}, "more"), 1 + w.getArr().sum(0))
# 45 one output
assert sd.output(feeds, "softmax").get("softmax").shape == (2, 3)
# 52 several outputs
results = sd.output(feeds, "hidden", "softmax", "loss")
assert [results.get(n).shape for n in ("hidden", "softmax", "loss")] == [(2, 3), (2, 3), ()]
# 66 one output alone
predictions = sd.outputSingle(feeds, "softmax")
assert predictions.shape == (2, 3)
# 69 both are equal
equal(sd.outputSingle(feeds, "softmax"), sd.output(feeds, "softmax").get("softmax"))
# 76 values of variables without a run
equal(sd.getVariable("w").eval(), np.linspace(-1, 1, 12).reshape(4, 3))
# 77 and by getArr
assert not sd.getVariable("b").getArr().any()
# 80 eval and getArr agree for what persists
equal(w.eval(), w.getArr())
c = sd.constant("c", np.ones(2))
equal(c.eval(), c.getArr())
# 80 results have values after a run
assert hidden.getArr() is None
sd.exec(feeds, sd.outputs())
equal(hidden.getArr(), sd.outputSingle(feeds, "hidden"))
# 80 and so have placeholders; eval takes these
refused(lambda: hidden.eval(), "no value for placeholder 'input'")
sd.exec(feeds, sd.outputs())
equal(x.getArr(), feeds["input"])
equal(x.eval(), feeds["input"])
equal(hidden.eval(), hidden.getArr())
x.setArray(0 * feeds["input"])
assert not hidden.eval().any() and hidden.getArr().any()
# 84 exec runs backwards on request
values = sd.exec(feeds, sd.outputs(), backward=True)
equal(values.get("w-grad"), sd.calculateGradients(feeds, "w")["w"])
# 84 and so does execBackwards
found = sd.execBackwards(feeds)
assert {"w", "b"} <= set(found)
equal(found["b"], sd.calculateGradients(feeds, "b")["b"])
# 87 ExecResult is public
assert isinstance(ExecResult, type)
# 90 exec gives every value
allOutputs = sd.exec(feeds, sd.outputs())
assert {"hidden", "softmax", "loss"} <= set(allOutputs)
# 90 outputs by their name, and values of variables alone
assert set(sd.exec(placeholders=feeds, outputs=["softmax"])) >= {"hidden", "softmax"}
assert list(sd.output(placeholders=feeds, outputs=["softmax", "loss"])) == ["softmax", "loss"]
# 93 also of what lies between
equal(sd.exec(feeds, sd.outputs()).get("hidden"), sd.outputSingle(feeds, "hidden"))
# 106 batches one by one
testIter = batches
allPredictions = []
while testIter.hasNext():
    batch = testIter.next()
    pv = {"input": batch.getFeatures()}
    batchPred = sd.outputSingle(pv, "softmax")
    allPredictions.append(batchPred)
predictions = Nd4j.vstack(allPredictions)
assert predictions.shape == (8, 3)
# 124 evaluation by the number of the labels
sd.setTrainingConfig(config)
eval = Evaluation()
sd.evaluate(batches, "softmax", 0, eval)
assert "Accuracy" in eval.stats()
# 128 all batches count
sd.setTrainingConfig(config)
eval = Evaluation()
sd.evaluate(batches, "softmax", 0, eval)
assert eval.getConfusionMatrix().getActualTotal(0) + eval.getConfusionMatrix().getActualTotal(2) == 8
# 135 outputs are what nothing reads
assert sd.outputs() == ["softmax", "loss"]
# 141 all names
assert {"input", "w", "b", "hidden"} <= set(sd.variableNames())
# 146 shapes are inferred while the graph is built
assert tuple(x.mmul(w).getShape()) == (-1, 3)
# 156 unknown sizes are -1
assert tuple(sd.getShapeForVarName("hidden")) == (-1, 3)
# 160 results have concrete shapes
result = sd.outputSingle({"input": Nd4j.create(feeds["input"])}, "hidden")
assert result.shape == (2, 3)
# 171 a loaded graph answers requests
sd.save(folder + "/model.fb", True)
model = SameDiff.load(folder + "/model.fb", True)
pred = model.outputSingle({"input": feeds["input"]}, "softmax")
equal(pred, sd.outputSingle(feeds, "softmax"))
# 181 threads need not even take turns
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(4) as threads:
    assert len({a.tobytes() for a in threads.map(lambda k: sd.outputSingle(feeds, "softmax"), range(8))}) == 1
# 183 a graph for each thread
import threading
own = threading.local()
sd.save(folder + "/own.fb", True)
def ask(k):
    own.sd = SameDiff.load(folder + "/own.fb", True)
    return own.sd.outputSingle(feeds, "softmax").tobytes()
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(2) as threads:
    assert len(set(threads.map(ask, range(2)))) == 1
# 187 fewer outputs are fewer steps
assert len(str(sd.explain(feeds, ["hidden"]))) < len(str(sd.explain(feeds, ["softmax", "loss"])))
# 202 buffers are filled again
inputBuffer = Nd4j.create(DataType.FLOAT, 2, 4)
found = []
for k in range(2):
    inputBuffer.assign(k)
    found.append(sd.outputSingle({"input": inputBuffer}, "hidden"))
equal(found[0], np.zeros((2, 3)))
equal(found[1], np.maximum(w.getArr().sum(0), 0) * np.ones((2, 1)))
# 218 the session of the document
session = InferenceSession(sd)
placeholderValues = {"input": feeds["input"]}
requiredOutputs = ["softmax"]
requiredActivations = set()
result = session.output(
    requiredOutputs,
    requiredActivations,
    placeholderValues,
    [],
    At.defaultAt(),
    MultiDataSets.singleton(None, None)
)
softmax = result.get("softmax")
equal(softmax, sd.outputSingle(feeds, "softmax"))
# 218 and with a batch that is for listeners
found = InferenceSession(sd).output(["softmax"], set(), feeds, [], At.defaultAt(), MultiDataSets.singleton(feeds["input"], feeds["labels"]))
equal(found["softmax"], softmax.eval(feeds))
# 228 whose listeners hear of it
heard = []
class Heard(BaseListener):
    def opExecution(self, *given):
        heard.append(given)
InferenceSession(sd).output(["softmax"], set(), feeds, [Heard()], At.defaultAt(), MultiDataSets.singleton(None, None))
assert len(heard) == 4
refused(lambda: InferenceSession(sd).output("softmax", 5), "takes")
# 244 a right graph is valid
sd.validate()
# 247 what nothing reads is found
sd.placeHolder("lonely", DataType.FLOAT, 2)
refused(lambda: sd.validate(), "lonely")
# 247 sizes that do not fit are found while building
refused(lambda: x.mmul(sd.var("wrong", DataType.FLOAT, 5, 3)), "matmul")
"""


@promises("execution", PROMISES)
def test_promise(program, spelling, tmp_path):
    keep(program, spelling, folder=str(tmp_path), tag=spelling)
