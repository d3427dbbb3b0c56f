"""The single checks of a layer or vertex; each returns what it found or raises."""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ...samediff.base.datatype import DataType, is_floating
from ...samediff.base.environment import uses_reference
from ...samediff.base.user_code.check_report import CheckFailure, CheckReport
from ...samediff.base.user_code.precision import WIDENS, keeps_precision
from ...samediff.configuration.configuration import Configuration
from ...samediff.graph.gradient_check import check_gradient
from ...samediff.graph.graph import SameDiff
from ...samediff.initializers.nd4j_random import Nd4jRandom
from ..base.base import BaseLayer, Layer
from ..functions.constraints import MaxNormConstraint
from ..types.input_type import InputType, InputTypeRecurrent
from ..types.parameters import Parameter
from .check_circumstances import checks_of_others, statistics_act
from .check_options import subject_options, upgrade_check
from .check_subject import STEPS, Result, Runner, Subject, fits, time_axis

_MANY = 64              # weights, so that it matters how large each is
_GRAPHS = 3             # that are built again


def configuration_checks(report: CheckReport, given: Configuration) -> None:
    """Files, builder and copies of a configuration object."""
    report.run("survives JSON", lambda: _same(given, type(given).from_json(given.to_json())))
    report.run("survives YAML", lambda: _same(given, type(given).from_yaml(given.to_yaml())))
    report.run("builder and copy are equal", lambda: _builder(given))
    upgrade_check(report, given)


def _same(given: Configuration, again: Configuration) -> None:
    if again != given or type(again) is not type(given):
        raise CheckFailure(f"{given!r} came back as {again!r}")


def _builder(given: Configuration) -> None:
    _same(given, given.replace())
    if getattr(type(given), "Builder", None) is None:
        return
    options = {n: getattr(given, n) for n in type(given)._fields}
    defaults = _defaults(type(given))
    changed = {n: v for n, v in options.items() if n not in defaults or not _equal(v, defaults[n])}
    builder = type(given).Builder()
    for name, value in changed.items():
        builder = getattr(builder, name)(value)
    _same(given, builder.build())


def _defaults(cls: type[Configuration]) -> dict[str, Any]:
    try:
        plain = cls()
    except (TypeError, ValueError):         # it needs arguments
        return {}
    return {n: getattr(plain, n) for n in cls._fields}


