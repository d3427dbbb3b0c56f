"""Checking activations, losses and preprocessors, one's own or built in."""
from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from ...samediff.base.datatype import DataType
from ...samediff.base.user_code.check_report import CheckFailure, CheckReport, require_instance
from ...samediff.base.user_code.precision import keeps_precision
from ...samediff.base.user_code.user_methods import refuses
from ...samediff.errors import ConfigurationError, DL4PyError
from ...samediff.executor.session import run, run_uncompiled
from ...samediff.graph.child_process import in_child
from ...samediff.graph.gradient_check import check_gradient
from ...samediff.graph.graph import SameDiff
from ...samediff.ir.run_context import RunContext
from ..custom.samediff_loss import SameDiffLoss
from ..functions.activations import Activation, IActivation
from ..functions.loss_base import ILossFunction, LossFunction
from ..preprocessors import InputPreProcessor
from ..types.formats import MaskState
from ..types.input_type import InputType
from .check_options import is_foreign, options_check
from .check_parts import close, configuration_checks
from .check_subject import BATCH, distinct, drawn, fits, other_sizes, time_axis

__all__ = ["check_activation", "check_loss", "check_preprocessor"]

#: So many further calls may not differ.
_CALLS = 100
#: What to do where a number leaves the range of its type.
_RANGE = ("exp and cosh of large numbers are infinite: 1 / (1 + exp(-d)) is sd.nn.sigmoid(d), in array code 0.5 + 0.5 * tanh(0.5 * d); "
          "log(1 + exp(d)) is sd.nn.softplus(d), in array code logaddexp(d, 0)")


@in_child
def check_activation(activation: IActivation | Activation | str, x: Any = None, *, tolerance: float = 1e-4, seed: int = 0,
                     allow: Collection[str] = ()) -> CheckReport:
    """Check an activation function: configuration, gradient, large inputs, both floating types.

    Parameters
    ----------
    activation : IActivation, Activation or str
        What to check.
    x : array, optional
        Inputs away from points without a derivative; drawn by default.
    tolerance : float
        Largest relative error of a gradient.
    seed : int
        Of drawn inputs.
    allow : collection of str
        Names of checks that may fail, because it is intended.

    Examples
    --------
    >>> from dl4py.layers import ActivationSwish
    >>> check_activation(ActivationSwish()).passed
    True
    """
    activation = IActivation.of(activation) if isinstance(activation, (str, Activation)) else activation
    require_instance("check_activation", activation, IActivation, "ActivationSwish()")
    report = CheckReport(f"activation {type(activation).__name__}")
    configuration_checks(report, activation)
    given = 3 * distinct((4, 5), np.random.default_rng(seed)) if x is None else np.asarray(x, np.float64)

    def values() -> str:
        found = activation.get_activation(given)
        first, second = (_defined(activation.define, given) for _ in range(2))
        close(second, first, "define gives something else when it is called again: keep nothing in the class or module")
        if found.shape != given.shape:
            raise CheckFailure(f"inputs {given.shape} give {found.shape}")
        close(found, IActivation.get_activation(activation, given), "get_activation and what define builds")
        for by in (1, -3) if type(activation).backprop is not IActivation.backprop else ():
            back = activation.backprop(by * given, np.ones_like(given))[0]
            close(back, IActivation.backprop(activation, by * given, np.ones_like(given))[0], "backprop and the gradient of define")
        keeps_precision(lambda by: [activation.get_activation(by * given)], "result")
        single = activation.get_activation(given.astype(np.float32))
        if single.dtype != np.float32:
            raise CheckFailure(f"float32 inputs give {single.dtype}")
        return f"largest difference {close(single, found, 'float32 and float64', 2e-4):.1g}"

    def large() -> None:
        wide = (np.sign(given) * 90).astype(np.float32)
        parts = activation.get_activation(wide), activation.backprop(wide, np.ones_like(wide))[0]
        if not all(np.isfinite(p).all() for p in parts):
            raise CheckFailure(f"values or gradients of inputs near 90 and -90 are not finite: {_RANGE}")

    def loaded() -> None:
        again = type(activation).from_json(activation.to_json())
        close(_defined(again.define, given), _defined(activation.define, given), "values after JSON")

    def shapes() -> str:
        taken = []
        for size in ((1, 5), (4, 5, 3), (2, 5, 3, 2)):
            z = 3 * distinct(size, np.random.default_rng(seed))
            try:
                found = _defined(activation.define, z)
            except DL4PyError as error:
                if refuses(error):
                    continue
                raise
            if found.shape != z.shape:
                raise CheckFailure(f"inputs {z.shape}, as of layers for series and images, give {found.shape}")
            close(_defined(activation.define, z[:1]), found[:1], f"the first of {len(z)} examples alone and beside others, {z.shape}")
            taken.append(size)
        close(activation.get_activation(given[:1]), activation.get_activation(given)[:1], "the first example alone and beside others")
        return ", ".join(map(str, taken))

    report.run("float32", values)
    report.run("the same after JSON", loaded)
    report.run("large inputs", large)
    def near_zero() -> None:
        """Values and gradients at 0, which is what relu gives, and a gradient somewhere."""
        for a in (np.zeros_like(given), np.where(given > 0, given, 0)):
            if any(np.isnan(p).any() for p in (activation.get_activation(a), activation.backprop(a, np.ones_like(a))[0])):
                raise CheckFailure("values or gradients at 0 are no numbers: add a small number to what is divided by or under a root")
        if not any(activation.backprop(by * given, np.linspace(1, 2, given.size).reshape(given.shape))[0].any() for by in (1, -1, 0.1)):
            raise CheckFailure("its gradient is 0 everywhere: layers in front of it learn nothing. If that is meant: "
                               "allow={'at 0'}")

    if is_foreign(activation):
        report.run("at 0", near_zero)
        report.run("other shapes", shapes)
        options_check(report, activation, lambda made: [_defined(made.define, by * given) for by in (1, 10)])
    report.run("gradient", lambda: check_gradient(lambda sd, v: activation.define(sd, v[0]), [given], 1, tolerance, seed,
                                                  names=["the input"]))
    return report.permit(allow)


