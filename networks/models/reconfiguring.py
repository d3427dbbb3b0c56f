"""Changing what a network is, with its parameters kept."""
from __future__ import annotations

from typing import Any, Self

import numpy as np

from ...samediff.base.datatype import DataType
from ...samediff.errors import ConfigurationError, DataTypeError
from ...samediff.training import Finding
from ..reports.doctor import examine
from ..reports.memory_report import memory_report
from ..reports.rate_range import LearningRateRange, rate_range
from ..reports.updater_view import UpdaterView
from ..structure.settings import CacheMode
from ..structure.structure import structure_of
from .network import Network


class ReconfigurationMixin(Network):
    """The part of a network that takes other settings, types and gradients from outside."""

    def set_configuration(self, configuration: Any) -> None:
        """Go on with another configuration of the same parameters; updater state stays where it fits, counters stay.

        Raises
        ------
        ConfigurationError
            Another kind of network, other parameters, or another data type.
        """
        old = self._configuration
        if not isinstance(configuration, type(old)):
            raise ConfigurationError(f"expected a {type(old).__name__}, got {type(configuration).__name__}")
        if self._engine is None:
            self._configuration = configuration
            return
        engine = self._engine
        with engine.lock:
            if configuration.data_type != old.data_type:
                raise ConfigurationError(f"the network computes in {old.data_type.name}, the configuration given in "
                                         f"{configuration.data_type.name}; use convert_data_type")
            structure = structure_of(configuration)
            shapes = [{s.name: s.shape for m in given.members for s, _ in m.slots()} for given in (engine.structure, structure)]
            if list(shapes[0].items()) != list(shapes[1].items()):
                raise ConfigurationError(f"the configuration given has other parameters: expected {shapes[0]}, got {shapes[1]}")
            try:
                engine.reconfigure(structure)
            finally:                    # both or neither, whatever interrupts this
                if engine.structure is structure:
                    self._configuration = configuration

    def convert_data_type(self, data_type: DataType | str) -> Self:
        """A network that computes in another floating-point type, with parameters, updater state and counters converted.

        The network itself comes back when it has that type.
        """
        dtype = DataType.of(data_type)
        if not dtype.is_floating:
            raise DataTypeError(f"a network computes in a floating-point type; got {dtype.name}")
        engine = self.engine
        with engine.lock:
            if dtype == engine.structure.dtype:
                return self
            engine.structure.check_complete("convert its updater's state")
            other = type(self)(self._configuration.replace(data_type=dtype))
            other.init(engine.flat.params).engine.take_over(engine)
        return other

    def update(self, gradient: Any) -> None:
        """Add a gradient to the parameters, as it is (DL4J's ``update``): to descend, give the negative of an update.

        Raises
        ------
        ConfigurationError
            A gradient of another size.
        """
        flat = np.asarray(gradient.gradient()).reshape(-1)
        engine = self.engine
        with engine.flat.gate:
            if flat.size != engine.flat.params.size:
                raise ConfigurationError(f"the network has {engine.flat.params.size} parameters, the gradient has {flat.size}")
            engine.flat.params[...] += flat

    def set_updater(self, updater: UpdaterView) -> None:
        """Take over the state of another network's updater; ConfigurationError when it has another size."""
        self.get_updater().set_state_view_array(updater.state_view())

    def updater_divide_by_minibatch(self, name: str) -> bool:
        """Whether the gradient of a parameter ("0_W") is divided by the number of examples; not so for running statistics."""
        self.get_param(name)
        return next(s.scaled for s in self.engine.parameters.slots if s.name == name)

    def apply_constraints(self, iteration: int | None = None, epoch: int | None = None) -> None:
        """Apply the constraints of all layers to their parameters, as after a step; ``iteration`` and ``epoch`` have no effect."""
        engine = self.engine
        with engine.lock:
            engine.parameters.rules.constrain()

    def set_cache_mode(self, mode: CacheMode | str | None) -> None:
        """Note DL4J's cache mode in the configuration; it has no effect here."""
        value = CacheMode.NONE if mode is None else CacheMode(mode) if isinstance(mode, str) else mode
        self._configuration = self._configuration.replace(cache_mode=value)

    def clear_layers_states(self) -> None:
        """Forget inputs, labels and masks that were set."""
        self.clear()

    def memory_info(self, mini_batch: int, *input_types: Any) -> str:
        """A table of the bytes that parameters, updater state and work take for batches of that size.

        Parameters
        ----------
        mini_batch : int
            Number of examples, at least 1.
        *input_types : InputType
            One for each input.
        """
        return memory_report(type(self).__name__, self.engine, mini_batch, input_types)

    def doctor(self, data: Any, rates: bool = True) -> list[Finding]:
        """Look for what goes wrong in training, before it starts: each finding says what helps. The network stays as it is.

        It looks at the data (not finite, not normalized, constant), the labels (out of range, classes imbalanced), activations (dead units,
        saturated ones), gradients (exploding, vanishing) and the learning rate.

        Parameters
        ----------
        data : DataSet
            Examples as the network is trained with them; some hundreds do.
        rates : bool, default True
            Whether to try learning rates, as :meth:`find_learning_rate` does.

        Examples
        --------
        >>> import numpy as np
        >>> from dl4py import DataSet, MultiLayerNetwork, NeuralNetConfiguration, OutputLayer
        >>> net = MultiLayerNetwork(NeuralNetConfiguration.Builder().seed(1).list(OutputLayer(n_in=2, n_out=2)).build())
        >>> [f.kind for f in net.doctor(DataSet(np.array([[30.0, 1], [50, 0]]), np.array([[2.0, 0], [0, 2]])), rates=False)]
        ['data not normalized', 'labels out of range']
        """
        return examine(self, data, rates)[0]

    def find_learning_rate(self, data: Any, lowest: float = 1e-6, highest: float = 10.0, steps: int = 60) -> LearningRateRange:
        """Train a copy for some steps with a learning rate that grows, and note the scores.

        Parameters
        ----------
        data : DataSet
            A batch.
        lowest, highest : float
            The rates of the first and the last step; it ends sooner where the score runs away.
        steps : int, default 60

        Returns
        -------
        LearningRateRange
            ``suggestion()``, ``limit()`` and ``plot()``.
        """
        return rate_range(self, data, lowest, highest, steps)

    def close(self) -> None:
        """Release parameters, updater state and compiled graphs; the network cannot be used afterwards."""
        self.clear()
        self._engine, self._closed = None, True
