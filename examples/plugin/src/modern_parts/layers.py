"""The layers, made of the ops."""
from dl4py.layers import BaseLayer, FeedForwardLayer, InputType, layer

from .ops import attention, rms_norm, rotary, swiglu


@layer("modern_parts.RmsNorm")
class RmsNorm(FeedForwardLayer):
    """Root mean square normalization with a gain.  Shapes: (batch, n) -> (batch, n)."""

    def set_n_in(self, input_type, override=True):
        changed = super().set_n_in(input_type, override)
        return changed.replace(n_out=changed.n_in)

    def define_parameters(self, params):
        params.weight("g", (1, self.n_in), init=1.0)

    def define_layer(self, sd, x, params, mask):
        return rms_norm(x, params["g"])


@layer("modern_parts.SwiGlu")
class SwiGlu(FeedForwardLayer):
    """swiglu(x Wg, x Wv) Wo, with ``hidden`` features in between.  Shapes: (batch, n_in) -> (batch, n_out)."""

    hidden: int = 0

    def define_parameters(self, params):
        for name in ("Wg", "Wv"):
            params.weight(name, (self.n_in, self.hidden), fan_in=self.n_in, fan_out=self.hidden)
        params.weight("Wo", (self.hidden, self.n_out), fan_in=self.hidden, fan_out=self.n_out)

    def define_layer(self, sd, x, params, mask):
        return swiglu(x.mmul(params["Wg"]), x.mmul(params["Wv"])).mmul(params["Wo"])


@layer("modern_parts.RotaryAttention")
class RotaryAttention(BaseLayer):
    """Self-attention with rotary positions, added to its input.  Shapes: (batch, n, time) -> (batch, n, time)."""

    n_in: int = 0

    def set_n_in(self, input_type, override=True):
        return self.replace(n_in=input_type.size) if override or self.n_in <= 0 else self

    def output_type(self, input_type):
        return InputType.recurrent(self.n_in, input_type.time_series_length)

    def define_parameters(self, params):
        for name in ("Wq", "Wk", "Wv"):
            params.weight(name, (self.n_in, self.n_in), fan_in=self.n_in, fan_out=self.n_in)

    def define_layer(self, sd, x, params, mask):
        steps = x.permute(0, 2, 1)
        q, k, v = (sd.linalg.matmul(steps, params[name]) for name in ("Wq", "Wk", "Wv"))
        shown = sd.ones_like(steps[:, :, 0]) if mask is None else mask
        return x + attention(rotary(q), rotary(k), v, shown).permute(0, 2, 1)
