"""Tasks on executors besides training: evaluations, scores, outputs."""
from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby, islice
from typing import Any

import numpy as np

from ...samediff.data import DataSet, MultiDataSet
from ...samediff.errors import DL4PyError, ShapeError
from ...samediff.graph.graph import SameDiff
from .failures import Failure, to_try_again, whole
from .models import SentModel
from .rounds import batched

Load = Callable[[Any], Any] | None


def batches_of(data: Iterator[Any], size: int, load: Load) -> Iterator[Any]:
    """Batches of the elements of a partition; those that are loaded are batches already."""
    return whole(batched(data, size)) if load is None else map(load, data)


class GuardedTask:
    """Base of tasks that give errors of data or model as results."""

    def __call__(self, index: int, data: Iterator[Any]) -> Iterator[Any]:
        try:
            for found in self.run(data):
                yield index, found
        except DL4PyError as error:
            yield index, Failure.of(error, index)
            deque(data, 0)
        except Exception as error:
            raise to_try_again(error, index) from error

    def run(self, data: Iterator[Any]) -> Iterator[Any]:
        """The results for a partition."""
        raise NotImplementedError


class Evaluate(GuardedTask):
    """Fills evaluations with a partition.

    Parameters
    ----------
    model : SentModel
        The model.
    evaluations : list of BaseEvaluation
        Empty ones; each task has copies.
    output : int or str, optional
        The output that is compared: its number, or the variable of a graph.
    size : int
        Examples that are computed at once.
    load : function, optional
        Makes a batch of an element.
    """

    def __init__(self, model: SentModel, evaluations: Sequence[Any], output: Any, size: int, load: Load) -> None:
        self.model, self.evaluations, self.output, self.size, self.load = model, list(evaluations), output, size, load

    def run(self, data: Iterator[Any]) -> Iterator[Any]:
        some = False
        for batch in batches_of(data, self.size, self.load):
            some, model = True, self.model.network()
            if self.output is None:
                model.do_evaluation(batch, *self.evaluations)
            elif isinstance(model, SameDiff):
                model.evaluate(batch, self.output, *self.evaluations)
            else:
                model.do_evaluation(batch, *self.evaluations, output_index=self.output)
        if some:
            yield self.evaluations


class Score(GuardedTask):
    """Number of examples of a partition, and the sum of their scores.

    Parameters
    ----------
    model : SentModel
        The model.
    size : int
        Examples that are computed at once.
    load : function, optional
        Makes a batch of an element.
    """

    def __init__(self, model: SentModel, size: int, load: Load) -> None:
        self.model, self.size, self.load = model, size, load

    def run(self, data: Iterator[Any]) -> Iterator[Any]:
        count, total = 0, 0.0
        for batch in batches_of(data, self.size, self.load):
            number = batch.num_examples()
            count, total = count + number, total + self.model.network().score(batch) * number
        yield count, total


class ScoreExamples:
    """The score of each example of a partition, or (key, score) for data sets with keys.

    Parameters
    ----------
    model : SentModel
        The model.
    regularization : bool
        Whether penalties are added.
    size : int
        Examples that are computed at once.
    load : function, optional
        Makes a batch of an element.
    """

    def __init__(self, model: SentModel, regularization: bool, size: int, load: Load) -> None:
        self.model, self.regularization, self.size, self.load = model, regularization, size, load

    def __call__(self, data: Iterator[Any]) -> Iterator[Any]:
        for keyed, some in groupby(data, _has_key):
            if keyed:
                yield from ((key, float(np.sum(self._scores(one)))) for key, one in some)
            else:
                for batch in batches_of(some, self.size, self.load):
                    yield from self._scores(batch).tolist()

    def _scores(self, data: Any) -> Any:
        return self.model.network().score_examples(data, self.regularization)


class Outputs:
    """The outputs for features with keys, or for features alone; a batch of features of one shape is computed at once.

    Parameters
    ----------
    model : SentModel
        The model.
    size : int
        Examples that are computed at once.
    keyed : bool
        Whether elements are (key, features).
    masks : bool
        Whether features are (features, mask).
    """

    def __init__(self, model: SentModel, size: int, keyed: bool, masks: bool = False) -> None:
        self.model, self.size, self.keyed, self.masks = model, size, keyed, masks

    def __call__(self, data: Iterator[Any]) -> Iterator[Any]:
        elements = (one if self.keyed else (None, one) for one in data)
        while some := list(islice(elements, self.size)):
            for _, group in groupby(some, key=lambda pair: [np.shape(a)[1:] for a in _arrays(pair[1])]):
                same = list(group)
                for (key, _), found in zip(same, self._computed([features for _, features in same])):
                    yield (key, found) if self.keyed else found

    def _computed(self, given: Sequence[Any]) -> Iterator[Any]:
        """The outputs for each of several features of one shape."""
        model = self.model.network()
        lists = [_arrays(features) for features in given]
        ends = np.cumsum([len(arrays[0]) for arrays in lists])[:-1]
        together = [None if column[0] is None else np.concatenate(column) for column in zip(*lists)]
        found = [model.output(together[0], False, together[1])] if self.masks else outputs_of(model, *together)
        return iter(np.split(found[0], ends)) if len(found) == 1 else zip(*(np.split(one, ends) for one in found))


def outputs_of(model: Any, *features: Any) -> list[Any]:
    """The outputs of a network or graph for its inputs."""
    if not isinstance(model, SameDiff):
        found = model.output(*features)
        return found if isinstance(found, list) else [found]
    config = model.get_training_config()
    names = (config.data_set_feature_mapping if config else None) or model.inputs()
    return list(model.output(dict(zip(names, features))).values())


def _arrays(features: Any) -> list[Any]:
    """Features, or those of several inputs, with an axis of examples each: a vector is one example."""
    given = list(features) if isinstance(features, (tuple, list)) and not np.isscalar(features[0]) else [features]
    arrays = [None if a is None else np.asarray(a) for a in given]
    if any(a is not None and not a.ndim for a in arrays):
        raise ShapeError("features need an axis of examples; got a single number")
    return [a if a is None or a.ndim > 1 else a[None] for a in arrays]


def _has_key(element: Any) -> bool:
    return isinstance(element, tuple) and len(element) == 2 and isinstance(element[1], (DataSet, MultiDataSet))
