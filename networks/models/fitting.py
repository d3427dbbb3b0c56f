"""Training of networks: ``fit`` and the data that it takes."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

from ...samediff.base.lazy_property import lazy_property
from ...samediff.data import DataSet, MultiDataSet
from ...samediff.data.given.forms import gives_batches, is_whole
from ...samediff.data.given.parts import by_role
from ...samediff.data.given.sources import Mapped, decides_itself, source_of
from ...samediff.errors import GraphError, ShapeError
from ...samediff.training.fit_options import OPTIONS, FitOptions, positive, split_at, wrong_option
from ..batches.batch import NetworkBatch
from ..batches.given_data import batch_from, batch_in, weighted
from ..batches.row_batches import RowBatches
from ..optimizers import Optimizer
from ..structure.structure import Structure
from .epochs import EpochRecords, Epochs
from .network import Network
from .trainer import Trainer


class NetworkFittingMixin(Network):
    """The part of a network that trains it."""

    @lazy_property
    def trainer(self) -> Trainer:
        """The training loop."""
        return Trainer(self)

    def _state(self) -> dict[str, Any]:
        trainer = self.trainer
        return {**super()._state(), "learned": getattr(trainer.optimizer, "learned", None), "etl_time": trainer.etl_time,
                "history": list(trainer.history)}

    def _restore(self, state: Mapping[str, Any]) -> None:
        super()._restore(state)
        self.trainer.etl_time, self.trainer.history = state["etl_time"], list(state["history"])
        if state["learned"] is not None:
            self.trainer.optimizer.learned = state["learned"]  # type: ignore[attr-defined]  # the configuration says so

    def fit(self, *args: Any, **options: Any) -> Self:
        """Train.

        ``fit(data_set)`` and ``fit(x, y[, features_mask, labels_mask])`` make one step; ``fit(iterator[, epochs])`` and
        ``fit(x, y, batch_size=32, epochs=5)`` go through all batches, ``epochs`` times. In graphs the four are ``inputs``, ``labels``,
        ``features_masks`` and ``labels_masks``, lists of arrays where there are several inputs or outputs.

        Parameters
        ----------
        x : array, table, data set, dictionary, or batches
            Features (batch, …) as the layers at the input take them; or the data, with its labels: a data set, arrays by the names of
            inputs and outputs, or batches of such, (features, labels) among them, in anything that can be gone through.
        y : array
            Labels (batch, …) as the output layer gives them, targets (batch,) of one output, or the numbers of classes (batch,). Behind
            an iterator the number of epochs.
        features_mask, labels_mask : array, optional
            1 for what counts and 0 for what does not: (batch, time), or (batch, 1) for rows.
        epochs : int
            Passes over the data; 1 by default.
        batch_size : int, optional
            Cut arrays or one data set into batches of so many examples, in their order; the last one may be smaller. Where single
            examples come one by one, put so many together.
        check_finite : bool
            Look for NaN and infinity in every step.
        shuffle : bool
            Take the rows of arrays or of one data set in another order in every epoch; seed and epoch decide on it.
        sample_weight : array (batch,), or mapping of such by output, optional
            Weights of examples, from 0 on: their losses are multiplied by them.
        class_weight : mapping or array, optional
            Weights of classes, by their numbers; 1 for classes that a mapping leaves out; ``"balanced"`` for those that give all classes
            of a batch the same sum.
        listeners, callbacks : Listener or sequence of Listener
            Hear this call alone, besides those that were set.
        validation_data : (x, y), data set, or batches of them, optional
            Scored after the first epoch and every ``validation_frequency`` epochs later; :attr:`history` has the scores.
        validation_split : float
            The share of the rows of arrays or of one data set that is kept for this instead: the last ones.
        validation_frequency : int
            How often.
        verbose : bool
            Show progress: a bar where tqdm is installed and the output is a terminal, else a line an epoch.

        Returns
        -------
        the network itself

        Raises
        ------
        ShapeError
            Inputs, labels or masks that do not fit; parameters are then as after the last whole step.
        GraphError
            Arguments that do not belong together, or an unknown option.
        NumericalError
            With ``check_finite``: names the first of data, parameters, activations, losses and gradients that is not finite.

        Examples
        --------
        >>> import numpy as np
        >>> from dl4py.layers import OutputLayer
        >>> from dl4py.networks import MultiLayerNetwork, NeuralNetConfiguration
        >>> from dl4py.samediff.training import Adam
        >>> conf = NeuralNetConfiguration.Builder().seed(1).updater(Adam(0.1)).list(OutputLayer(n_in=2, n_out=2)).build()
        >>> net, x = MultiLayerNetwork(conf), np.eye(2)
        >>> net.fit(x, [0, 1], epochs=50).predict(x).tolist()
        [0, 1]
        >>> net.get_iteration_count(), net.get_epoch_count()
        (50, 50)
        >>> [round(epoch.validation_score, 1) for epoch in net.fit(x, [0, 1], epochs=2, validation_data=(x, [0, 1])).history]
        [0.0, 0.0]
        """
        raise NotImplementedError

    @property
    def history(self) -> EpochRecords:
        """The epochs of the last call of :meth:`fit` that went through epochs: their scores, those of validation data, and their time."""
        return EpochRecords(self.trainer.history)

    def _train(self, args: Sequence[Any], options: FitOptions) -> Self:
        """``fit``: a data set, an iterator and perhaps a number of epochs, or features, labels and masks."""
        engine = self._engine
        if engine is not None and options.is_plain and not self._listeners and self.trainer.fit_known(engine, *args):
            return self
        if options.listeners or options.callbacks:
            with self.hearing(options.listeners, options.callbacks):
                return self._train(args, replace(options, listeners=(), callbacks=()))
        given = list(args)
        while given and given[-1] is None:
            given.pop()
        first: Any = given[0] if given else None
        if isinstance(first, (list, tuple)) and not first:
            raise ShapeError(f"a batch without examples cannot be fitted; got an empty {type(first).__name__}")
        whole = isinstance(first, (DataSet, MultiDataSet)) or (len(given) == 1 and is_whole(first))
        several = not whole and gives_batches(first)
        if whole or several:
            _nothing_else(given, several, options, first)
        passes = positive("epochs", given[1] if several and len(given) > 1 else 1 if options.epochs is None else options.epochs)
        size = None if options.batch_size is None else positive("batch_size", options.batch_size)
        engine = self.engine
        engine.progress.checks_finite = bool(options.check_finite)
        order = engine.progress.order if options.shuffle else None
        if several:
            self._through(self._weighted(source_of(first, size, order), options.class_weight), passes, options)
            return self
        batch = batch_in(engine.structure, first, "fit") if whole else batch_from(engine.structure, *args)
        batch, options = _divided(engine.structure, batch, options)
        if not batch.size or (size is options.epochs is options.validation_data is None and not options.verbose):
            self.trainer.run(lambda hear: self.trainer.fit_batch(batch, hear))
        else:
            self._through(RowBatches(batch, size or batch.size, order), passes, options)
        return self

    def _through(self, batches: Any, passes: int, options: FitOptions) -> None:
        frequency = positive("validation_frequency", options.validation_frequency)
        self.trainer.fit_epochs(batches, passes, Epochs(self, passes, options.validation_data, frequency, bool(options.verbose)))

    def _weighted(self, batches: Any, class_weight: Any) -> Any:
        """The batches, with weights of classes where there are any."""
        return batches if class_weight is None else Mapped(
            batches, lambda data: weighted(self.structure, batch_in(self.structure, data, "fit"), None, class_weight))

    def get_last_etl_time(self) -> int:
        """Milliseconds that the last batch of an iterator took to come (ETL: extract, transform, load)."""
        return self.trainer.etl_time

    def set_last_etl_time(self, milliseconds: int) -> None:
        """Replace what :meth:`get_last_etl_time` answers, for a loop of one's own around :meth:`fit`."""
        self.trainer.etl_time = int(milliseconds)

    def get_optimizer(self) -> Optimizer:
        """The optimizer that ``optimization_algo`` of the configuration names."""
        return self.trainer.optimizer


