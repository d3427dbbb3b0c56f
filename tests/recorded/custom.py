"""The user layers, vertices and losses of the recorded models, written for dl4py as a user would: field names are those of the JSON."""

from __future__ import annotations

from .core import find

_done: set[str] = set()


def register(description: dict | str | None):
    """Register the layer that a case names, once."""
    if not description:
        return
    name = description["class_name"] if isinstance(description, dict) else description.split(":")[0]
    if name in MAKERS and name not in _done:
        MAKERS[name](name)
        _done.add(name)


def known(description: dict | str | None) -> bool:
    return not description or (description["class_name"] if isinstance(description, dict) else description.split(":")[0]) in MAKERS


def register_all(text: str):
    """Register every user class that a configuration names."""
    for name in MAKERS:
        if f'"{name}"' in text:
            register(name)


def gate_dense(name):
    @find("layer")(name)
    class GateDense(find("SameDiffLayer")):
        """scale * tanh(x W + b) * sigmoid(x V)"""

        nin: int = 0
        nout: int = 0
        scale: float = 1.0

        def define_parameters(self, params):
            params.clear()
            params.add_weight_param("W", self.nin, self.nout)
            params.add_weight_param("V", self.nin, self.nout)
            params.add_bias_param("b", 1, self.nout)

        def get_output_type(self, layer_index, input_type):
            return find("InputType").feed_forward(self.nout)

        def define_layer(self, sd, x, p, mask=None):
            return sd.math.tanh(x.mmul(p["W"]).add(p["b"])).mul(sd.nn.sigmoid(x.mmul(p["V"]))).mul(self.scale)


def dense_sd(name):
    column_major = name.endswith("DenseFSD")

    @find("layer")(name)
    class DenseSD(find("SameDiffLayer")):
        """z * sigmoid(beta z) + gamma z with z = x W + b; the bias is declared first on purpose."""

        nin: int = 0
        nout: int = 0
        beta: float = 1.5

        def set_n_in(self, input_type, override):
            if self.nin <= 0 or override:
                self.nin = input_type.size

        def define_parameters(self, params):
            params.clear()
            params.add_bias_param("b", 1, self.nout)
            params.add_weight_param("W", self.nin, self.nout)
            params.add_weight_param("gamma", 1, self.nout)

        def initialize_parameters(self, params):
            params["b"][...] = 0
            params["gamma"][...] = 0.25
            self.init_weights(self.nin, self.nout, self.weight_init or find("WeightInit").XAVIER, params["W"])

        def param_reshape_order(self, param):
            return "f" if column_major else "c"

        def get_output_type(self, layer_index, input_type):
            return find("InputType").feed_forward(self.nout)

        def define_layer(self, sd, x, p, mask=None):
            z = x.mmul(p["W"]).add(p["b"])
            return z.mul(sd.nn.sigmoid(z.mul(self.beta))).add(z.mul(p["gamma"]))


def gated_time(name):
    @find("layer")(name)
    class GatedTimeSD(find("SameDiffLayer")):
        """tanh(g x + b) on [N, C, T]; masked steps become zero."""

        size: int = 0

        def set_n_in(self, input_type, override):
            if self.size <= 0 or override:
                self.size = input_type.size

        def define_parameters(self, params):
            params.clear()
            params.add_weight_param("g", 1, self.size, 1)
            params.add_bias_param("b", 1, self.size, 1)

        def initialize_parameters(self, params):
            params["g"][...] = 1.0
            params["b"][...] = 0.1

        def get_output_type(self, layer_index, input_type):
            return input_type

        def define_layer(self, sd, x, p, mask=None):
            return sd.math.tanh(x.mul(p["g"]).add(p["b"])).mul(sd.expand_dims(mask, 1))


def reject(name):
    @find("layer")(name)
    class RejectSD(find("SameDiffLayer")):
        """Identity that refuses batches of two or more rows."""

        def define_parameters(self, params):
            params.clear()

        def initialize_parameters(self, params):
            pass

        def get_output_type(self, layer_index, input_type):
            return input_type

        def validate_input(self, x):
            if x.shape[0] > 1:
                raise ValueError("one row only")

        def define_layer(self, sd, x, p, mask=None):
            return sd.identity(x)


def square_lambda(name):
    @find("layer")(name)
    class SquareLambda(find("SameDiffLambdaLayer")):
        """x^2 - x / 2"""

        def define_layer(self, sd, x):
            return sd.math.square(x).sub(x.mul(0.5))


