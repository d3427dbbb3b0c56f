"""Layers, vertices and other plug-ins as users write them, for the tests of custom layers."""
from __future__ import annotations

import numpy as np

from dl4py.layers import (
    Activation,
    FeedForwardLayer,
    IActivation,
    InputPreProcessor,
    InputType,
    SameDiffLambdaLayer,
    SameDiffLambdaVertex,
    SameDiffLayer,
    SameDiffOutputLayer,
    SameDiffVertex,
    WeightInit,
    activation,
    layer,
    vertex,
)
from dl4py.samediff.configuration.declaring import configuration
from dl4py.samediff.ops.conv.cnn_configuration import Conv2DConfig
from dl4py.samediff.training.updaters.updaters import RatedUpdater


@layer("tests.Dense")
class Dense(SameDiffLayer):
    """activation(x W + b), its parameters in DL4J's order of a dense layer."""

    n_in: int = 0
    n_out: int = 0
    activation: IActivation | None = None

    def set_n_in(self, input_type, override):
        if self.n_in <= 0 or override:
            self.n_in = input_type.size

    def define_parameters(self, params):
        params.clear()
        params.add_weight_param("W", self.n_in, self.n_out)
        params.add_bias_param("b", 1, self.n_out)

    def initialize_parameters(self, params):
        params["b"][...] = 0
        self.init_weights(self.n_in, self.n_out, WeightInit.XAVIER, params["W"])

    def param_reshape_order(self, param):
        return "f"

    def apply_global_config_to_layer(self, given):
        if self.activation is None:
            self.activation = given.activation

    def get_output_type(self, layer_index, input_type):
        return InputType.feed_forward(self.n_out)

    def define_layer(self, sd, layer_input, param_table, mask):
        return self.activation.define(sd, layer_input.mmul("mmul", param_table["W"]).add("z", param_table["b"]))


@layer("tests.JavaDense")
class JavaDense(SameDiffLayer):
    """The same with Java's names of the methods."""

    nIn: int = 0
    nOut: int = 0

    def defineParameters(self, params):
        params.clear()
        params.addWeightParam("W", self.nIn, self.nOut)
        params.addBiasParam("b", 1, self.nOut)

    def initializeParameters(self, params):
        params.get("b")[...] = 0
        self.initWeights(self.nIn, self.nOut, self.weightInit, params.get("W"))

    def getOutputType(self, layerIndex, inputType):
        return InputType.feedForward(self.nOut)

    def defineLayer(self, sd, layerInput, paramTable, mask):
        return sd.nn.tanh(layerInput.mmul(paramTable.get("W")).add(paramTable.get("b")))


@layer("tests.Conv")
class Conv(SameDiffLayer):
    """activation(convolution + b) of images, weights [kH, kW, nIn, nOut]."""

    n_in: int = 0
    n_out: int = 0
    kernel: tuple[int, ...] = (2, 2)
    stride: tuple[int, ...] = (1, 1)
    dilation: tuple[int, ...] = (1, 1)
    same: bool = False
    has_bias: bool = True
    activation: IActivation = Activation.TANH.get_activation_function()

    def define_parameters(self, params):
        params.clear()
        params.add_weight_param("W", *self.kernel, self.n_in, self.n_out)
        if self.has_bias:
            params.add_bias_param("b", 1, self.n_out)

    def get_output_type(self, layer_index, input_type):
        return None

    def define_layer(self, sd, layer_input, param_table, mask):
        config = Conv2DConfig(k_h=self.kernel[0], k_w=self.kernel[1], s_h=self.stride[0], s_w=self.stride[1], d_h=self.dilation[0],
                              d_w=self.dilation[1], is_same_mode=self.same)
        bias = [param_table["b"].reshape(self.n_out)] if self.has_bias else []
        return self.activation.define(sd, sd.cnn.conv2d(layer_input, param_table["W"], *bias, config))


@layer("tests.Simple")
class Simple(SameDiffLambdaLayer):
    """(x + 1) * 2"""

    def get_output_type(self, layer_index, input_type):
        return input_type

    def define_layer(self, sd, layer_input):
        return layer_input.add(1.0).mul(2.0)


@vertex("tests.Product")
class Product(SameDiffLambdaVertex):
    """in1 * in2"""

    def get_output_type(self, layer_index, *input_types):
        return input_types[0]

    def define_vertex(self, sd, inputs):
        return inputs.get_input(0).mul(inputs.getInput(1))


@layer("tests.MSELoss")
class MSELoss(SameDiffOutputLayer):
    """Mean over columns, summed over rows."""

    def define_parameters(self, params):
        params.clear()

    def initialize_parameters(self, params):
        pass

    def activations_vertex_name(self):
        return "input"

    def get_output_type(self, layer_index, input_type):
        return input_type

    def define_layer(self, sd, layer_input, labels, param_table):
        return sd.math.squared_difference(labels, layer_input).mean(1).sum()


