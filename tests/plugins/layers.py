"""Ten layers and vertices, and what they are made of."""
from __future__ import annotations

from dl4py.layers import (
    BaseLayer,
    BaseRecurrentLayer,
    ContainerLayer,
    FeedForwardLayer,
    InputType,
    Layer,
    LayerConstraint,
    NonNegativeConstraint,
    OutputLayer,
    SameDiffLambdaVertex,
    lambda_layer,
    lambda_vertex,
    layer,
    vertex,
)
from dl4py.udf import user_op

from .ops import mish, polar, rms


@layer("author.DenseNorm")
class DenseNorm(FeedForwardLayer):
    """Dense, divided by its root mean square.  Shapes: (batch, n_in) -> (batch, n_out)."""

    weight_names = ("W",)

    def define_parameters(self, params):
        params.weight("W", (self.n_in, self.n_out), fan_in=self.n_in, fan_out=self.n_out)

    def define_layer(self, sd, x, params, mask):
        y = x.mmul(params["W"])
        return y / (rms(y) + 1e-6)


@user_op("author.mha")
def mha(xp, q, k, v, shown, *, heads: int):
    """Attention of several heads.  Shapes: q, k, v (batch, time, n), shown (batch, time) -> (batch, time, n)."""
    def split(a):
        return a.reshape(a.shape[0], a.shape[1], heads, a.shape[2] // heads).transpose(0, 2, 1, 3)
    q, k, v = split(q), split(k), split(v)
    scores = xp.where(shown[:, None, None, :] > 0, q @ k.swapaxes(-1, -2) / q.shape[-1] ** 0.5, -1e9)
    weights = xp.exp(scores - scores.max(axis=-1, keepdims=True))
    found = (weights / weights.sum(axis=-1, keepdims=True) @ v).transpose(0, 2, 1, 3)
    return found.reshape(found.shape[0], found.shape[1], heads * found.shape[3])


@layer("author.SelfAttention")
class SelfAttention(BaseLayer):
    """Shapes: (batch, n, time) -> same."""

    n_in: int = 0
    heads: int = 2

    def set_n_in(self, input_type, override=True):
        return self.replace(n_in=input_type.size) if override or self.n_in <= 0 else self

    def output_type(self, input_type):
        return input_type

    def define_parameters(self, params):
        for name in ("Wq", "Wk", "Wv"):
            params.weight(name, (self.n_in, self.n_in), fan_in=self.n_in, fan_out=self.n_in)

    def define_layer(self, sd, x, params, mask):
        steps = x.permute(0, 2, 1)
        q, k, v = (sd.linalg.matmul(steps, params[name]) for name in ("Wq", "Wk", "Wv"))
        return mha(q, k, v, sd.ones_like(steps[:, :, 0]) if mask is None else mask, heads=self.heads).permute(0, 2, 1)


@layer("author.ResidualBlock")
class ResidualBlock(ContainerLayer):
    blocks: tuple[Layer, ...]

    def define_layer(self, sd, x, params, mask):
        return x + super().define_layer(sd, x, params, mask)


@layer("author.Gru")
class Gru(BaseRecurrentLayer):
    """Shapes: (batch, n_in, time) -> (batch, n_out, time)."""

    def define_parameters(self, params):
        n = self.n_out
        for gate in "ruc":
            params.weight("W" + gate, (self.n_in, n), fan_in=self.n_in, fan_out=n)
            params.weight("R" + gate, (n, n), fan_in=n, fan_out=n)
            params.bias("b" + gate, (n,))

    def recur(self, sd, x, params, mask):
        def gate(name, x, h):
            return x.mmul(params["W" + name]) + h.mmul(params["R" + name]) + params["b" + name]

        def step(sd, carries, elements):
            (h,), (x,) = carries, elements
            r, u = sd.nn.sigmoid(gate("r", x, h)), sd.nn.sigmoid(gate("u", x, h))
            h = u * h + (1.0 - u) * sd.nn.tanh(gate("c", x, r * h))
            return [h], [h]
        (last,), (found,) = sd.scan(step, [params.state("h", x, self.n_out)], [x.permute(2, 0, 1)])
        params.keep_state("h", last)
        return found.permute(1, 2, 0)


@layer("author.MarginOutput")
class MarginOutput(OutputLayer):
    """Distances between rows and a centre for each class, negative."""

    has_bias = False

    def pre_output(self, sd, x, params):
        w = params["W"]
        return x.mmul(w) * 2.0 - (w * w).sum(True, 0) - (x * x).sum(True, 1)


@user_op("author.norm")
def norm(xp, x, mean, var, *, training, eps: float = 1e-5):
    m, v = (x.mean(axis=0, keepdims=True), x.var(axis=0, keepdims=True)) if training else (mean, var)
    return (x - m) / xp.sqrt(v + eps), m, v


@layer("author.MyBatchNorm")
class MyBatchNorm(FeedForwardLayer):
    decay: float = 0.9

    def define_parameters(self, params):
        params.weight("gamma", (1, self.n_in), init=1.0)
        params.bias("beta", (1, self.n_in))
        params.statistic("mean", (1, self.n_in))
        params.statistic("var", (1, self.n_in), 1.0)

    def output_type(self, input_type):
        return input_type

    def define_layer(self, sd, x, params, mask):
        y, *found = norm(x, params["mean"], params["var"])
        for name, value in zip(("mean", "var"), found):
            params.move(name, (params[name] - sd.stop_gradient(value)) * (1 - self.decay))
        return y * params["gamma"] + params["beta"]


@vertex("author.GatedMix")
class GatedMix(SameDiffLambdaVertex):
    def define_vertex(self, sd, inputs):
        a, b, gate = (inputs.get_input(i) for i in range(3))
        gate = sd.nn.sigmoid(gate)
        return gate * a + (1.0 - gate) * b

    def get_output_type(self, layer_index, *input_types):
        return input_types[0]


@lambda_layer("author.Squash")
def squash(sd, x, *, scale: float = 1.0):
    return mish(sd.nn.tanh(x * scale))


@lambda_vertex("author.Product")
def product(sd, a, b):
    return a * b


@layer("author.Bucketed")
class Bucketed(FeedForwardLayer):
    """A vector, which stays positive, for each number of a bucket.  Shapes: (batch, 1) -> (batch, n_out)."""

    buckets: int = 8
    constraints: tuple[LayerConstraint, ...] | None = (NonNegativeConstraint(params=("table",)),)

    def define_parameters(self, params):
        params.weight("table", (self.buckets, self.n_out), init=0.5)

    def define_layer(self, sd, x, params, mask):
        rows = sd.math.floor_mod(x[:, 0].cast_to("INT"), self.buckets)
        return sd.gather(params["table"], rows, 0)


@lambda_layer("author.Angles", output_type=lambda input_type: InputType.feed_forward(2))
def angles(sd, x):
    """A user op of two results: length and angle of the first two features."""
    return sd.concat(1, *polar(x[:, 0:1], x[:, 1:2]))