def _equal(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return a is b or (a is not None and b is not None and np.array_equal(a, b))
    return bool(a == b or (a != a and b != b))


def parameters(subject: Subject) -> str:
    """Names are single, initial values have the declared shapes and are finite."""
    names = [p.name for p in subject.parameters]
    if len(set(names)) < len(names):
        raise CheckFailure(f"a name is declared twice: {names}")
    for p in subject.parameters:
        found = subject.values[p.name]
        if found.shape != p.shape or not np.isfinite(found).all():
            raise CheckFailure(f"{p.name} is declared as {p.shape}; its initial values have shape {found.shape}"
                               + ("" if np.isfinite(found).all() else " and are not finite"))
    count = subject.conf.num_params()
    if count != sum(p.size for p in subject.parameters):
        raise CheckFailure(f"num_params() is {count}, the parameters have {sum(p.size for p in subject.parameters)} values")
    return ", ".join(f"{p.name} {p.shape}" for p in subject.parameters) or "none"


def options_kept(report: CheckReport, pairs: Sequence[tuple[Configuration, Configuration]]) -> None:
    """Add a check that nothing which ran has changed a configuration object, of which there are copies."""
    def check() -> None:
        for kept, now in pairs:
            if now != kept:
                raise CheckFailure(f"{kept!r} became {now!r}: what is built of options does not change them")
    report.run("options stay", check)


def used(subject: Subject) -> str:
    """Each parameter that trains has an effect on activations or scores."""
    sd = SameDiff()
    names = [p.name for p in subject.parameters if p.role != "statistic"]
    values = {p.name: sd.var(p.name, subject.values[p.name]) for p in subject.parameters}
    xs = [sd.constant(f"x{i}", a) for i, a in enumerate(subject.arrays)]
    labels = None if subject.labels is None else sd.constant("labels", np.asarray(subject.labels, np.float64))
    built = subject.build(sd, xs, values, [None] * len(xs), labels)
    outputs = [v.sum() for v in (built.activations, built.scores) if v is not None]
    found = sd.gradients(sum(outputs[1:], outputs[0]), [values[n] for n in names])
    unused = [n for n, g in zip(names, found) if g is None]
    if unused:
        raise CheckFailure(f"nothing that is computed depends on {', '.join(unused)}")
    return f"{len(names)}"


def declared(subject: Subject, runner: Runner) -> str:
    """The graph has no other variables than the parameters."""
    runner.variables()
    sd, _ = next(iter(runner.built.values()))
    hidden = [v.name() for v in sd.variables() if v.is_trainable() and v.name() not in subject.values]
    if hidden:
        raise CheckFailure(f"the variable {hidden[0]!r} is made while the graph is built: it is not a parameter of the network. Declare it "
                           "in define_parameters, or use sd.constant for what does not train")
    return f"{len(subject.values)}"


def statistics(subject: Subject, runner: Runner) -> str:
    """Each statistic moves in training."""
    names = [p.name for p in subject.parameters if p.role == "statistic"]
    moves = runner.variables().hooks.statistic_updates
    if len(moves) < len(names):
        still = [n for n in names if n not in moves] or names
        raise CheckFailure(f"nothing moves {', '.join(still)} in training: params.move(name, step) takes step off after each one; what "
                           "never changes is an option or a constant")
    statistics_act(subject, names)
    return ", ".join(names)


def keeps(subject: Subject, promised: InputType, shape: tuple[int, ...], text: str) -> None:
    """The shape of the promised type, unless the type is only what DL4J reports."""
    if not getattr(subject.conf, "reports_other_type", False):
        fits(promised.array_shape(), shape, text)


def output_type(subject: Subject, runner: Runner) -> str:
    """The promised type against the array, for series also with a known number of steps; and the shapes in the graph."""
    found = runner.run().activations.shape
    promised = subject.output_type(*subject.kinds)
    if promised is None:
        return f"none promised; {found}"
    keeps(subject, promised, found, f"the output type is {promised!r}")
    known = [k.replace(time_series_length=a.shape[-1 if time_axis(k, a.ndim) == a.ndim - 1 else 1])
             if isinstance(k, InputTypeRecurrent) and k.time_series_length < 0 else k for k, a in zip(subject.kinds, subject.arrays)]
    told = subject.output_type(*known)
    if told is not None:
        keeps(subject, told, found, f"for {known!r} the output type is {told!r}")
    spec = runner.variables().activations.spec
    if not spec.accepts(found):
        raise CheckFailure(f"with open sizes the graph promises {spec.shape}, the activations are {found}")
    return f"{promised!r}, {found}"


def another_graph(subject: Subject, runner: Runner) -> None:
    """It builds further graphs as it did the first, which compute the same."""
    first = runner.run().activations
    for _ in range(_GRAPHS):
        try:
            again = Runner(subject).run().activations
        except Exception as error:
            raise CheckFailure(f"it builds one graph, and fails for another: {error}. A graph is built anew for each kind of run: keep no "
                               "variable of one in the object, class or module") from error
        if np.isfinite(first).all():
            close(again, first, "a graph that is built later gives something else: a graph is built anew for each kind of run, so count "
                                "and keep nothing meanwhile")


def finite(subject: Subject, runner: Runner) -> None:
    """No NaN, no infinity, in training and outside."""
    for training in (False, True):
        found = runner.run(labels=subject.labels, label_mask=subject.label_mask, training=training)
        for name, a in vars(found).items():
            if a is not None and not np.isfinite(a).all():
                raise CheckFailure(f"{name} hold NaN or infinity" + (" in training" if training else ""))


def gradient(subject: Subject, masks: Sequence[Any], tolerance: float, seed: int, with_labels: bool = True) -> str:
    """Gradients for inputs and parameters, in training, of activations and scores."""
    if getattr(subject.conf, "stops_gradients", False):
        return "ends here"
    count, names = len(subject.arrays), [p.name for p in subject.parameters]
    label_mask = masks[0] if subject.has_loss and masks else subject.label_mask
    masks = [None] * count if subject.has_loss or not masks else list(masks)
    extra = [subject.labels if with_labels else None, label_mask]
    arrays = [*subject.arrays, *[subject.values[n] for n in names], *masks, *extra]
    fixed = {count + i for i in range(len(names)) if subject.frozen and subject.is_layer} | set(range(count + len(names), len(arrays)))
    if all(a is None or not is_floating(a.dtype) for i, a in enumerate(arrays) if i not in fixed):
        return "nothing to differentiate"

    def build(sd: Any, variables: list[Any]) -> list[Any]:
        xs, own, rest = variables[:count], variables[count:count + len(names)], variables[count + len(names):]
        built = subject.build(sd, xs, dict(zip(names, own)), rest[:count], *rest[count:])
        outputs = [v for v in (built.activations, built.scores) if v is not None]
        return outputs if built.scores is None else outputs[1:]

    given = ["the input" if count == 1 else f"input {i}" for i in range(count)]

    def check(arrays: Sequence[Any]) -> str:
        return check_gradient(build, arrays, 1, tolerance, seed, fixed=fixed, names=[*given, *[f"parameter {n!r}" for n in names]])
    whole = [i < count and is_floating(a.dtype) and bool((a == np.round(a)).all()) for i, a in enumerate(arrays)]
    try:
        return check(arrays)
    except AssertionError:
        if not any(whole):
            raise
    return check([a + 0.3 if moves else a for a, moves in zip(arrays, whole)]) + ", whole numbers, such as indices, moved by 0.3"


def scored_together(subject: Subject, runner: Runner) -> bool:
    """Whether a loss is one number for all examples, of which none can be masked."""
    scores = runner.run(labels=subject.labels).scores if subject.foreign and subject.has_loss else None
    return scores is not None and scores.ndim == 0


def takes_masks(subject: Subject, runner: Runner, masks: Sequence[Any]) -> bool:
    """Whether the masks change anything."""
    ones = [None if m is None else np.ones_like(m) for m in masks]
    a, b = (_masked_run(subject, runner, subject.arrays, m) for m in (masks, ones))
    return not all(x is None or np.array_equal(x, y) for x, y in ((a.activations, b.activations), (a.scores, b.scores)))


def _masked_run(subject: Subject, runner: Runner, arrays: Sequence[Any], masks: Sequence[Any]) -> Result:
    if subject.has_loss:
        return runner.run(arrays, [None] * len(arrays), subject.labels, masks[0])
    return runner.run(arrays, masks)


def masked(subject: Subject, runner: Runner, masks: Sequence[Any]) -> str:
    """Check that values in masked steps do not change scores, or activations that are not masked."""
    changed = [a if m is None else np.where(_along(m, a, k), a, np.roll(a, 1)) for a, m, k in zip(subject.arrays, masks, subject.kinds)]
    first, second = (_masked_run(subject, runner, arrays, masks) for arrays in (subject.arrays, changed))
    if subject.has_loss:
        if first.scores is not None:
            close(first.scores, second.scores, "masked steps change the scores")
        return "scores"
    if first.mask is None:
        close(first.activations, second.activations, "masked steps change the activations, and no mask follows")
        return "no mask follows"
    out, kind = first.activations, subject.output_type(*subject.kinds)
    axis = time_axis(kind, out.ndim)
    wanted = (len(out), 1 if axis is None else out.shape[axis])
    if first.mask.shape != wanted:
        raise CheckFailure(f"the mask that follows is of shape {first.mask.shape}, for activations of shape {out.shape} it is {wanted}, or "
                           "None where it is used up: return it from feed_forward_mask")
    where = _along(first.mask, out, kind)
    close(out * where, second.activations * where, "masked steps change activations of other steps")
    return f"the mask that follows is {first.mask.shape}"


def padded(subject: Subject, runner: Runner, masks: Sequence[Any]) -> str:
    """A series whose last steps are masked gives what the series without these steps gives."""
    whole, compared = _masked_run(subject, runner, subject.arrays, masks), 0
    axes = [time_axis(k, a.ndim) for k, a in zip(subject.kinds, subject.arrays)]
    for row in range(len(subject.arrays[0])):
        lengths = [a.shape[axis] if axis is not None and m is None else int(m[row].sum()) if axis is not None else 0
                   for a, axis, m in zip(subject.arrays, axes, masks)]
        if any(m is not None and axis is not None and not m[row, :n].all() for m, axis, n in zip(masks, axes, lengths)) or 0 in [
                n for n, axis in zip(lengths, axes) if axis is not None]:
            continue            # steps are missing in the middle, or all
        short = [a[row:row + 1] if axis is None else np.take(a[row:row + 1], np.arange(n), axis)
                 for a, axis, n in zip(subject.arrays, axes, lengths)]
        given = [None if m is None else m[row:row + 1, :n] if axis is not None else m[row:row + 1]
                 for m, axis, n in zip(masks, axes, lengths)]
        alone = _masked_run(subject, runner, short, given)
        a, b = whole.activations[row:row + 1], alone.activations
        axis = time_axis(subject.output_type(*subject.kinds), a.ndim)
        if axis is not None:
            steps = b.shape[axis] if alone.mask is None else int(alone.mask.sum())
            a, b = (np.take(x, np.arange(min(steps, b.shape[axis], a.shape[axis])), axis) for x in (a, b))
        close(a, b, f"a series of {max(lengths)} steps gives something else when masked steps follow: divide by the sum of the mask, not "
                    "by the number of steps, and count places from the first step, not from the last")
        compared += 1
    return f"{compared} series"


def unmasked(subject: Subject, runner: Runner, masks: Sequence[Any]) -> str:
    """Judge a layer that ignores its mask: right where steps do not see each other, and allowed as several of DL4J's layers do so."""
    try:
        masked(subject, runner, masks)
    except CheckFailure:
        if not subject.foreign:
            return "not looked at: masked steps have an influence on others"
        raise CheckFailure("masked steps have an influence on activations that count, and the mask is not looked at: use it in "
                           "define_layer, or say that this is intended: allow={'masks'}") from None
    return "not looked at"


def states(subject: Subject, runner: Runner) -> str:
    """State that is read is kept for the next piece of a series."""
    hooks = runner.variables().hooks
    lost, unread = hooks.read - set(hooks.kept), set(hooks.kept) - hooks.read
    if lost or unread:
        name = min(lost or unread)
        raise CheckFailure(f"the state {name!r} is read by params.state and never kept: params.keep_state({name!r}, value) hands it on"
                           if lost else f"the state {name!r} is kept and never read: params.state({name!r}, x, size) gives it")
    return ", ".join(sorted(hooks.kept)) or "none"


def weights(subject: Subject) -> str:
    """Initial weights differ from each other, and from those of another seed."""
    first, second = ({n: np.asarray(v, np.float64) for n, v in subject.conf.initial_values(Nd4jRandom(seed), np.dtype(np.float64)).items()}
                     for seed in (1, 2))
    for p in subject.parameters:
        given = p.init is not None or getattr(subject.conf, "weight_init", None) is not None
        if p.role != "weight" or len([n for n in p.shape if n > 1]) < 2:
            continue
        values = first[p.name]
        if p.init is None and p.fan_in == p.fan_out == 1 and values.size > _MANY:
            raise CheckFailure(f"{p.name!r} of shape {p.shape} is declared with fan_in=1 and fan_out=1, by which its values are scaled: "
                               "say how many inputs and outputs it joins, or that this is intended: allow={'initial weights'}")
        sizes = getattr(subject.conf, "n_in", 0), getattr(subject.conf, "n_out", 0)
        if p.init is None and p.shape == sizes == (p.fan_out, p.fan_in) and p.fan_in != p.fan_out:
            raise CheckFailure(f"{p.name!r} of shape {p.shape}, (n_in, n_out), is declared with fan_in={p.fan_in:g} and "
                               f"fan_out={p.fan_out:g}: fan_in is the number of inputs that a unit joins, n_in. If this is meant: "
                               "allow={'initial weights'}")
        if not values.any() and not _says_zero(subject.conf, p):
            raise CheckFailure(f"all initial values of {p.name!r} are 0: the units of the layer stay equal. Leave init to the layer's "
                               "initialiser, or say that this is intended: allow={'initial weights'}")
        if given and len(np.unique(values)) > values.size // 2 and np.array_equal(values, second[p.name]):
            raise CheckFailure(f"every seed gives the same initial values of {p.name!r}: draw from the rng that is given")
    return f"{sum(p.role == 'weight' for p in subject.parameters)}"


def _says_zero(conf: Any, parameter: Parameter) -> bool:
    """Whether the options of a layer ask for zeros, or another constant."""
    init = getattr(conf, "weight_init", None)
    return any(word in str(init).lower() for word in ("zero", "constant")) if parameter.init is None else False


def inner_rules(subject: Subject) -> str:
    """Check that constraints and regularization of the layers inside act."""
    conf, names = subject.conf, []
    for name in type(conf)._fields:
        held = getattr(conf, name)
        if not isinstance(held, Layer) or not held.parameter_table():
            continue
        names.append(name)
        ruled = held.replace(constraints=(MaxNormConstraint(max_norm=1.0, params=tuple(p.name for p in held.parameter_table())),))
        if not conf.replace(**{name: ruled}).constraints_in_force:
            raise CheckFailure(f"constraints of the layer in {name!r} are lost: derive from ContainerLayer, or give them on in "
                               "constraints_in_force, by the names that the parameters have here")
        if isinstance(held, BaseLayer):
            inside = held.replace(l2=0.5)
            made = conf.replace(**{name: inside})
            regular = [any(part.regularization_for(p) for p in part.parameter_table()) for part in (inside, made)]
            if regular == [True, False]:
                raise CheckFailure(f"regularization of the layer in {name!r} is lost: derive from ContainerLayer, or write "
                                   "regularization_for")
    return ", ".join(names) or "none"


def _along(mask: Any, a: Any, kind: Any) -> Any:
    """The mask with the axes of an array."""
    if mask.ndim == a.ndim:
        return mask != 0
    axis = time_axis(kind, a.ndim)
    if axis is not None and mask.shape[1] == a.shape[axis]:
        return np.expand_dims(mask, 3 - axis) != 0
    return mask.reshape(mask.shape[0], *[1] * (a.ndim - 1)) != 0


def close(a: Any, b: Any, text: str, rtol: float = 1e-9) -> float:
    """The largest difference, as a share of the largest value where that is above 1; too large ones are refused."""
    scale = max(1.0, float(np.abs(b).max(initial=0.0)))
    worst = float(np.abs(np.asarray(a, np.float64) - np.asarray(b, np.float64)).max(initial=0.0)) / scale
    if np.shape(a) != np.shape(b) or not worst <= rtol:
        raise CheckFailure(f"{text}: shapes {np.shape(a)} and {np.shape(b)}, largest difference {worst:.2g}")
    return worst


def batches(subject: Subject, runner: Runner) -> str:
    """One row, and twice as many; rows of inference do not see each other."""
    whole = runner.run().activations
    twice = runner.run([np.concatenate([a, a]) for a in subject.arrays]).activations
    if twice.shape[0] != 2 * whole.shape[0]:
        raise CheckFailure(f"the activations of {len(subject.arrays[0])} rows are {whole.shape}, of twice as many {twice.shape}")
    if len({len(a) for a in subject.arrays}) > 1 or len(whole) != len(subject.arrays[0]):
        if subject.foreign and len({len(a) for a in subject.arrays}) == 1:
            raise CheckFailure(f"{len(subject.arrays[0])} examples give {len(whole)} rows of activations, and labels have one for each "
                               "example: join along axis 1. If examples are stacked on purpose: allow={'any batch size'}")
        return "rows are rearranged"
    close(twice[:len(whole)], whole, "the first rows of a larger batch differ")
    close(runner.run([a[:1] for a in subject.arrays]).activations, whole[:1], "the first row alone differs")
    return f"1, {len(whole)}, {len(twice)}"


def lengths(subject: Subject, runner: Runner) -> str:
    """Series that are longer."""
    arrays = []
    for kind, a in zip(subject.kinds, subject.arrays):
        axis = time_axis(kind, a.ndim)
        known = not isinstance(kind, InputTypeRecurrent) or kind.time_series_length >= 0
        arrays.append(a if axis is None or known else np.concatenate([a, np.take(a, [1, 0, 2], axis)], axis))
    promised = subject.output_type(*subject.kinds)
    found = runner.run(arrays).activations
    if promised is not None:
        keeps(subject, promised, found.shape, f"the output type is {promised!r}")
    return f"{STEPS} and {STEPS + 3} steps" if subject.arrays[0].shape != arrays[0].shape else f"activations {found.shape}"


def open_lengths(subject: Subject) -> bool:
    """Whether an input is a series of any length."""
    return any(isinstance(k, InputTypeRecurrent) and k.time_series_length < 0 and time_axis(k, a.ndim) is not None
               and a.shape[time_axis(k, a.ndim) or 0] >= 3 for k, a in zip(subject.kinds, subject.arrays))


def float32(subject: Subject, runner: Runner) -> str:
    """The same in single precision; in training, single precision is that of a compiled plan."""
    single = Runner(subject, DataType.FLOAT)
    worst = 0.0
    for training in (False, True):
        given = {"labels": subject.labels, "label_mask": subject.label_mask, "training": training}
        a, b = single.run(**given, compiled=training), runner.run(**given)
        if a.activations.dtype != np.float32:
            raise CheckFailure(f"activations of float32 inputs are {a.activations.dtype}: {WIDENS}")
        if _draws(runner):
            continue                # random numbers are not the same in both types
        for name in ("activations", "scores"):
            if getattr(a, name) is not None:
                worst = max(worst, close(getattr(a, name), getattr(b, name), f"{name} in float32 and float64", 2e-4))
    if subject.foreign and all(is_floating(a.dtype) for a in subject.arrays):
        keeps_precision(lambda by: [runner.run([by * a for a in subject.arrays]).activations], "output")
    return f"largest difference {worst:.1g}"


def _draws(runner: Runner) -> bool:
    return any(node.op.stateful for sd, _ in runner.built.values() for node in sd.nodes())


def compiled(subject: Subject, runner: Runner) -> str:
    """Compiled plans against the reference executor."""
    given = {"labels": subject.labels, "label_mask": subject.label_mask, "training": True}
    fast, slow = (runner.run(**given, compiled=by_plan) for by_plan in (True, False))
    found = [close(a, b, "plan and reference executor") for a, b in ((fast.activations, slow.activations), (fast.scores, slow.scores))
             if a is not None]
    return f"largest difference {max(found):.1g}"


def graph_checks(report: CheckReport, subject: Subject, masks: Sequence[Any] | None, tolerance: float, seed: int) -> Iterator[Runner]:
    """All checks that need no network; gives the runner when the subject runs at all."""
    if not report.run("parameters", lambda: parameters(subject)):
        return
    runner = Runner(subject)
    if not report.run("output type", lambda: output_type(subject, runner)):
        return
    if subject.foreign and not report.run("graphs", lambda: another_graph(subject, runner)):
        return
    report.run("values are finite", lambda: finite(subject, runner))
    report.run("gradient", lambda: gradient(subject, (), tolerance, seed))
    if subject.foreign and subject.parameters:
        report.run("initial weights", lambda: weights(subject))
    if subject.foreign and subject.is_layer and not subject.frozen:
        report.run("rules of layers inside", lambda: inner_rules(subject))
    if subject.foreign:
        report.run("variables are declared", lambda: declared(subject, runner))
    if runner.variables().hooks.read or runner.variables().hooks.kept:
        report.run("states", lambda: states(subject, runner))
    read = True
    if subject.parameters and not (subject.frozen or hasattr(subject.conf, "define_pretraining")):
        read = report.run("parameters are used", lambda: used(subject))
    if subject.foreign and subject.is_layer and not subject.frozen and any(p.role == "statistic" for p in subject.parameters):
        report.run("statistics", lambda: statistics(subject, runner))
    if masks is not None and scored_together(subject, runner):
        report.run("masks", lambda: "not looked at: the loss is one number")
    elif masks is not None:
        if takes_masks(subject, runner, masks):
            kept = report.run("masks", lambda: masked(subject, runner, masks))
            report.run("gradient with masks", lambda: gradient(subject, masks, tolerance, seed))
        else:
            kept = report.run("masks", lambda: unmasked(subject, runner, masks))
        if kept and subject.foreign and not subject.has_loss and open_lengths(subject):
            report.run("masked steps are as none", lambda: padded(subject, runner, masks))
    report.run("any batch size", lambda: batches(subject, runner))
    if open_lengths(subject):
        report.run("any number of steps", lambda: lengths(subject, runner))
    report.run("float32", lambda: float32(subject, runner))
    for name, check in checks_of_others(subject, read) if subject.foreign else ():
        report.run(name, check)
    if subject.foreign:
        subject_options(report, subject, masks)
    if not uses_reference():
        report.run("compiled plan", lambda: compiled(subject, runner))
    yield runner
