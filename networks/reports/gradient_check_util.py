"""Gradients of networks against central differences, under DL4J's name."""
from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from enum import Enum
from typing import Any, ClassVar, Self

import numpy as np

from ...samediff.base.datatype import DataType
from ...samediff.configuration.method_builder import MethodBuilder
from ...samediff.data.sets.multi_dataset import MultiDataSet
from ...samediff.errors import ConfigurationError, DataTypeError, OutOfRangeError, UnknownNameError, did_you_mean
from ...samediff.training import NoOp, Sgd
from ...samediff.training.listeners.listeners import report
from ..batches.given_data import batch_in
from ..engine.engine import Engine
from ..structure.java_names import GradientCheckNames, GradientCheckUtilNames

__all__ = ["GradientCheckUtil"]

_POSITIONS = ("epsilon", "max_rel_error", "min_absolute_error", "print", "exit_on_first_error", "inputs", "labels",
              "input_mask", "label_mask", "subset", "max_per_param", "exclude_params")


class GradientsShown(Enum):
    """``GradientCheckUtil.PrintMode``: every number, those whose gradients are both zero and failures, or failures alone are shown."""

    ALL = 0
    ZEROS = 1
    FAILURES_ONLY = 2


class GradientCheck(MethodBuilder, GradientCheckNames):
    """A check for :meth:`GradientCheckUtil.check_gradients`: ``GradientCheckUtil.MLNConfig()`` or ``GraphConfig()``."""

    def net(self, net: Any) -> Self:
        """Check the gradients of this network, in DOUBLE."""
        return self._set(net=net)

    def inputs(self, *inputs: Any) -> Self:
        """Use these features, an array for each input."""
        return self._set(inputs=inputs)

    input = inputs

    def labels(self, *labels: Any) -> Self:
        """Use these labels, an array for each output."""
        return self._set(labels=labels)

    def input_mask(self, *masks: Any) -> Self:
        """Use these masks of the features."""
        return self._set(input_mask=masks)

    def label_mask(self, *masks: Any) -> Self:
        """Use these masks of the labels."""
        return self._set(label_mask=masks)

    def epsilon(self, epsilon: float) -> Self:
        """Move parameters by so much; 1e-6 by default."""
        return self._set(epsilon=epsilon)

    def max_rel_error(self, error: float) -> Self:
        """Allow such a relative error, ``|a - b| / (|a| + |b|)``; 1e-3 by default."""
        return self._set(max_rel_error=error)

    def min_absolute_error(self, error: float) -> Self:
        """Allow smaller differences whatever their relative error; 1e-8 by default."""
        return self._set(min_absolute_error=error)

    def print(self, mode: GradientsShown) -> Self:
        """Report so much; ``PrintMode.ZEROS`` by default."""
        return self._set(print=mode)

    def exit_on_first_error(self, wanted: bool) -> Self:
        """Whether the first failure ends the check; not by default."""
        return self._set(exit_on_first_error=wanted)

    def subset(self, wanted: bool) -> Self:
        """Whether at most ``max_per_param`` numbers of each parameter are checked, evenly spread."""
        return self._set(subset=wanted)

    def max_per_param(self, number: int) -> Self:
        """Check at most so many numbers of each parameter, where ``subset`` is set."""
        return self._set(max_per_param=number)

    def exclude_params(self, names: Collection[str]) -> Self:
        """Leave parameters out, such as ``{"0_W"}``."""
        return self._set(exclude_params=names)

    def call_each_iter(self, call: Callable[[Any], Any]) -> Self:
        """Call a function of the network before each score."""
        return self._set(call_each_iter=call)

    def values(self) -> Mapping[str, Any]:
        """What was chosen."""
        return dict(self._values)


class GradientCheckUtil(GradientCheckUtilNames):
    """Gradients of networks against central differences of their score, number by number.

    Notes
    -----
    Source: DL4J's ``GradientCheckUtil``. :func:`~dl4py.layers.check_layer` checks more of a layer, and shows what is wrong.

    Examples
    --------
    >>> from dl4py.layers import DenseLayer, OutputLayer
    >>> from dl4py.networks import MultiLayerNetwork, NeuralNetConfiguration
    >>> conf = (NeuralNetConfiguration.Builder().seed(1).data_type("double").updater(NoOp())
    ...         .list(DenseLayer(n_in=3, n_out=4, activation="tanh"), OutputLayer(n_in=4, n_out=2)).build())
    >>> net = MultiLayerNetwork(conf).init()
    >>> x, y = np.linspace(-1, 1, 15).reshape(5, 3), np.eye(2)[[0, 1, 0, 1, 1]]
    >>> GradientCheckUtil.check_gradients(net, 1e-6, 1e-3, 1e-8, False, True, x, y)
    True
    >>> GradientCheckUtil.checkGradients(GradientCheckUtil.MLNConfig().net(net).input(x).labels(y))
    True
    """

    MLNConfig: ClassVar[type[GradientCheck]] = GradientCheck
    GraphConfig: ClassVar[type[GradientCheck]] = GradientCheck
    PrintMode: ClassVar[type[GradientsShown]] = GradientsShown

    @staticmethod
    def check_gradients(net: Any, *arguments: Any, **options: Any) -> bool:
        """Return whether all gradients are right; what is wrong is reported.

        Parameters
        ----------
        net : MultiLayerNetwork, ComputationGraph, MLNConfig or GraphConfig
            The network, of type DOUBLE, with updaters ``NoOp()`` or ``Sgd(1.0)``, whose updates are gradients; or all of it.
        *arguments
            In DL4J's order: epsilon, largest relative error, least absolute error, whether all is reported, whether to end at the first
            failure, features, labels, mask of the features, mask of the labels, whether to check a subset, its size, parameters
            to leave out.
        **options
            The same by the names of ``MLNConfig``.

        Raises
        ------
        DataTypeError
            The network is not of type DOUBLE.
        ConfigurationError
            Other updaters, or no labels.
        OutOfRangeError
            An epsilon that is not above 0 and up to 0.1, or a relative error that is not above 0 and up to 0.25.
        UnknownNameError
            A parameter to leave out that the network does not have.
        """
        check = net if isinstance(net, GradientCheck) else GradientCheck().net(net)
        for name, value in {**dict(zip(_POSITIONS, arguments)), **options}.items():    # DL4J's seed behind them: dropout repeats anyway
            getattr(check, name)(value)
        return _Differences(**check.values()).are_right()


