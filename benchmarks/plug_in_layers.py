"""Layers, a dropout and a constraint as users write them."""
from __future__ import annotations

from plug_in_ops import heads, joined, normalize

from dl4py.layers import FeedForwardLayer, IDropout, LayerConstraint, layer
from dl4py.layers.standard.recurrent import BaseRecurrentLayer
from dl4py.samediff.configuration.declaring import configuration


@layer("bench.MyBatchNorm")
class MyBatchNorm(FeedForwardLayer):
    decay: float = 0.9

    def define_parameters(self, params):
        params.weight("gamma", (1, self.n_in), init=1.0, role="gain")
        params.bias("beta", (1, self.n_in))
        params.statistic("mean", (1, self.n_in))
        params.statistic("var", (1, self.n_in), 1.0)

    def define_layer(self, sd, x, params, mask):
        y, mean, var = normalize(x, params["mean"], params["var"], params["gamma"], params["beta"])
        params.move("mean", (params["mean"] - mean) * (1 - self.decay))
        params.move("var", (params["var"] - var) * (1 - self.decay))
        return y

    def set_n_in(self, input_type, override=True):
        size = input_type.array_elements_per_example()
        return self.replace(n_in=size, n_out=size)


@configuration("bench.MyDropout")
class MyDropout(IDropout):
    p: float = 0.5

    def draw(self, rng, shape, dtype, iteration, epoch):
        return (rng.random(shape) < self.p) / self.p, None


@configuration("bench.MyNonNegative")
class MyNonNegative(LayerConstraint):
    def constrained(self, xp, param):
        return xp.maximum(param, 0)


@layer("bench.MySimpleRnn")
class MySimpleRnn(BaseRecurrentLayer):
    def define_parameters(self, params):
        n = self.n_out
        params.weight("W", (self.n_in, n), fan_in=self.n_in, fan_out=n)
        params.weight("RW", (n, n), fan_in=n, fan_out=n)
        params.bias("b", (n,))

    def recur(self, sd, x, params, mask):
        def step(sd, carry, element):
            h = sd.nn.tanh(element[0].mmul(params["W"]) + carry[0].mmul(params["RW"]) + params["b"])
            return [h], [h]
        (last,), (states,) = sd.scan(step, [params.state("h", x, self.n_out)], [x.permute(2, 0, 1)])
        params.keep_state("h", last)
        return states.permute(1, 2, 0)


@layer("bench.MyGru")
class MyGru(BaseRecurrentLayer):
    def define_parameters(self, params):
        n = self.n_out
        for gate in "ruc":
            params.weight("W" + gate, (self.n_in, n), fan_in=self.n_in, fan_out=n)
            params.weight("R" + gate, (n, n), fan_in=n, fan_out=n)
            params.bias("b" + gate, (n,))

    def recur(self, sd, x, params, mask):
        def step(sd, carry, element):
            (h,), (x,) = carry, element
            r = sd.nn.sigmoid(x.mmul(params["Wr"]) + h.mmul(params["Rr"]) + params["br"])
            u = sd.nn.sigmoid(x.mmul(params["Wu"]) + h.mmul(params["Ru"]) + params["bu"])
            c = sd.nn.tanh(x.mmul(params["Wc"]) + (r * h).mmul(params["Rc"]) + params["bc"])
            h = u * h + (1.0 - u) * c
            return [h], [h]
        (last,), (states,) = sd.scan(step, [params.state("h", x, self.n_out)], [x.permute(2, 0, 1)])
        params.keep_state("h", last)
        return states.permute(1, 2, 0)


@layer("bench.MyAttention")
class MyAttention(BaseRecurrentLayer):
    heads: int = 1

    def define_parameters(self, params):
        for name in ("Wq", "Wk", "Wv", "Wo"):
            params.weight(name, (self.n_in if name != "Wo" else self.n_out, self.n_out), fan_in=self.n_in, fan_out=self.n_out)

    def recur(self, sd, x, params, mask):
        x = x.permute(0, 2, 1)
        q, k, v = (heads(x, params[n], heads=self.heads) for n in ("Wq", "Wk", "Wv"))
        weights = sd.nn.softmax(q.mmul(k.permute(0, 1, 3, 2)) * (self.n_out / self.heads) ** -0.5, -1)
        return joined(weights.mmul(v), params["Wo"]).permute(0, 2, 1)