def arguments_of_fit(names: Sequence[str], given: Sequence[Any], unknown: Mapping[str, Any]) -> list[Any]:
    """Features, labels and masks, also where they were given by other names that they have."""
    found = list(given)
    parts, wrong = by_role(unknown)
    if wrong:
        raise wrong_option("fit", wrong[0], names, OPTIONS)
    for k, value in parts.items():
        if found[k] is not None:
            raise GraphError(f"fit was given {names[k]} twice")
        found[k] = value
    if found[0] is None:
        raise GraphError(f"fit takes a data set, an iterator, or {', '.join(names)}, and the options {', '.join(OPTIONS)}; got nothing")
    return found


def _nothing_else(given: Sequence[Any], several: bool, options: FitOptions, data: Any) -> None:
    """GraphError for options that have no meaning beside a data set or an iterator."""
    form = "fit(iterator, epochs)" if several else "fit(data_set, epochs=…)"
    if len(given) > 1 + several:
        raise GraphError(f"{form} takes no further argument; got {len(given)} arguments")
    if len(given) > 1 and options.epochs is not None:
        raise GraphError(f"the number of epochs is given twice, as {given[1]!r} and as epochs={options.epochs!r}")
    wrong = options.of_rows()
    if several and wrong and (options.batch_size is None or wrong not in ("batch_size", "shuffle") or decides_itself(data)):
        raise GraphError(f"{wrong} is for the rows of one data set or of arrays; an iterator or list decides on its batches "
                         "itself. Single examples are put together with batch_size")


def _divided(structure: Structure, batch: NetworkBatch, options: FitOptions) -> tuple[NetworkBatch, FitOptions]:
    """The batch as it is fitted: with its weights, and without the rows that are kept for validation; these go into the options."""
    if options.weighs():
        batch = weighted(structure, batch, options.sample_weight, options.class_weight)
    if not options.validation_split:
        return batch, options
    if options.validation_data is not None:
        raise GraphError("validation_split keeps rows for validation, and validation_data gives others; one of them is enough")
    first = split_at(batch.size, options.validation_split)
    return batch.map(lambda a: a[:first]), replace(options, validation_data=batch.map(lambda a: a[first:]), validation_split=0.0)
