"""Area ops: every namespace operation and SDVariable method: forward values, and gradients of sum(w * output).

Where DL4J is wrong (forward "differs", gradients "wrong", "wrong shape" or "none") the expected value is the independent one
that the case carries (want/*, fd/*: closed form and central differences), because dl4py has to be right there.
"""

from __future__ import annotations

import functools
from pathlib import Path

import numpy as np

from .api import NUMPY
from .core import Case, Check, Intent, Unsupported, find, snake

NAMESPACES = ("math", "nn", "cnn", "rnn", "loss", "bitwise", "image", "linalg", "random")
FLOATS = ("FLOAT", "DOUBLE", "HALF", "BFLOAT16")


def weight(shape, dtype, i: int) -> np.ndarray:
    """The fixed upstream gradient of output i."""
    k = np.arange(int(np.prod(shape, dtype=np.int64)), dtype=np.int64)
    return (((7 * k + 3 + 5 * i) % 11 - 5.5) / 4).astype(dtype).reshape(shape)


@functools.cache
def arrays(path: str) -> dict:
    with np.load(path, allow_pickle=False) as z:
        return {k: z[k] for k in z.files}


@functools.lru_cache(maxsize=1)
def no_gradient() -> set:
    """Operations for which a gradient makes no sense (gradient_target none in the catalogue)."""
    import yaml

    catalogue = Path(__file__).resolve().parents[2] / "reference" / "samediff-ops.yaml"
    if not catalogue.exists():
        return set()
    ops = yaml.load(catalogue.read_text(encoding="utf-8"), getattr(yaml, "CSafeLoader", yaml.SafeLoader))["ops"]
    return {f"{o['namespace']}.{o['name']}" for o in ops if str(o.get("gradient_target", "full")).startswith("none")}


class Build:
    """A fresh graph with the inputs of the case and one call of the operation."""

    def __init__(self, case: Case):
        info = case.info
        self.ns, rest = info["id"].split(".", 1)
        self.op = rest.split("/")[0]
        self.key = rest
        self.z = arrays(str(case.folder / f"{self.ns}.npz"))
        self.sd = find("SameDiff").create()
        self.vars, self.trainable = {}, []
        for name, kind in info.get("inputs", {}).items():
            a = self.z[f"{self.key}/in/{name}"]
            dtype = kind.split()[0]
            if dtype in NUMPY:
                a = a.astype(NUMPY[dtype])
            constant = kind.endswith("constant")
            v = self.sd.constant(name, a) if constant or dtype not in FLOATS else self.sd.var(name, a)
            if dtype == "BFLOAT16":
                v = v.cast_to(find("DataType").BFLOAT16)
            self.vars[name] = v
            if not constant and dtype in FLOATS:
                self.trainable.append(name)
        args = [self.argument(a) for a in info["args"]]
        if info["args"] and set(info["args"][-1]) & {"ints", "longs", "arrays", "idx"}:
            args = args[:-1] + list(args[-1])  # Java's last array parameter is a varargs one
        target = self.sd if self.ns == "base" else args.pop(0) if self.ns == "var" else getattr(self.sd, self.ns)
        if callable(target) and self.ns in NAMESPACES:
            target = target()
        result = getattr(target, method_name(target, self.op))(*args)
        self.outputs = list(result) if isinstance(result, (list, tuple)) else [result]

    def argument(self, a: dict):
        kind = next(iter(a))
        if kind == "array":
            return self.vars[a["array"]]
        if kind == "arrays":
            return [self.vars[n] for n in a["arrays"]]
        if kind == "null":
            return None
        if kind == "dtype":
            return getattr(find("DataType"), a["dtype"])
        if kind == "enum":
            return getattr(find(a["enum"].split("$")[-1]), a["value"])
        if kind == "condition":
            make = getattr(find("Conditions"), snake(a["condition"]))
            return make(a["value"]) if "value" in a else make()
        if kind == "config":
            fields = {snake(k): self.vars[v["array"]] if isinstance(v, dict) else v for k, v in a["fields"].items()}
            return find(a["config"].split("$")[-1])(**fields)
        if kind == "idx":
            return [getattr(find("SDIndex"), i[0])(*i[1:]) for i in a["idx"]]
        if kind == "double":
            return float(a["double"])
        return a[kind]

    def names(self):
        return [o.name() if callable(o.name) else o.name for o in self.outputs if o is not None]

    def forward(self):
        got = self.sd.output({}, *self.names())
        return [None if o is None else got.get(o.name() if callable(o.name) else o.name) for o in self.outputs]


def method_name(target, name: str) -> str:
    """snake_case name, with the trailing underscore of Python keywords."""
    s = snake(name)
    for n in (s, s + "_", name):
        if hasattr(target, n):
            return n
    return s