@layer("tests.MSEOutput")
class MSEOutput(SameDiffOutputLayer):
    """activation(x W + b) under the mean squared error."""

    n_in: int = 0
    n_out: int = 0
    activation: Activation = Activation.IDENTITY

    def define_parameters(self, params):
        params.clear()
        params.add_weight_param("W", self.n_in, self.n_out)
        params.add_bias_param("b", 1, self.n_out)

    def initialize_parameters(self, params):
        self.init_weights(self.n_in, self.n_out, WeightInit.XAVIER, params["W"])

    def param_reshape_order(self, param):
        return "f"

    def activations_vertex_name(self):
        return "out"

    def get_output_type(self, layer_index, input_type):
        return InputType.feed_forward(self.n_out)

    def define_layer(self, sd, layer_input, labels, param_table):
        z = layer_input.mmul(param_table["W"]) + param_table["b"]
        out = sd.identity("out", self.activation.get_activation_function().define(sd, z))
        return sd.math.squared_difference(labels, out).mean(1).sum()


@vertex("tests.DenseVertex")
class DenseVertex(SameDiffVertex):
    """A dense layer as vertex."""

    n_in: int = 0
    n_out: int = 0
    activation: Activation = Activation.TANH

    def define_parameters_and_inputs(self, params):
        params.clear()
        params.define_inputs("in")
        params.add_weight_param("W", self.n_in, self.n_out)
        params.add_bias_param("b", 1, self.n_out)

    def initialize_parameters(self, params):
        self.init_weights(self.n_in, self.n_out, WeightInit.XAVIER, params["W"])

    def param_reshape_order(self, param):
        return "f"

    def get_output_type(self, layer_index, *input_types):
        return InputType.feed_forward(self.n_out)

    def define_vertex(self, sd, inputs, param_table, masks):
        z = inputs["in"].mmul(param_table["W"]) + param_table["b"]
        return self.activation.get_activation_function().define(sd, z)


def one_row_only(x):
    """Refuse batches of two or more rows."""
    if x.shape[0] > 1:
        raise ValueError(f"one row only, not {x.shape[0]}")


@layer("tests.OneRow")
class OneRow(SameDiffLambdaLayer):
    """The input, one row at a time."""

    def get_output_type(self, layer_index, input_type):
        return input_type

    def validate_input(self, x):
        one_row_only(x)

    def define_layer(self, sd, layer_input):
        return layer_input


@vertex("tests.OneRowVertex")
class OneRowVertex(SameDiffLambdaVertex):
    """The input, one row at a time."""

    def get_output_type(self, layer_index, *input_types):
        return input_types[0]

    def validate_input(self, xs):
        one_row_only(xs[0])

    def define_vertex(self, sd, inputs):
        return inputs.get_input(0)


@layer("tests.TwoActivations")
class TwoActivations(FeedForwardLayer):
    """A dense layer, written by the contract: the first half of the columns has one activation, the rest another."""

    second: IActivation = Activation.TANH.get_activation_function()

    def define_parameters(self, params):
        params.weight("W", (self.n_in, self.n_out), fan_in=self.n_in, fan_out=self.n_out, order="f")
        params.bias("b", (self.n_out,), init=self.bias_init)

    def define_layer(self, sd, x, params, mask):
        z = x.mmul(params["W"]) + params["b"]
        half = self.n_out // 2
        return sd.concat(1, self.activation.define(sd, z[:, :half]), self.second.define(sd, z[:, half:]))


@layer("tests.Scan")
class Scan(SameDiffLayer):
    """Scaled running sums of series; masked steps are 0."""

    n: int = 0

    def set_n_in(self, input_type, override):
        self.n = input_type.size

    def define_parameters(self, params):
        params.add_weight_param("g", 1, self.n, 1)

    def initialize_parameters(self, params):
        params["g"][...] = 0.5

    def get_output_type(self, layer_index, input_type):
        return input_type

    def define_layer(self, sd, layer_input, param_table, mask):
        return sd.math.cumsum(layer_input * param_table["g"], False, False, 2) * sd.expand_dims(mask, 1)


@layer("tests.Running")
class Running(FeedForwardLayer):
    """Running sums of series that go on from call to call."""

    def define_layer(self, sd, x, params, mask):
        sums = sd.math.cumsum(x, False, False, 2) + sd.expand_dims(params.state("sum", x, self.n_in), 2)
        params.keep_state("sum", sums[:, :, -1])
        return sums


@activation("tests.Bent")
class Bent(IActivation):
    """tanh(x) + slope x"""

    slope: float = 0.25

    def define(self, sd, x):
        return sd.math.tanh(x) + x * self.slope


@configuration("tests.PlainSgd")
class PlainSgd(RatedUpdater):
    """Equal to Sgd."""

    learning_rate: float = 0.03

    def step(self, xp, gradient, state, hyper):
        return hyper[0] * gradient, ()


@configuration("tests.Halved")
class Halved(InputPreProcessor):
    """Half of the input."""

    factor: float = 0.5

    def pre_process(self, array, minibatch):
        return np.asarray(array) * self.factor

    def output_type(self, input_type):
        return input_type

    def define(self, sd, x, batch=None):
        return x * self.factor
