"""Scores of a graph on data, and the classes that it predicts."""
from __future__ import annotations

from typing import Any, Never

import numpy as np

from ...data.given.labels import classes_of
from ...data.given.sources import InBatch, numbered
from ...errors import ConfigurationError
from ...training.batches import Source, as_batch, in_batches, is_single
from .evaluating import EvaluationMixin, shown

#: Ops whose only column is a probability.
_PROBABILITIES = {"sigmoid", "hard_sigmoid"}


class GraphPredictingMixin(EvaluationMixin):
    """The part of :class:`SameDiff` that scores and predicts."""

    def score(self, data: Any = None, labels: Any = None, *, batch_size: int | None = None, **unknown: Never) -> float:
        """The sum of the losses on data, the penalties of the regularization included; without data that of the last ``fit``.

        Parameters
        ----------
        data : DataSet, MultiDataSet, dictionary of arrays, (x, y), or anything that gives these, optional
            What :meth:`fit` takes; of batches the mean over their examples. Layers work as outside of training.
        labels : array, optional
            Where the data is the features: ``score(x, y)``.
        batch_size : int, optional
            Examples that are computed at once, or put together where they come one by one.

        Examples
        --------
        >>> import numpy as np
        >>> from dl4py.samediff import SameDiff, DataType
        >>> from dl4py.samediff.training import TrainingConfig
        >>> sd = SameDiff.create()
        >>> x, y = (sd.placeholder(name, DataType.FLOAT, -1, 1) for name in "xy")
        >>> loss = ((x - y) ** 2).mean("loss")
        >>> sd.set_loss_variables("loss")
        >>> sd.set_training_config(TrainingConfig(data_set_feature_mapping="x", data_set_label_mapping="y"))
        >>> sd.score([[1.0], [2.0]], [[3.0], [4.0]])
        4.0
        """
        data, labels = self._by_role("score", data, labels, unknown, ["batch_size"])
        if data is None:
            return self._last_score
        config = self.checked_config(training=False)
        given = data if labels is None else (data, labels)
        if batch_size is not None:
            given = in_batches(self, given, batch_size, None, config)
        losses, total, count = self.infer_loss_variables(), 0.0, 0
        for number, item in numbered(Source(given), "score"):
            with InBatch(number):
                batch = as_batch(self, item, config)
                values = self.compute(batch.feeds, losses)
                rows = len(batch.data) if batch.data.num_feature_arrays() else 1
            total, count = total + rows * sum(float(np.sum(values[n], dtype=np.float64)) for n in losses), count + rows
        return total / max(count, 1) + self.calc_regularization_score()

    def predict(self, data: Any = None, output: Any = None, *, batch_size: int | None = None, verbose: Any = 0,
                **unknown: Never) -> Any:
        """The class of each example: that of its largest output, or 1 for a single probability of at least a half.

        Parameters
        ----------
        data : mapping of name to array, array, data set, or batches
            What :meth:`output` takes.
        output : str or SDVariable, optional
            The variable that tells classes apart; what the losses compare with labels where it is left out.
        batch_size : int, optional
            Examples that are computed at once, or put together where they come one by one.
        verbose : bool
            Show a bar while batches are gone through, where tqdm is installed and the output is a terminal.

        Raises
        ------
        GraphError
            There is no such variable, or its only column is no probability.

        Examples
        --------
        >>> from dl4py.samediff import SameDiff, DataType
        >>> sd = SameDiff.create()
        >>> p = sd.nn.softmax("p", sd.placeholder("x", DataType.FLOAT, -1, 2))
        >>> sd.predict({"x": [[1.0, 2.0], [3.0, 0.0]]}, "p")
        array([1, 0])
        """
        data, _ = self._by_role("predict", data, None, unknown, ["output", "batch_size", "verbose"])
        if data is None:
            raise ConfigurationError("predict needs data: predict(x), or predict({'x': array}, 'softmax')")
        name = self._only_output() if output is None else self.tables.names_in([output])[0]
        maker = self.tables.producer(name)
        probability = maker is not None and maker.op.id in _PROBABILITIES
        if verbose and batch_size is None and not is_single(data):
            data = shown(data, "predict", True)
        return classes_of(self.output(data, name, batch_size=batch_size)[name], probability)