def check(case: Case, c: Check):
    info = case.info
    if info["id"].startswith("native."):
        raise Unsupported("engine op without a name in the graph API")
    if "equal shapes required" in str(info.get("note")):
        raise Intent("DL4J reads past the end of the smaller array")
    if "fractional scalar" in str(info.get("note")) or info["id"] == "base.fill/2":
        return c.raises("a fraction beside whole numbers, which DL4J cuts", lambda: Build(case).forward())
    if info["id"] == "math.logSumExp/10":
        raise Intent("the logarithm of infinity is infinite; DL4J takes infinity from itself")
    if "error" in info and not info.get("want"):
        return c.raises("the call", lambda: Build(case).forward(), info["error"])
    b = Build(case)
    z, key = b.z, b.key
    if "error" in info:
        for i, o in enumerate(b.forward()):
            if f"{key}/want/{i}" in z:
                c.close(f"output {i}", o, z[f"{key}/want/{i}"], rtol=2e-5, dtype=False)
        return None
    got = b.forward()
    c.equal("number of outputs", len(got), len(info["outputs"]))
    random = "seed" in info or b.ns == "random"  # dl4py has its own generator: shape, type and moments
    tol = float(info.get("tol", 1e-5))
    for i, (o, want) in enumerate(zip(got, info["outputs"])):
        if want.get("dead") or o is None:
            continue
        right = None if random else z.get(f"{key}/want/{i}")
        if right is not None:
            c.close(f"output {i}", o, right, rtol=max(tol, 2e-5), dtype=False)
            continue
        c.equal(f"shape of output {i}", list(np.shape(o)), want["shape"])
        if want["dtype"] in NUMPY:
            c.equal(f"type of output {i}", str(np.asarray(o).dtype), NUMPY[want["dtype"]])
        if random:
            moments(c, i, np.asarray(o, np.float64), z[f"{key}/out/{i}"].astype(np.float64))
        if random or "undefined" in str(info.get("note")) or info.get("forward") == "differs":
            continue
        c.close(f"output {i}", o, z[f"{key}/out/{i}"], rtol=tol, dtype=False, shape=not want.get("empty"))
    gradients(case, c, b, got, tol)
    return None


def moments(c: Check, i: int, got, want):
    if got.size >= 500 and got.shape == want.shape and np.isfinite(want).all():
        spread = max(float(want.std()), 1e-6)
        c.close(f"mean of output {i}", float(got.mean()), float(want.mean()), rtol=0.0, atol=7 * spread / got.size**0.5)
        c.close(f"deviation of output {i}", float(got.std()), float(want.std()), rtol=0.0, atol=0.3 * spread)


def gradients(case: Case, c: Check, b: Build, got: list, tol: float):
    info, z, key = case.info, b.z, b.key
    verdicts = info.get("gradients", {})
    if info.get("forward") == "differs":  # the recorded gradients follow DL4J's forward pass, which is not the right one
        verdicts = {}
    asked = {n: expected(z, key, n, v) for n, v in verdicts.items()}
    asked = {n: w for n, w in asked.items() if w is not None and info["id"].split("/")[0] not in no_gradient()}
    if asked and "seed" not in info:
        g = weighted(case, got, list(asked))
        for n, (want, limit) in asked.items():
            c.close(f"gradient for {n}", g[n], want, rtol=max(limit, tol), dtype=False)
    direct = {n: z.get(f"{key}/fd1/{n}", z.get(f"{key}/direct/{n}")) for n, v in info.get("direct", {}).items() if v in ("ok", "wrong")}
    direct = {n: w for n, w in direct.items() if w is not None}
    if direct:
        fresh = Build(case)
        fresh.sd.set_loss_variables(*fresh.names())
        g = fresh.sd.calculate_gradients({}, *direct)
        for n, want in direct.items():
            right = info["direct"][n] == "ok"
            c.close(f"gradient for {n} (as loss)", g[n], want, rtol=1e-4 if right else 2e-3, dtype=False)


def expected(z: dict, key: str, name: str, verdict: str):
    """Array and tolerance for one gradient, None when nothing is known."""
    if verdict == "ok":
        return z[f"{key}/grad/{name}"], 1e-4
    right = z.get(f"{key}/fd/{name}")
    return None if right is None else (right, 3e-3)


def weighted(case: Case, got: list, names: list) -> dict:
    fresh = Build(case)
    total = None
    for i, (o, value) in enumerate(zip(fresh.outputs, got)):
        value = np.asarray(value)
        if o is None or value.dtype.kind != "f" or not value.size:
            continue
        t = o.mul(fresh.sd.constant(f"w__{i}", weight(value.shape, value.dtype, i)))
        t = t.sum() if value.ndim else t
        total = t if total is None else total.add(t if t.data_type() == total.data_type() else t.cast_to(total.data_type()))
    if total is None:
        raise Intent("no floating output to differentiate")
    total = total.mul("loss__", 1.0)
    fresh.sd.set_loss_variables("loss__")
    return fresh.sd.calculate_gradients({}, *names)