def huber_output(name):
    @find("layer")(name)
    class HuberOutputSD(find("SameDiffOutputLayer")):
        """x W + b under the pseudo-Huber loss, summed over all examples."""

        nin: int = 0
        nout: int = 0

        def set_n_in(self, input_type, override):
            if self.nin <= 0 or override:
                self.nin = input_type.size

        def define_parameters(self, params):
            params.clear()
            params.add_weight_param("W", self.nin, self.nout)
            params.add_bias_param("b", 1, self.nout)

        def initialize_parameters(self, params):
            self.init_weights(self.nin, self.nout, find("WeightInit").XAVIER, params["W"])
            params["b"][...] = 0

        def get_output_type(self, layer_index, input_type):
            return find("InputType").feed_forward(self.nout)

        def activations_vertex_name(self):
            return "prediction"

        def define_layer(self, sd, x, labels, p):
            d = labels.sub(x.mmul(p["W"]).add("prediction", p["b"]))
            return sd.math.sqrt(d.mul(d).add(1.0)).sub(1.0).sum()


def loss_only(name):
    no_labels = name.endswith("NoLabelLossSD")

    @find("layer")(name)
    class LossOnly(find("SameDiffOutputLayer")):
        """sum(log(cosh(y - x))), or without labels sum((|x|^2 - 1)^2)."""

        def define_parameters(self, params):
            params.clear()

        def initialize_parameters(self, params):
            pass

        def get_output_type(self, layer_index, input_type):
            return input_type

        def activations_vertex_name(self):
            return "input"

        def labels_required(self):
            return not no_labels

        def define_layer(self, sd, x, labels, p):
            if no_labels:
                return sd.math.square(x.mul(x).sum(1).sub(1.0)).sum()
            return sd.math.log(sd.math.cosh(labels.sub(x))).sum()


def quartic_loss(name):
    @find("loss")(name)
    class QuarticLoss(find("SameDiffLoss")):
        """Per example: mean over the outputs of (y - p)^4."""

        def define_loss(self, sd, x, labels):
            return sd.math.square(sd.math.square(labels.sub(x))).mean(1)


def bilinear(name):
    @find("vertex")(name)
    class BilinearVertexSD(find("SameDiffVertex")):
        """tanh(a Wa + b Wb + bias)"""

        na: int = 0
        nb: int = 0
        nout: int = 0

        def define_parameters_and_inputs(self, params):
            params.clear()
            params.define_inputs("a", "b")
            params.add_weight_param("Wa", self.na, self.nout)
            params.add_weight_param("Wb", self.nb, self.nout)
            params.add_bias_param("bias", 1, self.nout)

        def initialize_parameters(self, params):
            for key, n in (("Wa", self.na), ("Wb", self.nb)):
                self.init_weights(n, self.nout, find("WeightInit").XAVIER, params[key])
            params["bias"][...] = 0

        def get_output_type(self, layer_index, *input_types):
            return find("InputType").feed_forward(self.nout)

        def define_vertex(self, sd, inputs, p, masks):
            return sd.math.tanh(inputs["a"].mmul(p["Wa"]).add(inputs["b"].mmul(p["Wb"])).add(p["bias"]))


def attention(name):
    @find("vertex")(name)
    class AttnVertexSD(find("SameDiffVertex")):
        """A query [N, C] attends over a masked series [N, C, T]; one learned temperature."""

        def define_parameters_and_inputs(self, params):
            params.clear()
            params.define_inputs("query", "series")
            params.add_weight_param("temp", 1, 1)

        def initialize_parameters(self, params):
            params["temp"][...] = 0.7

        def get_output_type(self, layer_index, *input_types):
            return input_types[0]

        def feed_forward_mask_arrays(self, masks, state, minibatch):
            return None

        def define_vertex(self, sd, inputs, p, masks):
            m = sd.expand_dims(masks["series"], 1)
            w = sd.mmul(sd.expand_dims(inputs["query"], 1), inputs["series"]).mul(p["temp"]).add(m.sub(1.0).mul(1e9))
            return inputs["series"].mul(sd.nn.softmax(w, 2)).sum(2)


def mul_add(name):
    @find("vertex")(name)
    class MulAddLambdaVertex(find("SameDiffLambdaVertex")):
        """in0 * in1 + sin(in2)"""

        def define_vertex(self, sd, inputs):
            return inputs.get_input(0).mul(inputs.get_input(1)).add(sd.math.sin(inputs.get_input(2)))


MAKERS = {
    "org.example.GateDense": gate_dense,
    "example.custom.DenseSD": dense_sd,
    "example.custom.DenseFSD": dense_sd,
    "example.custom.GatedTimeSD": gated_time,
    "example.custom.RejectSD": reject,
    "example.custom.SquareLambda": square_lambda,
    "example.custom.HuberOutputSD": huber_output,
    "example.custom.LogCoshLossSD": loss_only,
    "example.custom.NoLabelLossSD": loss_only,
    "example.custom.QuarticLoss": quartic_loss,
    "example.custom.BilinearVertexSD": bilinear,
    "example.custom.AttnVertexSD": attention,
    "example.custom.MulAddLambdaVertex": mul_add,
}
