"""The workloads in PyTorch: modules, cross entropy of class numbers, fused Adam, inference mode.

"torch_cl" stores images channels last, "torch_compile" compiles the model with its loss and their gradient, on a GPU into CUDA graphs.
Batches that come from the host to a GPU lie in pinned memory and are copied without waiting.
"""
from __future__ import annotations

import copy
import signal
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from workloads import CPU, GATE, HEADS, RATE, Place, Task, Workload, cross_entropy, looped, table, total

SYSTEMS = ("torch", "torch_cl", "torch_compile")
LONGEST = 600           # seconds that a compilation may take


class _Gated(torch.autograd.Function):
    """The custom op with the user's gradient."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        s = torch.sigmoid(GATE * x)
        y = x * s
        ctx.save_for_backward(s, y)
        return y

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Tensor:
        s, y = ctx.saved_tensors
        return grads[0] * (s + GATE * y * (1 - s))


class _Act(nn.Module):
    def __init__(self, kind: str) -> None:
        super().__init__()
        self.kind = kind

    def forward(self, x: Tensor) -> Tensor:
        return _Gated.apply(x) if self.kind == "custom" else x * torch.sigmoid(GATE * x)


def _mlp(w: Workload) -> nn.Module:
    parts: list[nn.Module] = []
    *hidden, out = w.sizes[1:]
    before = w.sizes[0]
    for n in hidden:
        parts.append(nn.Linear(before, n))
        parts += {"regular": [nn.BatchNorm1d(n), nn.ReLU(), nn.Dropout(0.5)], "custom": [_Act("custom")],
                  "builtin": [_Act("builtin")]}.get(w.task, [nn.ReLU()])
        before = n
    return nn.Sequential(*parts, nn.Linear(before, out))


def _lenet(w: Workload) -> nn.Module:
    return nn.Sequential(nn.Conv2d(1, 20, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(20, 50, 5), nn.ReLU(), nn.MaxPool2d(2),
                         nn.Flatten(), nn.Linear(800, 500), nn.ReLU(), nn.Linear(500, 10))


class _Lstm(nn.Module):
    def __init__(self, w: Workload) -> None:
        super().__init__()
        self.lstm = nn.LSTM(w.sizes[0], w.sizes[1], len(w.sizes) - 2)
        self.out = nn.Linear(*w.sizes[-2:])
        self.last = w.task == "uci"

    def forward(self, x: Tensor) -> Tensor:
        """x (time, batch, features) -> logits, of all steps or the last."""
        h = self.lstm(x)[0]
        return self.out(h[-1] if self.last else h)


class _Block(nn.Module):
    def __init__(self, w: Workload) -> None:
        super().__init__()
        d, inner = w.sizes
        self.norm1, self.norm2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.qkv, self.o = nn.Linear(d, 3 * d, bias=False), nn.Linear(d, d, bias=False)
        self.up, self.down = nn.Linear(d, inner), nn.Linear(inner, d)

    def forward(self, x: Tensor) -> Tensor:
        b, t, d = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(b, t, 3, HEADS, d // HEADS).permute(2, 0, 3, 1, 4)
        x = x + self.o(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(b, t, d))
        return x + self.down(F.relu(self.up(self.norm2(x))))


MODELS: dict[str, Callable[[Workload], nn.Module]] = {
    **dict.fromkeys(("mlp", "custom", "builtin", "regular", "table", "slopes"), _mlp),
    "lenet": _lenet, "char": _Lstm, "uci": _Lstm, "block": _Block}
TORCH_GATES = (3, 1, 0, 2)          # PyTorch's order (input, forget, cell, output) in ours (cell, forget, output, input)


def model(w: Workload) -> nn.Module:
    """The model with the common initial weights."""
    values, made = w.weights(), MODELS[w.task](w)

    def gates(a: np.ndarray) -> np.ndarray:
        return np.concatenate([np.split(a, 4, -1)[i] for i in TORCH_GATES], -1)
    if w.task == "block":
        q, k, v, o, w1, b1, w2, b2 = values.values()
        matched = list(zip((made.qkv.weight, made.o.weight, made.up.weight, made.up.bias, made.down.weight, made.down.bias),
                           (np.concatenate([q, k, v], 1), o, w1, b1, w2, b2)))
    else:
        own = [p for m in made.modules() if not isinstance(m, (nn.LSTM, nn.BatchNorm1d)) for p in m.parameters(recurse=False)]
        matched = list(zip(own, [v for n, v in values.items() if n.lstrip("b")[0] in "WK"], strict=True))
    for i in range(len(w.sizes) - 2) if w.task in ("char", "uci") else ():
        wanted = {"weight_ih": values[f"L{i}"], "weight_hh": values[f"R{i}"], "bias_ih": values[f"bL{i}"], "bias_hh": 0 * values[f"bL{i}"]}
        matched += [(getattr(made.lstm, f"{name}_l{i}"), gates(value)) for name, value in wanted.items()]
    with torch.no_grad():
        for parameter, value in matched:
            parameter.copy_(torch.from_numpy(value.T if value.ndim == 2 else value))
    return made


def _lying(t: Tensor, place: Place) -> Tensor:
    """A tensor where it lies between steps."""
    return t.pin_memory() if place.from_host else t.to(place.device)


def _fed(step: Callable[..., Any], place: Place) -> Callable[..., Any]:
    """A step whose inputs come from the host and whose result returns there, if the place wants it so."""
    def fed(*host: Tensor) -> Any:
        result = step(*[t.to(place.device, non_blocking=True) for t in host])
        return result if result is None else [t.cpu() for t in result] if isinstance(result, list) else result.cpu()
    return fed if place.from_host else step


def _end(place: Place) -> Callable[[], object]:
    return torch.cuda.synchronize if place.is_gpu else lambda: None


def _prepared(w: Workload, system: str, place: Place) -> list[tuple[Tensor, ...]]:
    """Time first, images channels last where asked, class numbers for labels."""
    data: list[tuple[Tensor, ...]] = []
    for x, y in w.batches():
        if w.task == "block":
            data.append((torch.from_numpy(x), torch.from_numpy(y)))
            continue
        if x.ndim == 3:
            x, y = np.ascontiguousarray(x.swapaxes(0, 1)), y.swapaxes(0, 1) if y.ndim == 3 else y
        given = torch.from_numpy(x)
        data.append((given.to(memory_format=torch.channels_last) if system == "torch_cl" else given, torch.from_numpy(y.argmax(-1))))
    return [tuple(_lying(t, place) for t in batch) for batch in data]


def _loss(w: Workload, net: nn.Module) -> Callable[[Tensor, Tensor], Tensor]:
    if w.task == "block":
        return lambda x, y: F.mse_loss(net(x), y)
    if w.task == "char":
        return lambda x, y: F.cross_entropy(net(x).flatten(0, 1), y.flatten(), reduction="sum") / x.shape[1]
    return lambda x, y: F.cross_entropy(net(x), y)


def _compiled(called: Callable[..., Tensor], given: tuple[Tensor, ...], place: Place) -> Callable[..., Tensor]:
    """Compiled by a first call, with its gradient where it has one; NotImplementedError where that takes too long."""
    compiled, late = torch.compile(called, mode="reduce-overhead" if place.is_gpu else None), []

    def stop(*signalled: object) -> None:
        late.append(True)
        raise TimeoutError
    signal.signal(signal.SIGALRM, stop)
    signal.alarm(LONGEST)
    try:
        result = compiled(*(t.to(place.device) for t in given))
        if result.requires_grad:
            result.sum().backward()
    except Exception:
        if late:
            raise NotImplementedError(f"torch.compile took longer than {LONGEST} s") from None
        raise
    finally:
        signal.alarm(0)
    return compiled


def _network(w: Workload, system: str, place: Place) -> Task:
    net, data = model(w).to(place.device), _prepared(w, system, place)
    if system == "torch_cl":
        net = net.to(memory_format=torch.channels_last)
    loss = plain = _loss(w, net)
    if w.kind == "infer":
        return _inference(w, net, data, system, place)
    if system == "torch_compile":
        before = copy.deepcopy(net.state_dict())
        loss = _compiled(plain, data[0], place)
        net.load_state_dict(before)         # statistics of batches have moved
    adam = torch.optim.Adam(net.parameters(), RATE, fused=True)

    def step(x: Tensor, y: Tensor) -> None:
        adam.zero_grad()
        loss(x, y).backward()
        adam.step()

    def score() -> float:
        net.eval()
        with torch.inference_mode():
            found = float(_fed(plain, place)(*data[0]))
        net.train()
        return found
    return Task(looped(_fed(step, place), data, _end(place)), score)


def _inference(w: Workload, net: nn.Module, data: list[tuple[Tensor, ...]], system: str, place: Place) -> Task:
    net.eval()
    whole = nn.Sequential(net, nn.Softmax(-1))
    called = whole
    if system == "torch_compile":
        with torch.inference_mode():
            called = _compiled(whole, data[0][:1], place)
    loop = looped(_fed(called, place), [(x,) for x, _ in data], _end(place))

    def run(n: int) -> None:
        with torch.inference_mode():
            loop(n)

    def score() -> float:
        with torch.inference_mode():
            return cross_entropy(_fed(whole, place)(data[0][0]).cpu(), w.batches()[0][1])
    return Task(run, score)


def _slopes(w: Workload, system: str, place: Place) -> Task:
    """Loss and gradients of all weights."""
    net, data = model(w).to(place.device), _prepared(w, system, place)
    loss, weights = _loss(w, net), list(net.parameters())
    if system == "torch_compile":
        loss = _compiled(loss, data[0], place)

    def step(x: Tensor, y: Tensor) -> list[Tensor]:
        found = loss(x, y)
        return [found, *torch.autograd.grad(found, weights)]
    fed = _fed(step, place)
    return Task(looped(fed, data, _end(place)), lambda: total([t.detach().cpu() for t in fed(*data[0])]))


def _map(x: Tensor) -> Tensor:
    return x * torch.sigmoid(1.7 * x) + torch.tanh(x) * torch.exp(-x * x)


def _chain(x: Tensor) -> Tensor:
    return _map(x).sum()


def _graph(w: Workload, system: str, place: Place) -> Task:
    weights = {n: torch.from_numpy(a).to(place.device) for n, a in w.weights().items()}

    def tiny(x: Tensor, b: Tensor) -> Tensor:
        for _ in range(10):
            x = torch.tanh(x @ weights["W"] + b if w.task == "tiny_mm" else x * 1.01 + b)
        return x
    asked = w.task in ("chain", "tiny_grad")
    rest = [weights["b"].requires_grad_(asked)] if weights else []
    given = [(_lying(torch.from_numpy(x), place).requires_grad_(asked and not place.from_host),) for x, _ in w.batches()]
    called = {"chain": _chain, "map": _map}.get(w.task, tiny)
    if system == "torch_compile":
        with torch.inference_mode(not asked):
            called = _compiled(called, (given[0][0].to(place.device).requires_grad_(asked), *rest), place)

    def step(x: Tensor) -> list[Tensor]:
        inputs = (x, *rest)
        if asked:
            x.requires_grad_()
            out = called(*inputs)
            return [out, *torch.autograd.grad(out.sum(), inputs)]
        with torch.inference_mode():
            return [called(*inputs)]
    fed = _fed(step, place)
    return Task(looped(fed, given, _end(place)), lambda: total([t.detach().cpu() for t in fed(*given[0])]))


def _job(w: Workload, place: Place) -> Task:
    import pandas
    done: list[Any] = []

    def job() -> None:
        rows = pandas.read_csv(table(), header=None, dtype=np.float32).to_numpy()
        x, y = torch.tensor(rows[:, :20]), torch.tensor(rows[:, 20]).long()
        x, y = _lying((x - x.mean(0)) / x.std(0), place), _lying(y, place)
        net = model(w).to(place.device)
        adam = torch.optim.Adam(net.parameters(), RATE, fused=True)

        def step(x: Tensor, y: Tensor) -> None:
            adam.zero_grad()
            F.cross_entropy(net(x), y).backward()
            adam.step()
        fed = _fed(step, place)
        for i in range(0, len(x), w.batch):
            fed(x[i:i + w.batch], y[i:i + w.batch])
        done[:] = net, x[:w.batch], y[:w.batch]

    def score() -> float:
        net, x, y = done
        with torch.inference_mode():
            return float(F.cross_entropy(net(x.to(place.device)), y.to(place.device)))
    return Task(looped(job, [()], _end(place)), score)


def device_name(place: Place) -> str:
    """What the GPU calls itself, and its memory; RuntimeError where it is not there."""
    if not place.index < torch.cuda.device_count():
        raise RuntimeError(f"PyTorch {torch.__version__} finds no {place.device}")
    found = torch.cuda.get_device_properties(place.index)
    return f"{found.name}, {found.total_memory / 2**30:.0f} GiB"


def make(w: Workload, system: str, place: Place = CPU) -> Task | None:
    """The workload in PyTorch; None where the variant makes no difference or does not work."""
    if (system == "torch_cl" and w.task != "lenet") or (system == "torch_compile" and w.task in ("char", "uci", "table")):
        return None
    if place.is_gpu:
        torch.cuda.set_device(place.index)
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = place.tf32
    if w.task == "table":
        return _job(w, place)
    if w.task == "slopes":
        return _slopes(w, system, place)
    return (_network if w.task in MODELS else _graph)(w, system, place)
