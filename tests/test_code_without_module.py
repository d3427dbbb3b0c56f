"""Plug-ins of every kind in code that is no module: cells of notebooks, ``exec``, lost modules, frozen code, functions."""
from __future__ import annotations

import sys

import pytest

from dl4py.samediff.base.home import module_of

PLUG_INS = '''
from __future__ import annotations

import enum
import numpy as np
from dl4py.layers import *
from dl4py.networks import ComputationGraph, MultiLayerNetwork, NeuralNetConfiguration
from dl4py.samediff import DataType, Evaluation, SameDiff
from dl4py.samediff.configuration.declaring import configuration
from dl4py.samediff.errors import ShapeError
from dl4py.samediff.onnx import onnx_converter
from dl4py.samediff.training import RatedUpdater, Schedule
from dl4py.udf import UserDefinedCustomOp, UserDefinedOp, UserOp, user_op


class Mode(enum.Enum):
    SOFT = 1
    HARD = 2


@user_op("nowhere.squeezed")
def squeezed(xp, x, *, mode: Mode = Mode.SOFT, places: tuple[int, ...] = (1, 2)):
    return xp.tanh(x) if mode is Mode.SOFT else xp.clip(x, -1, 1)

@user_op("nowhere.limited")
class Limited(UserOp):
    limit: float = 1.0
    mode: Mode = Mode.SOFT

    def compute(self, xp, x):
        return xp.clip(x, -self.limit, self.limit) if self.mode is Mode.HARD else x * 1

@UserDefinedOp
class Doubled(UserDefinedCustomOp):
    def opName(self):
        return "nowhere_doubled"

    def calculateOutputShape(self, oc):
        return [oc.input_array(0).shape]

    def exec(self, inputs, outputs):
        outputs[0][...] = inputs[0] * 2

@onnx_converter("Squeezed", domain="nowhere", replace=True)
def converted(node, x):
    return x

@layer("nowhere.Scaled")
class Scaled(FeedForwardLayer):
    weight_names = ("W",)
    mode: Mode = Mode.SOFT
    sizes: tuple[int, ...] = (1,)
    act: IActivation | None = None
    follower: Scaled | None = None

    def define_parameters(self, params):
        params.weight("W", (self.n_in, self.n_out), fan_in=self.n_in, fan_out=self.n_out)

    def define_layer(self, sd, x, params, mask):
        return squeezed(x.mmul(params["W"]), mode=self.mode)

@layer("nowhere.Javaish")
class Javaish(SameDiffLayer):
    mode: Mode = Mode.SOFT
    size: int = 0

    def setNIn(self, input_type, override):
        self.size = input_type.size

    def defineParameters(self, params):
        params.add_weight_param("W", self.size, self.size)

    def getOutputType(self, layer_index, input_type):
        return input_type

    def defineLayer(self, sd, x, params, mask):
        return x + sd.nn.tanh(x.mmul(params["W"]))

@layer("nowhere.Twice")
class Twice(ContainerLayer):
    inner_layer: Layer
    mode: Mode = Mode.SOFT

@lambda_layer("nowhere.squash")
def squash(sd, x, *, mode: Mode = Mode.SOFT):
    return sd.nn.tanh(x)

@lambda_vertex("nowhere.product")
def product(sd, a, b, *, mode: Mode = Mode.SOFT):
    return a * b

@vertex("nowhere.Bilinear")
class Bilinear(SameDiffVertex):
    n: int = 0
    mode: Mode = Mode.SOFT

    def define_parameters_and_inputs(self, params):
        params.define_inputs("a", "b")
        params.add_weight_param("W", self.n, self.n)

    def define_vertex(self, sd, inputs, param_table, masks):
        return inputs["a"].mmul(param_table["W"]) * inputs["b"]

@configuration("nowhere.Act")
class Act(IActivation):
    mode: Mode = Mode.SOFT

    def define(self, sd, x):
        return sd.nowhere.squeezed(x, mode=self.mode)

@loss("nowhere.LogCosh")
class LogCosh(SameDiffLoss):
    mode: Mode = Mode.SOFT

    def define_loss(self, sd, layer_input, labels):
        return sd.math.log(sd.math.cosh(labels - layer_input)).sum(1)

@configuration("nowhere.WarmUp")
class WarmUp(Schedule):
    top: float
    mode: Mode = Mode.SOFT

    def value_at(self, iteration, epoch):
        return self.top

@configuration("nowhere.Signs")
class Signs(RatedUpdater):
    learning_rate: float | Schedule = 1e-3
    learning_rate_schedule: Schedule | None = None
    mode: Mode = Mode.SOFT

    def step(self, xp, gradient, state, hyper):
        return hyper[0] * xp.sign(gradient), ()

@configuration("nowhere.Noise")
class Noise(IDropout):
    mode: Mode = Mode.SOFT

    def draw(self, rng, shape, dtype, iteration, epoch):
        return rng.normal(1, 0.1, shape).astype(dtype), None

@configuration("nowhere.Ones")
class Ones(IWeightInit):
    mode: Mode = Mode.SOFT

    def init(self, rng, fan_in, fan_out, shape, order="f", dtype=DataType.FLOAT):
        return np.ones(shape, np.float32)

@configuration("nowhere.Bounded")
class Bounded(LayerConstraint):
    mode: Mode = Mode.SOFT

    def constrained(self, xp, param):
        return xp.clip(param, -1, 1)

@configuration("nowhere.Flat")
class Flat(InputPreProcessor):
    mode: Mode = Mode.SOFT

    def pre_process(self, array, minibatch):
        return array.reshape(minibatch, -1)

    def output_type(self, input_type):
        return InputType.feed_forward(input_type.array_elements_per_example())

class Counted(Evaluation, name="nowhere.Counted"):
    pass


def again(net, *x):
    net.save(FOLDER / "net.zip")
    copy = type(net).load(FOLDER / "net.zip")
    np.testing.assert_array_equal(copy.output(*x), net.output(*x))


CONFIGURED = [Scaled(n_out=2, mode="hard", sizes=[3], act="relu"), Javaish(mode="hard"),
              Twice(inner_layer=DenseLayer(n_out=2), mode="hard"), squash(mode="hard"), product(mode="hard"), Bilinear(mode="hard"),
              Act(mode="hard"), LogCosh(mode="hard"),
              WarmUp(0.1, mode="hard"), Signs(mode="hard"), Noise(mode="hard"), Ones(mode="hard"), Bounded(mode="hard"), Flat(mode="hard")]
for each in CONFIGURED:
    assert each.mode is Mode.HARD, each
    assert type(each).from_json(each.to_json()) == each and Mode.HARD is type(each).from_json(each.to_json()).mode
assert isinstance(CONFIGURED[0].act, IActivation) and CONFIGURED[0].replace(follower=CONFIGURED[0]).follower == CONFIGURED[0]

x = np.linspace(-2, 2, 6).reshape(2, 3)
sd = SameDiff.create()
v = sd.var("v", x)
squeezed("a", v, mode="HARD")
Limited(limit=0.5, mode="HARD")(v, name="b")
sd.do_udf(Doubled(sd, [v]))[0].rename("c")
path = FOLDER / "graph.fb"
sd.save(path)
for name, value in SameDiff.load(path).output({}, ["a", "b", "c"]).items():
    np.testing.assert_allclose(value, {"a": x.clip(-1, 1), "b": x.clip(-0.5, 0.5), "c": 2 * x}[name])

list_ = NeuralNetConfiguration.Builder().seed(1).updater(Signs(WarmUp(0.1))).list()
for each in (Scaled(n_in=3, n_out=3, dropout=Noise(), constraints=[Bounded()], weight_init=Ones()), Javaish(),
             Twice(inner_layer=DenseLayer(n_out=3)), squash(), OutputLayer(n_out=2, activation=Act(), loss_function=LogCosh())):
    list_.layer(each)
net = MultiLayerNetwork(list_.input_pre_processor(0, Flat()).set_input_type(InputType.recurrent(1, 3)).build()).init()
net.fit(x.reshape(2, 1, 3), np.eye(2))
again(net, x.reshape(2, 1, 3))

graph = ComputationGraph(NeuralNetConfiguration.Builder().graph_builder().add_inputs("l", "r").add_vertex("p", product(), "l", "r")
                         .add_vertex("b", Bilinear(n=3), "p", "r").add_layer("out", OutputLayer(n_in=3, n_out=2, loss="mse"), "b")
                         .set_outputs("out").build()).init()
again(graph, x, x)
assert type(Counted.from_json(Counted().to_json())) is Counted

try:
    v + sd.var("w", np.ones(4))
except ShapeError as error:
    SAID = str(error)
'''