def _defined(define: Any, *arrays: Any) -> Any:
    """The value of what a method adds to a graph of its own: equal objects may share theirs elsewhere."""
    sd = SameDiff()
    return define(sd, *map(sd.constant, arrays)).eval()


@in_child
def check_loss(loss: ILossFunction | LossFunction | str, labels: Any, output: Any, activation: Any = "identity", *, tolerance: float = 1e-4,
               seed: int = 0, allow: Collection[str] = ()) -> CheckReport:
    """Check a loss function: configuration, gradient for the output, scores of examples, masks, both floating types.

    Parameters
    ----------
    loss : ILossFunction, LossFunction or str
        What to check.
    labels, output : array
        Labels (batch, n) and what the activation acts on (batch, m), away from points without a derivative.
    activation : IActivation, Activation or str
        Acts on ``output``; identity by default.
    tolerance : float
        Largest relative error of a gradient.
    seed : int
        Of the directions in which gradients are compared.
    allow : collection of str
        Names of checks that may fail, because it is intended.

    Examples
    --------
    >>> from dl4py.layers import LossMSE
    >>> check_loss(LossMSE(), [[1.0, 0.0], [0.5, 1.0]], [[0.2, 0.3], [0.1, -0.4]], "tanh").passed
    True
    """
    loss = ILossFunction.of(loss) if isinstance(loss, (str, LossFunction)) else loss
    require_instance("check_loss", loss, ILossFunction, "LossMSE()")
    report = CheckReport(f"loss {type(loss).__name__}")
    configuration_checks(report, loss)
    act, y, z = IActivation.of(activation), np.asarray(labels, np.float64), np.asarray(output, np.float64)
    mask = np.ones((len(z), 1))
    mask[len(z) // 2] = 0

    def scores() -> str:
        total, mean = (loss.compute_score(y, z, act, None, average) for average in (False, True))
        if not np.isfinite(total):
            raise CheckFailure(f"the score is {total}")
        if total == loss.compute_score(y, 0.5 * z[::-1] + 0.1, act, None, False):
            raise CheckFailure("other predictions have the same score: nothing of the output goes into it")
        try:
            rows = loss.compute_score_array(y, z, act)
        except ConfigurationError as error:
            return f"none for single examples: {error}"
        if rows.shape != (len(z), 1):
            raise CheckFailure(f"scores of {len(z)} examples have shape {rows.shape}")
        rows = rows / z.shape[1] if loss.array_adds_outputs else rows
        close(rows.sum(), total, "scores of examples do not add up to the score")
        close(rows.mean(), mean, "the mean of the scores is not the average score")
        return f"score {mean:.3g}"

    def alone() -> str:
        try:
            rows = loss.compute_score_array(y, z, act)
        except ConfigurationError:
            return "none for single examples"
        for i in range(len(z)):
            found = loss.compute_score_array(y[i:i + 1], z[i:i + 1], act)
            close(found, rows[i:i + 1], f"example {i} has another score alone than beside others: reduce along axis 1, not the batch. "
                                        "If a loss of whole batches is meant: allow={'examples alone'}")
        return f"{len(z)} examples"

    def over_batch() -> bool:
        """Whether the score of an example depends on others, in a loss whose author is not told of masks."""
        changed = z.copy()
        changed[-1] += 0.25
        try:
            before, after = (loss.compute_score_array(y, o, act)[:-1] for o in (z, changed))
        except ConfigurationError:
            return False
        return type(loss).define is SameDiffLoss.define and not np.allclose(before, after, 1e-9, 1e-12)

    def masked() -> str:
        if over_batch():
            rows = loss.compute_score_array(y, z, act, mask)
            close(rows[mask[:, 0] == 0], 0 * rows[mask[:, 0] == 0], "the score of a masked example counts")
            return ("scores alone: each depends on other examples, the masked ones among them. Write define(self, sd, labels, pre_output, "
                    "activation, mask) to leave those out")
        whole, part = loss.compute_gradient(y, z, act), loss.compute_gradient(y, z, act, mask)
        close(whole, ILossFunction.compute_gradient(loss, y, z, act), "compute_gradient and the gradient of what define builds")
        if part[mask[:, 0] == 0].any():
            raise CheckFailure("masked examples have a gradient")
        changed = z.copy()
        changed[mask[:, 0] == 0] += 0.25
        first, second = (loss.compute_score(y, o, act, mask, False) for o in (z, changed))
        close(first, second, "a masked example changes the score")
        try:
            rows = [loss.compute_score_array(y, z, act, m) for m in (None, mask)]
        except ConfigurationError:
            return "score and gradient"
        close(rows[1], rows[0] * mask, "a mask does more than to drop the masked scores")
        close(part, whole * mask, "a mask does more than to drop the masked gradients")
        return "score, scores of examples and gradient"

    def single() -> str:
        keeps_precision(lambda by: [np.asarray(loss.compute_gradient(y, by * z, act), np.float64)], "gradient")
        a, b = loss.compute_gradient(y.astype(np.float32), z.astype(np.float32), act), loss.compute_gradient(y, z, act)
        return f"largest difference {close(a, b, 'gradients in float32 and float64', 1e-3):.1g}"

    def differences(with_mask: bool) -> str:
        arrays = [z, y, mask]
        return check_gradient(lambda sd, v: loss.define(sd, v[1], v[0], act, v[2] if with_mask else None), arrays, 1, tolerance, seed,
                              fixed=(1, 2), names=["the output"])

    def loaded() -> None:
        again = type(loss).from_json(loss.to_json())
        found, wanted = (_defined(lambda sd, a, b, which=which: which.define(sd, a, b, act), y, z) for which in (again, loss))
        close(found, wanted, "scores after JSON")

    scored = report.run("scores of examples", scores)
    if scored:
        report.run("examples alone", alone)
    report.run("the same after JSON", loaded)
    report.run("gradient", lambda: differences(False))
    report.run("masks", masked)
    def batches() -> str:
        """Scores by row in a larger batch, whose size the graph leaves open."""
        if over_batch():
            return "not compared: each depends on other examples"

        def scores(count: int, *sizes: int) -> Any:
            sd, feeds = SameDiff(), {n: np.tile(a, (count, *[1] * (a.ndim - 1))) for n, a in (("y", y), ("z", z))}
            known, given = (sd.placeholder(n, DataType.DOUBLE, *(sizes or a.shape[:1]), *a.shape[1:]) for n, a in feeds.items())
            name = loss.define(sd, known, given, act).name()
            return run_uncompiled(sd, feeds, [name], RunContext(training=True, seed=1, iteration=0))[name]
        once, twice, opened = scores(1), scores(2), scores(2, -1)
        if once.ndim == 0 or len(once) != len(z):
            return "none for single examples"
        close(opened, twice, "scores where the number of examples is open and where not")
        close(twice[:len(z)], once, "scores of the first examples in a larger batch and in a smaller one")
        return f"{len(z)} and {2 * len(z)}"

    def certain() -> str:
        """Predictions that are 0 and 1 in floating numbers."""
        if type(act).__name__ == "ActivationIdentity" and y.shape == z.shape:
            if not np.isfinite([loss.compute_score(y, y, act), *loss.compute_gradient(y, y, act).ravel()]).all():
                raise CheckFailure("score or gradients of predictions that equal their labels are not finite: add a small number to "
                                   "what is divided by")
            for by in (200, -200):
                a = (y + by).astype(np.float32)
                if any(np.isnan(p).any() for p in (loss.compute_score(y, a, act), loss.compute_gradient(y.astype(np.float32), a, act))):
                    raise CheckFailure(f"score or gradients of predictions that are {by} from their labels are no numbers: {_RANGE}; "
                                       "log(cosh(d)) is abs(d) + softplus(-2 abs(d)) - log(2)")
            return "finite where they equal the labels, and far from them"
        if type(act).__name__ not in ("ActivationSoftmax", "ActivationSigmoid"):
            return "only behind identity, softmax and sigmoid"
        wide = (np.where(z == z.max(axis=-1, keepdims=True), 1, -1) * 200).astype(np.float32)
        for a in (wide, -wide):
            parts = loss.compute_score(y, a, act), loss.compute_gradient(y.astype(np.float32), a, act)
            if not all(np.isfinite(part).all() for part in parts):
                raise CheckFailure("scores or gradients of predictions that are 0 or 1 are not finite: keep away from log(0) and from "
                                   "division by 0")
        return "finite"

    def outputs() -> str:
        """Each output of which labels speak has a gradient somewhere."""
        if y.shape != z.shape or y.ndim != 2:
            return "not compared: labels have another shape"
        found = sum(np.abs(loss.compute_gradient(y, by * z + more, act)) for by in (1, -1, 3) for more in (0, 0.5, -0.5))
        unused = [k for k in range(y.shape[1]) if np.any(y[:, k]) and not np.any(found[:, k])]
        if unused:
            raise CheckFailure(f"output {unused[0]} has no influence on the score: sum over axis 1")
        return str(y.shape[1])

    report.run("gradient with masks", lambda: differences(True))
    report.run("float32", single)
    if is_foreign(loss):
        if scored:
            report.run("any batch size", batches)
            report.run("outputs are used", outputs)
        report.run("certain predictions", certain)
        options_check(report, loss, lambda made: [_defined(lambda sd, a, b: made.define(sd, a, b, act), y, by * z) for by in (1, 10)])
    return report.permit(allow)


@in_child
def check_preprocessor(preprocessor: InputPreProcessor, inputs: InputType | Any, *, input_type: InputType | None = None,
                       minibatch: int | None = None, tolerance: float = 1e-4, seed: int = 0,
                     allow: Collection[str] = ()) -> CheckReport:
    """Check a preprocessor: configuration, types, array code against graph, gradients, masks.

    Parameters
    ----------
    preprocessor : InputPreProcessor
        What to check.
    inputs : InputType or array
        An example to run; of a type, one is drawn.
    input_type : InputType, optional
        The type of a given array, where its shape alone does not tell it.
    minibatch : int, optional
        Number of examples, where the first axis of the input has more: steps of series as rows.
    tolerance : float
        Largest relative error of a gradient.
    seed : int
        Of drawn inputs.
    allow : collection of str
        Names of checks that may fail, because it is intended.

    Examples
    --------
    >>> from dl4py.layers import CnnToFeedForwardPreProcessor, InputType
    >>> check_preprocessor(CnnToFeedForwardPreProcessor(2, 3, 4), InputType.convolutional(2, 3, 4)).passed
    True
    """
    require_instance("check_preprocessor", preprocessor, InputPreProcessor, "CnnToFeedForwardPreProcessor(2, 3, 4)")
    report = CheckReport(f"preprocessor {type(preprocessor).__name__}")
    configuration_checks(report, preprocessor)
    x = drawn(inputs, np.random.default_rng(seed)) if isinstance(inputs, InputType) else np.asarray(inputs, np.float64)
    kind = inputs if isinstance(inputs, InputType) else input_type or InputType.infer(x)
    checker = _Preprocessing(preprocessor, kind, x, minibatch or len(x), seed)
    if report.run("output type", checker.types):
        report.run("graph and arrays agree", checker.agree)
        report.run("gradient", lambda: check_gradient(checker.define, [x], 1, tolerance, seed, names=["the input"]))
        report.run("backprop", checker.backprop)
        report.run("any batch size", checker.batches)
        report.run("masks", checker.masks)
        report.run("inputs of other sizes", checker.sizes)
        options_check(report, preprocessor, checker.marks)
    return report.permit(allow)


class _Preprocessing:
    """A preprocessor with an example."""

    def __init__(self, preprocessor: InputPreProcessor, kind: InputType, x: Any, minibatch: int, seed: int) -> None:
        self.preprocessor, self.kind, self.x, self.minibatch, self.seed = preprocessor, kind, x, minibatch, seed

    def define(self, sd: SameDiff, variables: list[Any], minibatch: int | None = None) -> Any:
        """In a graph."""
        batch = sd.constant("batch", np.zeros((minibatch or self.minibatch, 1)))
        return self.preprocessor.define(sd, variables[0], batch)

    def types(self) -> str:
        """The promised type."""
        given = self.x.copy()
        given.flags.writeable = False
        try:
            found = self.preprocessor.pre_process(given, self.minibatch).shape
        except ValueError as error:
            if "read-only" in str(error):
                raise CheckFailure(f"pre_process writes to its input ({error}); return a new array") from error
            raise
        single = np.asarray(self.preprocessor.pre_process(self.x.astype(np.float32), self.minibatch)).dtype
        wide = np.asarray(self.preprocessor.pre_process(self.x, self.minibatch)).dtype
        if single == np.float64 or wide == np.float32:
            raise CheckFailure(f"pre_process of {'float32' if single == np.float64 else 'float64'} arrays gives "
                               f"{'float64' if single == np.float64 else 'float32'}: keep the type, np.asarray(numbers, array.dtype) for "
                               "constants")
        promised = self.preprocessor.output_type(self.kind)
        fits(promised.array_shape(), found, f"the output type is {promised!r}")
        return f"{promised!r}, {found}"

    def in_graph(self, x: Any, minibatch: int) -> Any:
        """The result of the graph."""
        sd = SameDiff()
        known = self.kind.array_shape()
        sizes = (-1, *known[1:]) if len(known) == x.ndim else [-1] * x.ndim      # as networks know them
        out = self.define(sd, [sd.placeholder("x", DataType.DOUBLE, *sizes)], minibatch)
        return run(sd, {"x": x}, [out.name()], RunContext(training=False, seed=1, iteration=0))[out.name()]

    def agree(self) -> str:
        """Graph and array code."""
        a, b = self.in_graph(self.x, self.minibatch), self.preprocessor.pre_process(self.x, self.minibatch)
        for _ in range(_CALLS):
            close(self.preprocessor.pre_process(self.x, self.minibatch), b, "the same array gives another result in a later call")
        return f"largest difference {close(a, b, 'graph and array code'):.1g}"

    def backprop(self) -> str:
        """``backprop`` gives the gradient."""
        if type(self.preprocessor).backprop is InputPreProcessor.backprop:
            return "not written: networks take the gradient of the graph"
        weights = np.random.default_rng(self.seed).normal(size=self.preprocessor.pre_process(self.x, self.minibatch).shape)
        sd = SameDiff()
        x = sd.var("x", self.x)
        (gradient,) = sd.gradients((self.define(sd, [x]) * sd.constant(weights)).sum(), [x])
        if gradient is None:
            raise CheckFailure("the result does not depend on the input")
        worst = close(self.preprocessor.backprop(weights, self.minibatch), gradient.eval(), "backprop and gradient")
        return f"largest difference {worst:.1g}"

    def batches(self) -> str:
        """Twice as many examples."""
        if self.minibatch != len(self.x):       # rows of several steps are not in the order of examples
            return f"{self.minibatch} examples in {len(self.x)} rows"
        one = self.preprocessor.pre_process(self.x[:1], 1)
        fits(self.preprocessor.output_type(self.kind).array_shape(), one.shape, "of one example the output type is")
        twice = np.concatenate([self.x, self.x])
        a, b = self.in_graph(twice, 2 * self.minibatch), self.preprocessor.pre_process(twice, 2 * self.minibatch)
        close(a, b, "graph and array code of twice as many examples")
        if len(b) != len(twice):                # examples are not rows of the result
            return f"{len(self.x)} and {len(twice)}"
        other = np.concatenate([self.x[:1], 2 * self.x[1:] + 1])
        first = self.preprocessor.pre_process(other, self.minibatch)[:1]
        close(first, self.preprocessor.pre_process(self.x, self.minibatch)[:1], "the first example beside others: examples are mixed. Both")
        return f"{len(self.x)} and {len(twice)}"

    def sizes(self) -> str:
        """The output type follows that of the input, as far as it takes other sizes."""
        if any(isinstance(getattr(self.preprocessor, n), int) for n in type(self.preprocessor)._fields):
            return "it has sizes of its own"
        taken = []
        for (kind,) in other_sizes([self.kind]):
            try:
                promised = self.preprocessor.output_type(kind)
                found = self.preprocessor.pre_process(drawn(kind, np.random.default_rng(0)), BATCH).shape
            except Exception:       # sizes that it refuses
                continue
            fits(promised.array_shape(), found, f"for {kind} the output type is {promised!r}")
            taken.append(str(found))
        return ", ".join(taken) or "refused"

    def marks(self, made: InputPreProcessor) -> list[Any]:
        """What tells one preprocessor from another."""
        found = made.pre_process(self.x, self.minibatch)
        written = type(made).backprop is not InputPreProcessor.backprop
        back = [np.asarray(made.backprop(np.ones_like(found), self.minibatch))] if written else []
        return [repr(made.output_type(self.kind)), np.asarray(found), *back]

    def masks(self) -> str:
        """Masks in graph and array code."""
        axis = time_axis(self.kind, self.x.ndim)
        if axis is None:
            return "no series"
        mask = (np.arange(self.x.shape[axis]) < 2 + np.arange(len(self.x))[:, None]).astype(np.float64)
        wanted, _ = self.preprocessor.feed_forward_mask_array(mask, MaskState.Active, self.minibatch)
        sd = SameDiff()
        x, given = sd.constant("x", self.x), sd.constant("mask", mask)
        found = self.preprocessor.define_mask(sd, given, x, x)
        if (found is None) != (wanted is None):
            raise CheckFailure(f"the mask of the graph is {found}, that of the array code {wanted}")
        if found is not None:
            close(found.eval(), wanted, "masks of graph and array code")
            result = self.preprocessor.pre_process(self.x, self.minibatch)
            steps = time_axis(self.preprocessor.output_type(self.kind), result.ndim)
            size = len(result) * (1 if steps is None else result.shape[steps])
            if wanted.size != size or len(wanted) != len(result):
                raise CheckFailure(f"the mask of a result of shape {result.shape} has shape {wanted.shape}: define_mask and "
                                   "feed_forward_mask_array return one number for each row (and step), or None where nothing is masked")
        return "dropped" if found is None else f"{wanted.shape}"
