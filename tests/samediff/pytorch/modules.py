"""Small modules of PyTorch, with what they are called with; PyTorch has to be installed."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn


class Calls(nn.Module):
    """A module that is a function, with the modules that it calls."""

    def __init__(self, function: Callable[..., Any], **parts: nn.Module) -> None:
        super().__init__()
        self.function = function
        for name, part in parts.items():
            setattr(self, name, part)

    def forward(self, *given: torch.Tensor) -> Any:
        return self.function(self, *given)


class OneInput(Calls):
    """A module of one input, whose first size can stay open."""

    def forward(self, x: torch.Tensor) -> Any:
        return self.function(self, x)


def images(m: Any, x: torch.Tensor) -> Any:
    h = m.act(m.norm(m.a(x)) + x)
    h = m.up(m.pool(h))
    return {"flat": F.adaptive_avg_pool2d(m.back(h), (2, 3)).flatten(1), "mean": m.batch(h).mean((2, 3)), "most": F.max_pool2d(h, 3, 2, 1)}


def text(m: Any, x: torch.Tensor) -> Any:
    states, _ = m.lstm(m.encoder(m.table(x)))
    return m.out(states.mean(1))


def series(m: Any, x: torch.Tensor) -> Any:
    y, h = m.gru(x)
    z, _ = m.rnn(y)
    found, weights = m.heads(z, z, z)
    return found, weights, h, F.conv1d(x.permute(1, 2, 0), m.taps.weight, padding="same"), m.taps(x.permute(1, 2, 0))


def elements(m: Any, x: torch.Tensor, i: torch.Tensor) -> Any:
    return torch.stack([
        torch.relu(x), F.gelu(x), F.gelu(x, approximate="tanh"), F.silu(x), F.elu(x, 0.5), F.selu(x), F.celu(x, 2.0), F.leaky_relu(x, 0.2),
        F.hardtanh(x), F.hardswish(x), F.hardsigmoid(x), F.softplus(x, 2.0, 3.0), F.softplus(x), F.softsign(x), F.mish(x), F.logsigmoid(x),
        F.hardshrink(x), F.softshrink(x), F.threshold(x, 0.1, 7.0), F.relu6(x), x.abs().sqrt(), x.abs().rsqrt(), x.exp(), x.sin(), x ** 3,
        x ** 2, x.clamp(-0.5, 0.5), x.clamp_min(0), torch.where(x > 0, x, i), x * 2 + i, x - i, 3 - x, x / 2, x.floor(), x.round(),
        x.abs().log1p(), torch.maximum(x, i.float()), torch.lerp(x, x * 2, 0.25), torch.addcmul(x, x, x, value=0.5), x.remainder(0.7),
        x.masked_fill(x > 0, -1.0), torch.atan2(x, x + 3), torch.nan_to_num(x / (x - x)), x.erf(), x.sign(), x.trunc(), x.reciprocal()])


def numbers(m: Any, x: torch.Tensor, i: torch.Tensor) -> Any:
    return (i / 2, i * 2.5, i // 2, i + i, torch.div(i, 2, rounding_mode="floor"), i.float().mean(), i.sum(), (x > 0) & (x < 1), i == 2,
            ~(i > 1), i.to(torch.float64), i.max(), x.argmax(1), F.one_hot(i, 4), x.any(), (x > 0).all(1))


def shapes(m: Any, x: torch.Tensor) -> Any:
    b, c = x.shape
    y = x.view(b, 2, c // 2).transpose(1, 2).reshape(b, -1)
    return (y, x.unsqueeze(1).expand(-1, 3, -1), x.repeat(1, 2), torch.cat([x, y], 1), torch.stack(x.chunk(2, 1)), x[:, 1:3],
            x[:, None, ::2], x[:, -1], F.pad(x, (1, 2)), F.pad(x[None], (1, 1), mode="reflect"), x.flip(1), x.roll(1, 1),
            x.view(b, 2, 2).tril(), x.split([1, 3], 1)[1],
            x.unbind(1)[2], x.new_zeros(b, 2), torch.arange(b), torch.ones_like(x), x.squeeze(), x.t(), torch.full((b, 2), 3.0),
            F.pixel_shuffle(x.view(b, c, 1, 1), 2), x.unflatten(1, (2, -1)), x[:, torch.tensor([2, 0])], x.movedim(0, 1))


def sums(m: Any, x: torch.Tensor) -> Any:
    values, places = x.topk(2)
    largest, where = x.max(1)
    ordered, order = x.sort(1, descending=True)
    return (values, places, largest, where, ordered, order, x.std(1), x.var(1, unbiased=False), x.logsumexp(1), F.softmax(x, -1),
            F.log_softmax(x, 1), x.cumsum(1), x.norm(dim=1), x.sum(), x.mean(1, keepdim=True), x.amax(1), x.prod(1), x.min(),
            torch.einsum("bi,bj->bij", x, x), x @ x.t(), torch.bmm(x[:, None], x[:, :, None]), torch.addmm(x[0, :3], x, x[:3].t()),
            x.gather(1, places), F.cosine_similarity(x, x + 1, 1), F.normalize(x, dim=1), F.rms_norm(x, (4,)))


def in_place(m: Any, x: torch.Tensor) -> Any:
    y = x * 2
    y += 1
    y.relu_()
    z = x.clone()
    z[:, 0] = 5
    return m.drop(y) + m.out(z)


def attention(m: Any, x: torch.Tensor) -> Any:
    y = F.scaled_dot_product_attention(x, x, x, is_causal=True)
    mask = torch.ones(3, 3, dtype=torch.bool).tril()
    return y, F.scaled_dot_product_attention(x, x, x, attn_mask=mask), F.glu(x, -1)


def volumes(m: Any, x: torch.Tensor) -> Any:
    return m.back(m.conv(x)), F.avg_pool3d(x, 2), F.interpolate(x, scale_factor=2), m.instance(x)


def resized(m: Any, x: torch.Tensor) -> Any:
    return (F.interpolate(x, size=(5, 7), mode="bilinear"), F.interpolate(x, scale_factor=2, mode="bicubic"), F.interpolate(x, size=(3, 3)),
            F.interpolate(x, scale_factor=2, mode="bilinear", align_corners=True), F.avg_pool2d(x, 3, 2, 1),
            F.avg_pool2d(x, 3, 2, 1, count_include_pad=False), F.max_pool2d(x, 2, ceil_mode=True), F.adaptive_max_pool2d(x, 1))


#: Those whose sizes are all known: PyTorch needs long to leave one open.
KNOWN = ("elements", "numbers", "volumes", "resized", "attention")


def modules() -> dict[str, tuple[nn.Module, tuple[torch.Tensor, ...]]]:
    """All of them by name."""
    torch.manual_seed(4)
    x, i = torch.randn(3, 4), torch.tensor([0, 2, 3])
    made = {
        "images": (OneInput(images, a=nn.Conv2d(4, 4, 3, padding=1, groups=4), norm=nn.GroupNorm(2, 4), act=nn.ReLU(inplace=True),
                            pool=nn.AvgPool2d(2), up=nn.Upsample(scale_factor=2, mode="bilinear"), batch=nn.BatchNorm2d(4),
                            back=nn.ConvTranspose2d(4, 3, 3, 2, 1, 1)), (torch.randn(2, 4, 8, 8),)),
        "text": (OneInput(text, table=nn.Embedding(10, 8), encoder=nn.TransformerEncoderLayer(8, 2, 12, 0.1, batch_first=True),
                          lstm=nn.LSTM(8, 5, 2, batch_first=True, bidirectional=True), out=nn.Linear(10, 3)),
                 (torch.randint(0, 10, (2, 6)),)),
        "series": (OneInput(series, gru=nn.GRU(4, 3, bidirectional=True), rnn=nn.RNN(6, 4, nonlinearity="relu"),
                            heads=nn.MultiheadAttention(4, 2), taps=nn.Conv1d(4, 2, 3, 2, 1, bias=False)), (torch.randn(5, 2, 4),)),
        "elements": (Calls(elements), (torch.randn(2, 3), torch.tensor([0, 2, 3]))),
        "numbers": (Calls(numbers), (x, i)), "shapes": (OneInput(shapes), (x,)), "sums": (OneInput(sums), (x,)),
        "in place": (OneInput(in_place, drop=nn.Dropout(0.5), out=nn.Linear(4, 4)), (x,)),
        "attention": (OneInput(attention), (torch.randn(2, 3, 4),)),
        "volumes": (OneInput(volumes, conv=nn.Conv3d(2, 3, 2), back=nn.ConvTranspose3d(3, 2, 2, bias=False), instance=nn.InstanceNorm3d(2)),
                    (torch.randn(2, 2, 4, 4, 4),)),
        "resized": (Calls(resized), (torch.randn(2, 1, 5, 5),))}
    return {name: (module.eval(), given) for name, (module, given) in made.items()}