#: The file that the code says it is from, and what it finds as its globals.
WAYS = {
    "cell": ("<ipython-input-3-8a>", {"__name__": "__main__"}),
    "no name": ("<string>", {}),
    "nobody's module": ("/gone/away.py", {"__name__": "away.nobodys"}),
    "frozen": ("<frozen parts>", {"__name__": "parts"}),
}


def plug_ins(prefix):
    """The code, whose names in registries have a part of their own in front."""
    return PLUG_INS.replace("nowhere", prefix)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("way", WAYS)
def test_plug_ins_of_every_kind(way, tmp_path):
    file, space = WAYS[way]
    space = {**space, "FOLDER": tmp_path}
    exec(compile(plug_ins(f"nowhere{list(WAYS).index(way)}"), file, "exec"), space)
    assert f"(at {file}:" in space["SAID"]
    assert {module_of(type(c)) for c in space["CONFIGURED"]} == {"__main__"}


def test_plug_ins_of_a_function(tmp_path):
    """Names in annotations are those of the function, which is over when somebody reads them."""
    body = [line for line in plug_ins("nowhere_made").splitlines()[3:] if "import *" not in line]
    lines = ["def made(FOLDER):", *("    " + line for line in body), "    return locals()"]
    space = {"__name__": __name__}
    exec("from __future__ import annotations\nfrom dl4py.layers import *\n" + "\n".join(lines), space)
    assert {type(c).__module__ for c in space["made"](tmp_path)["CONFIGURED"]} == {__name__}
    assert __name__ in sys.modules
