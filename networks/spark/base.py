"""A model on Spark: the methods that all kinds share."""
from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Self

from pyspark import SparkContext

from ...samediff.data.given.forms import is_whole
from ...samediff.data.given.sources import source_of
from ...samediff.data.iterators.list_iterators import check_batch
from ...samediff.errors import ConfigurationError
from ...samediff.evaluation import ROC, Evaluation, RegressionEvaluation, ROCMultiClass
from ...samediff.training.listeners.calls import Listeners
from ...samediff.training.listeners.has_listeners import HasListeners
from ...samediff.training.listeners.listener import Listener
from ...samediff.training.listeners.operation import At, Operation
from ..structure.java_names import SparkModelNames
from .contexts import context_of, is_frame, is_rdd, spark_errors
from .failures import raise_first
from .files import load_batch, paths_below
from .frames import data_sets_of
from .inference import Evaluate, Outputs, Score, ScoreExamples
from .master import TrainingMaster
from .models import ModelSender
from .statistics import SparkTrainingStats

#: Examples that are computed at once where nobody says how many.
EVALUATION_BATCH = 64


class SparkModel(HasListeners, SparkModelNames):
    """Base of models that are trained and used on Spark.

    Parameters
    ----------
    spark : SparkContext or SparkSession
        The Spark whose executors work.
    network : network, graph or configuration
        The model; it stays on the driver, and its values after each averaging are those of all workers.
    training_master : TrainingMaster, optional
        How executors train together; needed to train.
    """

    kind: ClassVar[type[Any]]

    def __init__(self, spark: Any, network: Any, training_master: TrainingMaster | None = None) -> None:
        if training_master is not None and not isinstance(training_master, TrainingMaster):
            raise ConfigurationError(f"expected a TrainingMaster, such as ParameterAveragingTrainingMaster(workers=4); got "
                                     f"{type(training_master).__name__}")
        self._context, self._master = context_of(spark), training_master
        self._listeners: list[Listener] = []
        self.set_network(network)

    # Parts

    def get_network(self) -> Any:
        """The model, with its present values."""
        return self._network

    def set_network(self, network: Any) -> None:
        """Go on with another model."""
        self._network = self._checked(network)
        self._sender = ModelSender(self._context, self._network)

    def _checked(self, network: Any) -> Any:
        if isinstance(network, self.kind):
            return network
        configuration = getattr(self.kind, "configuration_type", None)
        if configuration is not None and isinstance(network, configuration):
            return self.kind(network).init()
        raise ConfigurationError(f"{type(self).__name__} trains a {self.kind.__name__}; got a {type(network).__name__}")

    def get_spark_context(self) -> SparkContext:
        """The SparkContext."""
        return self._context

    def get_training_master(self) -> TrainingMaster | None:
        """The way in which executors train together."""
        return self._master

    def set_collect_training_stats(self, collect: bool) -> None:
        """Whether the times of trainings are noted."""
        self._needed_master().set_collect_training_stats(collect)

    def get_spark_training_stats(self) -> SparkTrainingStats | None:
        """The times of trainings, None where they are not noted."""
        return self._needed_master().get_training_stats()

    def get_score(self) -> float:
        """The mean score of the replicas in the last round."""
        return self._sender.model.score

    def set_score(self, score: float) -> None:
        """Replace the score."""
        self._sender.model.score = score

    def _needed_master(self) -> TrainingMaster:
        if self._master is None:
            raise ConfigurationError(f"{type(self).__name__} needs a training master to train: {type(self).__name__}(spark, network, "
                                     "ParameterAveragingTrainingMaster(workers=4))")
        return self._master

    # Training

    def fit(self, data: Any, min_partitions: int | None = None, *, features: Any = None, label: Any = None,
            first_round: int = 0) -> Any:
        """Train once through the data; gives the model.

        Parameters
        ----------
        data : RDD, DataFrame, path, or batches on the driver
            An RDD of data sets or (features, labels); a DataFrame; a folder of files that data sets wrote; or what ``fit`` of the model
            takes, an iterator or list of batches, which are then sent to the executors.
        min_partitions : int, optional
            Partitions of data that is read or sent.
        features : str or sequence of str
            Columns of a DataFrame: numbers, arrays or vectors, side by side.
        label : str or sequence of str
            Columns of the labels: numbers of classes, targets, arrays or vectors.
        first_round : int
            Rounds that a training which ended early had done already: the model goes on from there.

        Raises
        ------
        DL4PyError
            Of data or model, as on one machine, with the executor's host; the model is as after its last averaging.
        WorkerError
            Spark gave up: a task failed too often.
        MissingPackageError
            Executors lack dl4py or a plug-in.
        """
        return self.fit_batches(*self.rdd_of(data, features, label, partitions=min_partitions), first_round)

    fit_multi_data_set = fit

    def fit_paths(self, paths: Any, loader: Callable[[str], Any] | None = None, *, first_round: int = 0) -> Any:
        """Train once through files, each of which is a batch.

        Parameters
        ----------
        paths : RDD or list of str
            The files; executors read them.
        loader : function, optional
            Makes a batch of a path; by default the file is one that a data set wrote.
        first_round : int
            As for :meth:`fit`.
        """
        given = paths if is_rdd(paths) else self._context.parallelize(list(paths))
        return self.fit_batches(given, loader or load_batch, first_round)

    fit_paths_multi_data_set = fit_paths

    def fit_batches(self, data: Any, load: Callable[[Any], Any] | None, first_round: int, told: Callable[[], Any] | None = None) -> Any:
        """Train once through data sets, or what ``load`` makes batches of; ends where ``told``, called after each round, is True."""
        master, model = self._needed_master(), self._sender.model
        hear = Listeners(list(dict.fromkeys([*self._network.get_listeners(), *self._listeners])))

        def tell() -> Any:
            hear.iteration_done(self._network, At(model.epoch, model.iteration - 1, Operation.TRAINING), None, None)
            return told and told()
        hear.epoch_start(self._network, At(model.epoch, model.iteration, Operation.TRAINING))
        if not master.execute_training(self._sender, data, tell, load, first_round):
            return self._network
        hear.epoch_end(self._network, At(model.epoch, model.iteration - 1, Operation.TRAINING))
        model.epoch += 1
        return self._network

    def rdd_of(self, data: Any, features: Any = None, label: Any = None, load: Callable[[Any], Any] | None = None,
               partitions: int | None = None) -> tuple[Any, Callable[[Any], Any] | None]:
        """An RDD of data sets, or of what a function makes batches of, with this function."""
        if not isinstance(partitions, int | None):
            raise ConfigurationError(f"min_partitions must be a number, got {type(partitions).__name__}; features and labels are one "
                                     "argument: fit((features, labels))")
        if isinstance(data, (str, os.PathLike)):
            return self._context.parallelize(paths_below(self._context, os.fspath(data)), partitions), load or load_batch
        if is_frame(data):
            return data_sets_of(data, features, label), load
        if is_rdd(data):
            return data, load
        batches = [data] if is_whole(data) else list(source_of(data))
        return self._context.parallelize(batches, partitions or min(len(batches), self._context.defaultParallelism) or 1), load

    # Evaluating

    def do_evaluation(self, data: Any, *evaluations: Any, batch_size: int = EVALUATION_BATCH, output: Any = None,
                      loader: Callable[[str], Any] | None = None, features: Any = None, label: Any = None) -> list[Any]:
        """Fill evaluations with the outputs for all data.

        Parameters
        ----------
        data : RDD, DataFrame, path or batches
            What :meth:`fit` takes; an RDD of paths with a ``loader``.
        *evaluations : BaseEvaluation
            Empty ones, which are filled and returned. A number among them is the batch size, as in DL4J.
        batch_size : int
            Examples that are computed at once.
        output : int or str, optional
            The number of the output that is compared, the first by default; or the variable of a SameDiff graph, its only output.
        loader : function, optional
            Makes a batch of an element of the RDD.
        features, label : str or sequence of str
            Columns of a DataFrame.
        """
        sizes, empty = [n for n in evaluations if isinstance(n, int)], [e for e in evaluations if not isinstance(e, int)]
        size = check_batch(sizes[0] if sizes else batch_size)
        rdd, load = self.rdd_of(data, features, label, loader)
        with self._sender.sent() as sent, spark_errors("the evaluation"):
            found = rdd.mapPartitionsWithIndex(Evaluate(sent, empty, output, size, load)).collect()
        raise_first(part for _, part in found)
        for _, parts in sorted(found, key=lambda pair: pair[0]):
            for whole, part in zip(empty, parts):
                whole.merge(part)
        return empty

    def evaluate(self, data: Any, labels: Sequence[str] | None = None, batch_size: int = EVALUATION_BATCH, **options: Any) -> Evaluation:
        """Classification metrics.

        Parameters
        ----------
        data : RDD, DataFrame, path or batches
            The data.
        labels : list of str, optional
            Names of the classes.
        batch_size : int
            Examples that are computed at once.
        **options
            As of :meth:`do_evaluation`.
        """
        evaluation = Evaluation(labels) if labels is not None else Evaluation()
        return self.do_evaluation(data, evaluation, batch_size=batch_size, **options)[0]  # type: ignore[no-any-return]

    def evaluate_regression(self, data: Any, batch_size: int = EVALUATION_BATCH, **options: Any) -> RegressionEvaluation:
        """Regression metrics; the options are those of :meth:`do_evaluation`."""
        return self.do_evaluation(data, RegressionEvaluation(), batch_size=batch_size, **options)[0]  # type: ignore[no-any-return]

    def evaluate_roc(self, data: Any, threshold_steps: int = 32, batch_size: int = EVALUATION_BATCH, **options: Any) -> ROC:
        """ROC of a binary classifier; 0 steps: exact. The options are those of :meth:`do_evaluation`."""
        return self.do_evaluation(data, ROC(threshold_steps), batch_size=batch_size, **options)[0]  # type: ignore[no-any-return]

    def evaluate_roc_multi_class(self, data: Any, threshold_steps: int = 32, batch_size: int = EVALUATION_BATCH,
                                 **options: Any) -> ROCMultiClass:
        """One ROC for each class; 0 steps: exact. The options are those of :meth:`do_evaluation`."""
        return self.do_evaluation(data, ROCMultiClass(threshold_steps), batch_size=batch_size, **options)[0]  # type: ignore[no-any-return]

    evaluate_mds, evaluate_regression_mds, evaluate_rocmds, do_evaluation_mds = evaluate, evaluate_regression, evaluate_roc, do_evaluation

    # Scores and outputs

    def calculate_score(self, data: Any, average: bool = True, batch_size: int = EVALUATION_BATCH, *, features: Any = None,
                        label: Any = None) -> float:
        """The model's score on data: the mean over all examples, or their sum.

        Parameters
        ----------
        data : RDD, DataFrame, path or batches
            The data.
        average : bool
            Whether the mean is taken.
        batch_size : int
            Examples that are computed at once.
        features, label : str or sequence of str
            Columns of a DataFrame.
        """
        rdd, load = self.rdd_of(data, features, label)
        with self._sender.sent() as sent, spark_errors("the scores"):
            found = rdd.mapPartitionsWithIndex(Score(sent, check_batch(batch_size), load)).collect()
        raise_first(part for _, part in found)
        count, total = sum(n for _, (n, _) in found), sum(part[1] for _, part in sorted(found))
        if not count:
            raise ConfigurationError("the data has no example: there is no score")
        return float(total / count if average else total)

    calculate_score_multi_data_set = calculate_score

    def score_examples(self, data: Any, include_regularization_terms: bool = False, batch_size: int = EVALUATION_BATCH) -> Any:
        """An RDD with the score of each example, or with (key, score) for an RDD of (key, data set).

        Parameters
        ----------
        data : RDD, DataFrame, path or batches
            The data.
        include_regularization_terms : bool
            Whether the penalties are added to each score.
        batch_size : int
            Examples that are computed at once.
        """
        rdd, load = self.rdd_of(data)
        return rdd.mapPartitions(ScoreExamples(self._sender.sent(), include_regularization_terms, check_batch(batch_size), load))

    score_examples_multi_data_set = score_examples

    def feed_forward_with_key(self, data: Any, batch_size: int = EVALUATION_BATCH) -> Any:
        """An RDD of (key, outputs) for an RDD of (key, features).

        Parameters
        ----------
        data : RDD
            Features (examples, …), or lists of those of several inputs; a vector is one example.
        batch_size : int
            Elements that are computed at once.
        """
        return data.mapPartitions(Outputs(self._sender.sent(), check_batch(batch_size), keyed=True))

    feed_forward_with_key_single = feed_forward_with_key

    def feed_forward_with_mask_and_key(self, data: Any, batch_size: int = EVALUATION_BATCH) -> Any:
        """As :meth:`feed_forward_with_key`, for an RDD of (key, (features, mask))."""
        return data.mapPartitions(Outputs(self._sender.sent(), check_batch(batch_size), keyed=True, masks=True))

    def predict(self, features: Any, batch_size: int = EVALUATION_BATCH) -> Any:
        """The outputs for features: of an RDD an RDD of them; of an array, or a vector or matrix of Spark's, an array.

        Parameters
        ----------
        features : RDD, array, Vector or Matrix
            Features, as of :meth:`feed_forward_with_key`.
        batch_size : int
            Elements that are computed at once.
        """
        if is_rdd(features):
            return features.mapPartitions(Outputs(self._sender.sent(), check_batch(batch_size), keyed=False))
        array = features.toArray() if hasattr(features, "toArray") else features
        single = getattr(array, "ndim", 2) == 1
        found = self._network.output(array[None] if single else array)
        return found[0] if single else found

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._master is not None:
            self._master.delete_temp_files()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._network!r}, {self._master!r})"