class _Differences:
    def __init__(self, net: Any = None, inputs: Any = None, labels: Any = None, input_mask: Any = None, label_mask: Any = None, *,
                 epsilon: float = 1e-6, max_rel_error: float = 1e-3, min_absolute_error: float = 1e-8,
                 print: Any = GradientsShown.ZEROS, exit_on_first_error: bool = False, subset: bool = False, max_per_param: int = 0,
                 exclude_params: Collection[str] | None = None, call_each_iter: Callable[[Any], Any] | None = None) -> None:
        if not isinstance(getattr(net, "engine", None), Engine):
            raise ConfigurationError(f"check_gradients takes a network, or a configuration with net(...); got {net!r:.60}")
        for name, value, most in (("epsilon", epsilon, 0.1), ("max_rel_error", max_rel_error, 0.25)):
            if not 0 < value <= most:
                raise OutOfRangeError(f"check_gradients: {name} is above 0 and up to {most}; got {value}")
        if inputs is None or labels is None:
            raise ConfigurationError("check_gradients needs features and labels")
        self.net, self.epsilon, self.most, self.least = net, epsilon, max_rel_error, min_absolute_error
        self.data = MultiDataSet(*map(_several, (inputs, labels, input_mask, label_mask)))
        self.mode = print if isinstance(print, GradientsShown) else GradientsShown.ALL if print else GradientsShown.FAILURES_ONLY
        self.exits, self.each = exit_on_first_error, call_each_iter
        self.number = max_per_param if subset and max_per_param else None
        self.left_out = set(exclude_params or ())
        self._check()

    def _check(self) -> None:
        structure, table = self.net.engine.structure, self.net.param_table()
        if DataType.of(structure.dtype) is not DataType.DOUBLE:
            raise DataTypeError(f"differences need a network of type DOUBLE, this one is {DataType.of(structure.dtype).name}: "
                                ".data_type(DataType.DOUBLE)")
        for name in self.left_out - {*table}:
            raise UnknownNameError(f"no parameter {name!r}{did_you_mean(name, table)}; parameters: {', '.join(table)}")
        for slot, (_, parameter) in zip(self.net.engine.parameters.slots, self.net.engine.parameters.owners):
            if parameter.role == "statistic":
                self.left_out.add(slot.name)
            elif not (isinstance(slot.updater, NoOp) or (isinstance(slot.updater, Sgd) and slot.updater.get_learning_rate(0, 0) == 1)):
                raise ConfigurationError(f"updates of {slot.name} are no gradients: the updater is NoOp() or Sgd(1.0) for this check, "
                                         f"got {slot.updater}")

    def score(self) -> float:
        if self.each is not None:
            self.each(self.net)
        return float(self.net.score(self.data, True))

    def gradients(self) -> dict[str, Any]:
        engine, batch = self.net.engine, batch_in(self.net.structure, self.data, "check_gradients")
        with engine.lock:
            engine.steps.gradient(batch)
            engine.updates.make(batch.size)         # divided by the examples, and with the regularization
            return {name: np.array(array) for name, array in engine.flat.gradient_arrays.items()}

    def are_right(self) -> bool:
        if self.each is not None:
            self.each(self.net)
        gradients, failed, checked = self.gradients(), 0, 0
        for name, array in self.net.param_table().items():
            if name in self.left_out:
                continue
            numbers = np.arange(array.size)
            if self.number is not None and self.number < len(numbers):
                numbers = np.linspace(0, len(numbers) - 1, self.number).astype(int)
            for place in (tuple(map(int, np.unravel_index(i, array.shape))) for i in numbers):
                checked, wrong = checked + 1, self._is_wrong(name, array, place, float(gradients[name][place]))
                failed += wrong
                if wrong and self.exits:
                    return False
        report(f"GradientCheckUtil: {checked} numbers checked, {checked - failed} right, {failed} wrong")
        return not failed

    def _is_wrong(self, name: str, array: Any, place: tuple[int, ...], found: float) -> bool:
        before, scores = array[place], []
        try:
            for step in (self.epsilon, -self.epsilon):
                array[place] = before + step
                scores.append(self.score())
        finally:
            array[place] = before
        expected = (scores[0] - scores[1]) / (2 * self.epsilon)
        apart, total = abs(expected - found), abs(expected) + abs(found)
        relative = apart / total if total else 0.0
        wrong = not (relative <= self.most or apart < self.least)
        zero = found == 0 and expected == 0
        if wrong or self.mode is GradientsShown.ALL or (zero and self.mode is GradientsShown.ZEROS):
            report(f"{name}{list(place)} {'FAILED' if wrong else 'passed'}: gradient {found:.8g}, difference {expected:.8g}, "
                   f"relative error {relative:.3g}")
        return wrong


def _several(arrays: Any) -> Any:
    """The arrays of all inputs or outputs, which may stand in a list."""
    return arrays[0] if isinstance(arrays, tuple) and len(arrays) == 1 else arrays
