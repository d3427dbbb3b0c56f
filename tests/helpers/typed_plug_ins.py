"""Plug-ins of every documented kind with all types written: what ``mypy --strict`` must accept, and a program that runs."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from dl4py.layers import (
    BaseLayer,
    ContainerLayer,
    DenseLayer,
    FeedForwardLayer,
    IActivation,
    IDropout,
    InputPreProcessor,
    InputType,
    IWeightInit,
    Layer,
    LayerConstraint,
    OutputLayer,
    RnnOutputLayer,
    SameDiffLambdaVertex,
    SameDiffLoss,
    SameDiffVertex,
    VertexInputs,
    at_work,
    check_constraint,
    check_evaluation,
    check_initialiser,
    check_layer,
    check_preprocessor,
    check_updater,
    check_vertex,
    lambda_layer,
    lambda_vertex,
    layer,
    loss,
    vertex,
)
from dl4py.samediff import DataType, SameDiff, SDVariable
from dl4py.samediff.configuration.declaring import configuration
from dl4py.samediff.evaluation import BaseEvaluation
from dl4py.samediff.training import Listener, RatedUpdater, Schedule
from dl4py.udf import (
    LongShapeDescriptor,
    OpContext,
    RunContext,
    UserDefinedCustomOp,
    UserOp,
    check_op,
    user_defined_op,
    user_op,
    vectorized,
)

Array = NDArray[Any]


@user_op("strict.swish", version=1)
def swish(xp: Any, x: Any, *, beta: float = 1.0) -> Any:
    return x / (1 + xp.exp(-beta * x))


@user_op("strict.jitter", stateful=True)
def jitter(xp: Any, x: Any, *, context: RunContext, scale: float = 0.1) -> Any:
    return x + scale * context.random().normal(size=x.shape) if context.training else x * 1


def fill(x: Array, y: Array) -> None:
    y[...] = x


@user_op("strict.copied", numba=fill, grad=lambda inputs, outputs, grads: [grads[0]])
def copied(xp: Any, x: Any) -> Any:
    return x * 1


@user_op("strict.clipped_sum", version=2)
class ClippedSum(UserOp):
    limit: float = 1.0

    def compute(self, xp: Any, x: Any, y: Any) -> Any:
        return self.limit * xp.tanh((x + y) / self.limit)

    def validate(self) -> None:
        if self.limit <= 0:
            raise ValueError("limit must be positive")

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        slope = 1 - (outputs[0] / self.limit) ** 2
        return [output_grads[0] * slope, None]

    @classmethod
    def upgrade(cls, attributes: dict[str, Any], version: int) -> dict[str, Any]:
        return {"limit": attributes["bound"]} if version == 1 else attributes


sd = SameDiff.create()
x = sd.placeholder("x", DataType.FLOAT, -1, 3)
y: SDVariable = swish("y", x, beta=2.0)
print(swish(np.ones(3), beta=2.0), vectorized(swish)(np.ones((2, 3))))
check_op(swish, [np.linspace(-2, 2, 6)], {"beta": 2.0}, shapes=[[(5,)], [(1, 2, 3)]]).raise_if_failed()
check_op(ClippedSum(limit=2.0), [np.array([0.5]), np.array([1.0])])


@user_defined_op
class ScaledUdf(UserDefinedCustomOp):
    def __init__(self, same_diff: SameDiff | None = None, args: Sequence[SDVariable] = (), scale: float = 1.0) -> None:
        super().__init__(same_diff, args)
        self.scale = scale

    def op_name(self) -> str:
        return "strict_udf"

    def calculate_output_shape(self, oc: OpContext) -> list[LongShapeDescriptor]:
        a = oc.get_input_array(0)
        return [LongShapeDescriptor.from_shape(a.shape, a.dtype)]

    def exec(self, oc: OpContext) -> None:
        oc.get_output_array(0)[...] = oc.get_input_array(0) * self.scale

    def do_diff(self, grads: list[SDVariable]) -> list[SDVariable]:
        return [grads[0].mul(self.scale)]

    def properties_for_function(self) -> dict[str, Any]:
        return {"scale": self.scale}

    def set_properties_for_function(self, properties: dict[str, Any]) -> None:
        self.scale = properties["scale"]


@layer("strict.ScaledDense")
class ScaledDense(FeedForwardLayer):
    weight_names = ("W",)
    bias_names = ("b",)
    version = 2
    scale: float = 1.0

    def define_parameters(self, params: Any) -> None:
        params.weight("W", (self.n_in, self.n_out), fan_in=self.n_in, fan_out=self.n_out)
        params.bias("b", (1, self.n_out))

    def define_layer(self, sd: SameDiff, x: SDVariable, params: Any, mask: SDVariable | None) -> SDVariable:
        return sd.nn.tanh((x.mmul(params["W"]) + params["b"]) * self.scale)

    def output_type(self, input_type: InputType) -> InputType:
        return InputType.feed_forward(self.n_out)

    @at_work
    def product(self, net: Any, x: Array) -> Any:
        return net.run(self.define_product, x)

    def define_product(self, sd: SameDiff, x: SDVariable, params: Any) -> SDVariable:
        return x.mmul(params["W"])

    @classmethod
    def upgrade(cls, document: dict[str, Any], version: int) -> dict[str, Any]:
        return document


check_layer(ScaledDense(n_out=5, scale=0.5), InputType.feed_forward(3)).raise_if_failed()
ScaledDense.Builder().nOut(5).scale(0.5).build()


@layer("strict.Residual")
class Residual(ContainerLayer):
    first: Layer
    second: Layer

    def wire(self, input_type: InputType, through: Any) -> Any:
        return through("second", through("first", input_type))

    def define_layer(self, sd: SameDiff, x: SDVariable, params: Any, mask: SDVariable | None) -> SDVariable:
        return x + self.inner("second", sd, self.inner("first", sd, x, params, mask), params, mask)


@lambda_layer("strict.Squash")
def squash(sd: SameDiff, x: SDVariable, *, scale: float = 1.0) -> SDVariable:
    return sd.nn.tanh(x * scale)


@lambda_vertex("strict.Product")
def product(sd: SameDiff, a: SDVariable, b: SDVariable) -> SDVariable:
    return a * b


check_layer(squash(scale=2.0), InputType.feed_forward(4)).raise_if_failed()
product()


@vertex("strict.Difference")
class Difference(SameDiffLambdaVertex):
    def define_vertex(self, sd: SameDiff, inputs: VertexInputs) -> SDVariable:
        return inputs.get_input(0) - inputs.get_input(1)

    def get_output_type(self, layer_index: int, *input_types: InputType) -> InputType:
        return input_types[0]


@vertex("strict.Bilinear")
class Bilinear(SameDiffVertex):
    n: int = 0

    def define_parameters_and_inputs(self, params: Any) -> None:
        params.define_inputs("a", "b")
        params.add_weight_param("W", self.n, self.n)

    def define_vertex(self, sd: SameDiff, inputs: Mapping[str, SDVariable], param_table: Mapping[str, SDVariable],
                      masks: Mapping[str, SDVariable]) -> SDVariable:
        return inputs["a"].mmul(param_table["W"]) * inputs["b"]


@configuration("strict.ActivationSwish")
class ActivationStrictSwish(IActivation):
    beta: float = 1.0

    def define(self, sd: SameDiff, x: SDVariable) -> SDVariable:
        y: SDVariable = swish(x, beta=self.beta)
        return y


@loss("strict.LogCosh")
class LogCosh(SameDiffLoss):
    def define_loss(self, sd: SameDiff, layer_input: SDVariable, labels: SDVariable) -> SDVariable:
        return sd.math.log(sd.math.cosh(labels - layer_input)).sum(1)


OutputLayer(n_in=3, n_out=2, activation=ActivationStrictSwish(beta=2.0), loss_function=LogCosh())


@configuration("strict.SignSgd")
class SignSgd(RatedUpdater):
    state_names = ("M",)
    learning_rate: float | Schedule = 1e-3
    learning_rate_schedule: Schedule | None = None
    decay: float = 0.9

    def before_step(self, xp: Any, param: Any, gradient: Any) -> Any:
        return gradient

    def step(self, xp: Any, gradient: Any, state: Sequence[Any], hyper: Sequence[Any]) -> tuple[Any, tuple[Any, ...]]:
        (m,), (rate,) = state, hyper
        m = self.decay * m + (1 - self.decay) * gradient
        return rate * xp.sign(m), (m,)


@configuration("strict.WarmUp")
class WarmUp(Schedule):
    top: float
    steps: int

    def value_at(self, iteration: int, epoch: int) -> float:
        return self.top * min(1.0, (iteration + 1) / self.steps)


@configuration("strict.ScaleNoise")
class ScaleNoise(IDropout):
    deviation: float = 0.1

    def draw(self, rng: np.random.Generator, shape: tuple[int, ...], dtype: Any, iteration: int, epoch: int) -> tuple[Array, Array | None]:
        return rng.normal(1, self.deviation, shape).astype(dtype), None


@configuration("strict.Orthant")
class Orthant(IWeightInit):
    def init(self, rng: Any, fan_in: float, fan_out: float, shape: Sequence[int], order: str = "f",
             dtype: DataType = DataType.FLOAT) -> Any:
        return np.abs(rng.normal(shape, 0.0, fan_in ** -0.5, dtype, order))


@configuration("strict.Clipped")
class Clipped(LayerConstraint):
    limit: float = 1.0

    def constrained(self, xp: Any, param: Any) -> Any:
        return xp.clip(param, -self.limit, self.limit)


@configuration("strict.Flat")
class Flat(InputPreProcessor):
    def pre_process(self, array: Array, minibatch: int) -> Array:
        return array.reshape(minibatch, -1)

    def output_type(self, input_type: InputType) -> InputType:
        return InputType.feed_forward(input_type.array_elements_per_example())


SignSgd(WarmUp(top=0.01, steps=10))
check_updater(SignSgd(0.01)).raise_if_failed()
check_initialiser(Orthant()).raise_if_failed()
check_constraint(Clipped(0.5)).raise_if_failed()
check_preprocessor(Flat(), InputType.convolutional(2, 3, 4)).raise_if_failed()
check_vertex(Difference(), InputType.feed_forward(3), InputType.feed_forward(3)).raise_if_failed()
check_layer(Residual(first=DenseLayer(n_out=8, activation="tanh"), second=DenseLayer(n_out=4, activation="tanh")),
            InputType.feed_forward(4)).raise_if_failed()


@user_op("strict.unit", saved=1, grad=lambda xp, inputs, outputs, grads: [grads[0] / outputs[1]])
def unit(xp: Any, x: Any) -> Any:
    length = xp.sqrt((x * x).sum())
    return x / length, length


@user_op("strict.pick")
def pick(xp: Any, batch: Any, running: Any, *, training: bool) -> Any:
    return batch * 1 if training else running * 1


@layer("strict.Centre")
class Centre(FeedForwardLayer):
    momentum: float = 0.9

    def define_parameters(self, params: Any) -> None:
        params.statistic("mean", (1, self.n_in))

    def output_type(self, input_type: InputType) -> InputType:
        return input_type

    def define_layer(self, sd: SameDiff, x: SDVariable, params: Any, mask: SDVariable | None) -> SDVariable:
        mean = x.mean(True, 0)
        params.move("mean", (params["mean"] - sd.stop_gradient(mean)) * (1 - self.momentum))
        params.penalty((x * x).mean())
        y: SDVariable = x - pick(mean, params["mean"])
        return y

    def feed_forward_mask(self, sd: SameDiff, mask: SDVariable | None, x: SDVariable) -> SDVariable | None:
        return mask


@layer("strict.Leaky")
class Leaky(BaseLayer):
    n_in: int = 0
    decay: float = 0.5

    def set_n_in(self, input_type: InputType, override: bool = True) -> Self:
        return self.replace(n_in=input_type.array_shape()[1]) if override or self.n_in <= 0 else self

    def output_type(self, input_type: InputType) -> InputType:
        return input_type

    def define_layer(self, sd: SameDiff, x: SDVariable, params: Any, mask: SDVariable | None) -> SDVariable:
        def step(sd: SameDiff, carries: Sequence[SDVariable], elements: Sequence[SDVariable]) -> tuple[list[SDVariable], list[SDVariable]]:
            h = carries[0] * self.decay + elements[0]
            return [h], [h]
        (last,), (found,) = sd.scan(step, [params.state("h", x, self.n_in)], [x.permute(2, 0, 1)])
        params.keep_state("h", last)
        return found.permute(1, 2, 0)


@layer("strict.CosineOutput")
class CosineOutput(RnnOutputLayer):
    def pre_output(self, sd: SameDiff, x: SDVariable, params: Any) -> SDVariable:
        return x.mmul(params["W"]) * 5.0


@lambda_layer("strict.Halved", output_type=lambda input_type: InputType.feed_forward(2))
def halved(sd: SameDiff, x: SDVariable) -> SDVariable:
    return x[:, :2]


@configuration("strict.Lars")
class Lars(RatedUpdater):
    learning_rate: float = 0.1

    def after_step(self, xp: Any, param: Any, update: Any) -> Any:
        return update * xp.sqrt((param * param).sum())

    def step(self, xp: Any, gradient: Any, state: Sequence[Any], hyper: Sequence[Any]) -> tuple[Any, tuple[Any, ...]]:
        return hyper[0] * gradient, ()


class Brier(BaseEvaluation, name="strict.Brier"):
    def __init__(self) -> None:
        self.total, self.rows = 0.0, 0

    def count(self, rows: Any) -> None:
        self.total += float(((rows.labels - rows.predictions) ** 2).sum())
        self.rows += len(rows.labels)

    def join(self, other: Self) -> None:
        self.total, self.rows = self.total + other.total, self.rows + other.rows

    def reset(self) -> None:
        self.total, self.rows = 0.0, 0

    def stats(self) -> str:
        return f"Brier score {self.total / max(self.rows, 1):.4f} of {self.rows} rows"


class Scores(Listener):
    def __init__(self) -> None:
        self.scores: list[float] = []

    def iteration_done(self, model: Any, iteration: int, epoch: int) -> None:
        self.scores.append(model.score())

    def on_epoch_end(self, model: Any) -> None:
        print(len(self.scores))


check_evaluation(Brier(), np.eye(2)[[0, 1, 1, 0]], np.full((4, 2), 0.5)).raise_if_failed()
print(unit(np.ones(3)), halved(), Centre(), Leaky(), CosineOutput(n_out=2), Lars(), Scores().scores)
