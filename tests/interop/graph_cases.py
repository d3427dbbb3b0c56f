"""Graphs: one for each row of the table of ops, losses with their gradients, branches and loops, training with every updater."""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.base.enums import LossReduce
from dl4py.samediff.data import MultiDataSet
from dl4py.samediff.ir.op import METHODS, OPS, Op
from dl4py.samediff.training import L2Regularization, TrainingConfig, WeightDecay
from dl4py.samediff.training.updaters import updaters as U
from tests.interop.cases import MAYBE, Case, Folder
from tests.interop.known_differences import DRAWN, NOT_SHOWN, OTHER_ROWS, OTHER_VALUES, OWN_METHODS, REFUSED_OPS, REFUSED_ROWS, found_row
from tests.interop.slot_rows import SLOT_ROWS
from tests.samediff.ops.rows.op_table import ROWS, Row


@dataclass
class GraphCase(Case):
    """A graph: outputs, gradients, a step of training, and the file that DL4J makes of it."""

    sd: Any = None
    feed: dict[str, Any] = field(default_factory=dict)
    outputs: list[str] = field(default_factory=list)
    gradients: list[str] = field(default_factory=list)
    data: MultiDataSet | None = None
    compared: bool = True       # whether DL4J computes the same

    def write(self, folder: Folder) -> dict[str, Any]:
        sd, put = self.sd, folder.put
        if self.data is not None:
            sd.fit(self.data)
        file = f"{self.id}.fb"
        sd.save(folder.given / file, True)
        entry: dict[str, Any] = {"kind": "samediff", "file": file, "compared": self.compared,
                                 "feed": {n: put(a) for n, a in self.feed.items()},
                                 "outputs": {n: put(a) for n, a in sd.output(self.feed, *self.outputs).items()}}
        if self.gradients:
            entry["gradients"] = {n: put(a) for n, a in sd.calculate_gradients(self.feed, *self.gradients).items()}
        if self.data is not None:
            entry |= {"inputs": [put(x) for x in self.data.features], "labels": [put(y) for y in self.data.labels]}
            sd.fit(self.data)
        return entry

    def check(self, folder: Folder, result: dict[str, Any]) -> None:
        if not self.compared:
            assert result["loaded"]
            return
        self.note("outputs", result["outputs"], self.tolerance)
        if self.gradients:
            self.note("gradients", result["gradients"], self.step)
        again = SameDiff.load(folder.found / f"{self.id}.fb")
        assert again.missing_ops() == []
        if self.data is not None:
            for v in self.sd.variables():
                if v.is_trainable():
                    self.compare(v.name(), folder.got(self, f".{v.name()}"), v.get_arr(), self.step)
                    self.compare(f"{v.name()} read again", again.variable(v.name()).get_arr(), folder.got(self, f".{v.name()}"), 0)
            for name, updater in self.sd.get_updater_map().items():
                for key, array in updater.get_state().items():
                    self.compare(f"{key} of {name}", again.get_updater_map()[name].get_state()[key], array, self.step)
            assert again.get_training_config() == self.sd.get_training_config()
        for i, (name, array) in enumerate(again.output(self.feed, *self.outputs).items()):
            assert name == self.outputs[i]
            self.compare(f"{name} of DL4J's file", array, folder.got(self, f".{i}"), self.tolerance)


def op_case(name: str, row: Row) -> GraphCase:
    """The op alone; floating inputs in single precision."""
    sd, op = SameDiff(), row.op()
    sd.seed = 5
    kind = np.float64 if "graph" in row.saved_as or row.op_id in ("if", "while") else np.float32      # graphs inside ops are of one type
    inputs = [None if a is None else sd.constant(f"in{i}", a.astype(kind) if a.dtype == np.float64 else a)
              for i, a in enumerate(row.arrays())]
    made = op.place(sd, inputs, None) if OPS[row.op_id].compute is Op.compute else sd.add_op(op, inputs)
    names = [v.name() for v in (made if isinstance(made, list) else [made])]
    compared = row.op_id not in OTHER_VALUES | DRAWN and not found_row(OTHER_ROWS, row)
    return GraphCase(name, sd=sd, outputs=names, compared=compared, refused=_refused(row))


def _refused(row: Row) -> str:
    if row.op_id in REFUSED_OPS:
        return REFUSED_OPS[row.op_id]
    offered = row.op_id not in OWN_METHODS and any(OPS[row.op_id] in classes for classes in METHODS.values())
    return found_row(REFUSED_ROWS, row) or ("" if offered else MAYBE)


X = np.random.default_rng(2).normal(size=(6, 4)).astype(np.float32)
Y = np.eye(3, dtype=np.float32)[[0, 1, 2, 2, 1, 0]]


def training_case(name: str, updater: Any, *regularization: Any) -> GraphCase:
    """Two dense layers with a loss and training configuration, after one step."""
    rng, sd = np.random.default_rng(3), SameDiff.create()
    x, y = sd.placeholder("x", DataType.FLOAT, -1, 4), sd.placeholder("y", DataType.FLOAT, -1, 3)
    w, b, v = (sd.var(n, rng.normal(size=s).astype(np.float32)) for n, s in (("w", (4, 5)), ("b", (5,)), ("v", (5, 3))))
    out = sd.math.tanh("hidden", x.mmul(w) + b).mmul("out", v)
    sd.loss.softmax_cross_entropy("loss", y, out, None)
    sd.set_loss_variables("loss")
    sd.set_training_config(TrainingConfig(updater, list(regularization), data_set_feature_mapping=["x"], data_set_label_mapping=["y"]))
    return GraphCase(name, sd=sd, feed={"x": X, "y": Y}, outputs=["out", "loss"], gradients=["w", "b", "v"], data=MultiDataSet([X], [Y]))


def loss_case(name: str, method: str) -> GraphCase:
    """A loss without weights and its gradient."""
    sd = SameDiff.create()
    predictions, labels = sd.var("p", np.abs(X) / 8 + 0.1), sd.constant("labels", np.repeat(np.eye(4, dtype=np.float32), 2, 0)[:6])
    more = {"cosine_distance": (1,), "huber_loss": (0.3,), "log_poisson": (False,)}.get(method, ())
    reduce = (LossReduce.MEAN_BY_NONZERO_WEIGHT_COUNT,) if more else ()
    made = getattr(sd.loss, method)("loss", labels, predictions, None, *reduce, *more)
    sd.set_loss_variables(made.name())
    return GraphCase(name, sd=sd, outputs=[made.name()], gradients=["p"])


def branch(name: str, start: float) -> GraphCase:
    """A conditional with values from outside, a constant branch among its two results."""
    sd = SameDiff.create()
    x, w = sd.placeholder("x", DataType.FLOAT, 3), sd.var("w", np.float32([1, 2, 3]))
    first, second = sd.if_cond(lambda sd: x.sum() > 0, lambda sd: [x * w, sd.constant(np.float32(7))], lambda sd: [-x, w.sum() + 1])
    (first + 1).rename("y")
    return GraphCase(name, sd=sd, feed={"x": np.full(3, start, np.float32)}, outputs=["y", second.name()])


def loop(name: str) -> GraphCase:
    """A loop with values and constants from outside."""
    sd = SameDiff.create()
    x, step = sd.placeholder("x", DataType.FLOAT, 2), sd.var("step", np.float32([0.5, 0.25]))
    count, total = sd.while_loop([sd.constant(np.int32(0)), x], lambda sd, v: v[0] < 5,
                                 lambda sd, v: [v[0] + 1, v[1] * 2 + step - sd.constant(np.float32([1, 2]))])
    total.mul("y", 1.0)
    return GraphCase(name, sd=sd, feed={"x": np.float32([1, -2])}, outputs=["y", count.name()])


def scopes(name: str) -> GraphCase:
    """Names, scopes, several outputs, indexing, constants of other types."""
    sd = SameDiff.create()
    x = sd.placeholder("x", DataType.FLOAT, -1, 6)
    with sd.with_name_scope("outer"):
        parts = sd.split(x, 2, 1)
        mean, variance = sd.moments(parts[1], 0)
    picked = x[1:, ::2].sum("picked", False, 0)
    y = sd.concat("joined", 0, mean, variance, picked, sd.constant("texts", np.arange(3)).cast_to(DataType.FLOAT))
    return GraphCase(name, sd=sd, feed={"x": np.arange(24, dtype=np.float32).reshape(4, 6)}, outputs=[y.name(), mean.name(), picked.name()])


LOSSES = ("absolute_difference cosine_distance hinge_loss huber_loss log_loss log_poisson mean_pairwise_squared_error "
          "mean_squared_error sigmoid_cross_entropy softmax_cross_entropy")
BUILT: dict[str, Any] = {
    **{f"training/{type(u).__name__}": (lambda n, u=u: training_case(n, u)) for u in (
        U.Adam(0.05), U.AMSGrad(0.05), U.AdaMax(0.05), U.Nadam(0.05), U.AdaDelta(), U.AdaGrad(0.05), U.RmsProp(0.05),
        U.Nesterovs(0.1, 0.8), U.Sgd(0.1), U.NoOp())},
    "training/regularized": lambda n: training_case(n, U.Adam(0.05), L2Regularization(0.01), WeightDecay(0.02, True)),
    **{f"loss/{m}": (lambda n, m=m: loss_case(n, m)) for m in LOSSES.split()},
    "control/taken": lambda n: branch(n, 1.0), "control/not taken": lambda n: branch(n, -1.0), "control/loop": loop,
    "graph/scopes": scopes,
}


def graph_cases() -> dict[str, Any]:
    """Functions that make the cases, by name."""
    made: dict[str, Any] = {}
    for i, row in enumerate(ROWS):
        name = f"op/{row.op_id}-{i}"
        if row.op_id not in NOT_SHOWN:
            made[name] = (lambda name=name, row=row: op_case(name, row))
    for i, row in enumerate(SLOT_ROWS):
        name = f"op/{row.op_id}-slots-{i}"
        made[name] = (lambda name=name, row=row: op_case(name, row))
    for name, build in BUILT.items():
        made[name] = (lambda name=name, build=build: build(name))
    return made
