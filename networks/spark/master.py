"""Training masters: how the executors train together."""
from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Never, Self

from ...samediff.base.javanames import JavaSpelling
from ...samediff.configuration.builder import Builder
from ...samediff.errors import ConfigurationError
from ..structure.java_names import ParameterAveragingTrainingMasterNames, ParameterMasterBuilderNames
from .contexts import spark_errors
from .files import ExportedBatches, load_batch
from .models import ModelSender
from .rounds import DealtRounds, PartitionRounds, Rounds
from .settings import ParameterAveragingSettings, RDDTrainingApproach, Repartition, RepartitionStrategy, level
from .statistics import SparkTrainingStats
from .train_round import TrainingHook, TrainRound
from .tree import Tree

#: Called after each averaging.
Told = Callable[[], Any]


class TrainingMaster(ABC, JavaSpelling):
    """Base of the ways in which executors train together."""

    @abstractmethod
    def execute_training(self, sender: ModelSender, data: Any, told: Told, load: Callable[[Any], Any] | None = None,
                         first_round: int = 0) -> bool:
        """Train once through an RDD of batches, or of what ``load`` makes batches of; whether to the end.

        Parameters
        ----------
        sender : ModelSender
            The model.
        data : RDD
            The data.
        told : function
            Called after every round; where it gives True, training ends.
        load : function, optional
            Makes a batch of an element.
        first_round : int
            Rounds before it were done already.
        """

    @abstractmethod
    def set_collect_training_stats(self, collect: bool) -> None:
        """Whether times are noted."""

    @abstractmethod
    def get_training_stats(self) -> SparkTrainingStats | None:
        """The times since collecting began, None where they are not noted."""

    @abstractmethod
    def delete_temp_files(self, spark: Any = None) -> bool:
        """Give back what training keeps of its last data: storage, files that it exported."""


class ParameterAveragingTrainingMaster(TrainingMaster, ParameterAveragingTrainingMasterNames):
    """Workers train replicas on batches of their own; their means are the model's new values after each round.

    In a round each worker fits its replica to ``averaging_frequency`` batches. Then parameters, updater state and score of those that
    had any are averaged, as by :class:`~dl4py.networks.ParallelWrapper`, and the next round starts from the means. Batches are
    dealt out in the order of the RDD: in each round every worker gets its batches one after the other, so that a training repeats
    bit by bit; each example is used once in every pass.

    Parameters
    ----------
    **options
        The settings that follow, by name.
    num_workers : int, optional
        Workers (also ``workers``); by default as many as Spark runs tasks at the same time.
    rdd_data_set_num_examples : int
        Without effect: examples are counted.
    batch_size_per_worker : int, default 16
        Examples of a step; data sets of other sizes are cut and put together.
    averaging_frequency : int, default 5
        Steps of a worker from one averaging to the next.
    aggregation_depth : int, default 2
        Levels of the tree in which values are added up.
    save_updater : bool, default True
        Whether updater state is averaged too (also ``average_updaters``); else each round begins with that of the driver's model.
    worker_prefetch_num_batches : int, default 0
        Batches that a worker reads in the background.
    repartition_data : Repartition, default Always
        Whether batches are dealt out to the workers, or each partition of the RDD is one worker's data.
    repartition_strategy : RepartitionStrategy, default Balanced
        How they are dealt out.
    storage_level, storage_level_streams : str
        Where Spark keeps data sets, and paths, between rounds: names such as MEMORY_AND_DISK.
    rdd_training_approach : RDDTrainingApproach, default Direct
        Whether batches wait for their round in Spark's storage or in files.
    export_directory : str, optional
        The folder for these files, which all machines see.
    rng_seed : int, optional
        With a seed, batches are dealt out in another order in every epoch; else in the order of the RDD.
    collect_training_stats : bool, default False
        Whether times are noted.
    training_hooks : sequence of TrainingHook
        Called on executors around every step.

    Raises
    ------
    ConfigurationError
        Settings that do not go together.

    Examples
    --------
    >>> master = ParameterAveragingTrainingMaster(workers=4, averaging_frequency=3)
    >>> master.settings == ParameterAveragingTrainingMaster.Builder(4, 1).averagingFrequency(3).build().settings
    True
    """

    Builder: ClassVar[type[ParameterMasterBuilder]]

    def __init__(self, *, training_hooks: Sequence[TrainingHook] = (), **options: Any) -> None:
        self.settings = ParameterAveragingSettings(**options)
        self._hooks = list(_hooks(training_hooks))
        self._stats = SparkTrainingStats() if self.settings.collect_training_stats else None
        self._kept: tuple[Any, Rounds] | None = None
        self._exported: ExportedBatches | None = None

    def execute_training(self, sender: ModelSender, data: Any, told: Told, load: Callable[[Any], Any] | None = None,
                         first_round: int = 0) -> bool:
        stats, settings, model = self._stats or SparkTrainingStats(), self.settings, sender.model
        with stats.timed("split"):
            rounds, load = self._rounds(sender, data, load)
        if not 0 <= first_round <= rounds.count:
            raise ConfigurationError(f"first_round must be from 0 to {rounds.count}, the number of rounds of this data; got {first_round}")
        tree = Tree(rounds.workers, settings.aggregation_depth)
        for number in range(first_round, rounds.count):
            with stats.timed("broadcast"):
                sent = sender.sent()
            doing = f"round {number} of {rounds.count} of the training, and the model is as after its last averaging"
            with sent, stats.timed("aggregate"), spark_errors(doing):
                work = TrainRound(sent, settings.save_updater, self._hooks, load, settings.worker_prefetch_num_batches)
                total = tree.total(rounds.round(number).mapPartitionsWithIndex(work), rounds.workers)
            stats.add({f"worker_{key}": seconds for key, seconds in total.seconds.items()})
            with stats.timed("process"):
                total.step_to_means(model, settings.save_updater)
            if told():
                return False
        return True

    def _rounds(self, sender: ModelSender, data: Any, load: Callable[[Any], Any] | None) -> tuple[Rounds, Callable[[Any], Any] | None]:
        """The rounds of the data; those of the last RDD are kept for the next pass."""
        settings = self.settings
        workers = settings.num_workers or sender.context.defaultParallelism
        size = None if load else settings.batch_size_per_worker
        if load is None and settings.rdd_training_approach is RDDTrainingApproach.Export:
            data, load = self._export(data, size or 1)
            size = None
        seed = None if settings.rng_seed is None else [settings.rng_seed, sender.model.epoch]
        key = data, workers, size, seed, settings
        if self._kept is None or self._kept[0] != key:
            self._release()
            self._kept = key, self._dealt(data, workers, size, seed)
        return self._kept[1], load

    def _dealt(self, data: Any, workers: int, size: int | None, seed: Any) -> Rounds:
        settings = self.settings
        kept = level(settings.storage_level if size else settings.storage_level_streams, "storage_level")
        when, same = settings.repartition_data, data.getNumPartitions() == workers
        if when is Repartition.Never or (when is Repartition.NumPartitionsWorkersDiffers and same):
            return PartitionRounds(data, settings.averaging_frequency, size, kept)
        if settings.repartition_strategy is RepartitionStrategy.SparkDefault:
            return PartitionRounds(data.repartition(workers), settings.averaging_frequency, size, kept)
        return DealtRounds.of(data, workers, settings.averaging_frequency, size, seed, kept)

    def _export(self, data: Any, size: int) -> tuple[Any, Callable[[Any], Any]]:
        if self._exported is None or self._exported.data is not data:
            self.delete_temp_files()
            self._exported = ExportedBatches.of(data, size, self.settings.export_directory or "")
        return self._exported.paths, load_batch

    def set_collect_training_stats(self, collect: bool) -> None:
        self._stats = (self._stats or SparkTrainingStats()) if collect else None

    def get_is_collect_training_stats(self) -> bool:
        """Whether times are noted."""
        return self._stats is not None

    def get_training_stats(self) -> SparkTrainingStats | None:
        return self._stats

    def add_hook(self, hook: TrainingHook) -> None:
        """Call one more hook around steps."""
        self._hooks += _hooks([hook])

    def remove_hook(self, hook: TrainingHook) -> None:
        """Call a hook no longer."""
        self._hooks = [other for other in self._hooks if other is not hook]

    def _release(self) -> None:
        if self._kept is not None:
            kept, self._kept = self._kept, None
            kept[1].close()

    def delete_temp_files(self, spark: Any = None) -> bool:
        self._release()
        gone, self._exported = self._exported, None
        return gone.delete() if gone else True

    def to_json(self) -> str:
        """The settings as JSON."""
        return self.settings.to_json()

    def to_yaml(self) -> str:
        """The settings as YAML."""
        return self.settings.to_yaml()

    @classmethod
    def from_json(cls, text: str) -> Self:
        """A master with the settings of :meth:`to_json`."""
        return cls._with(ParameterAveragingSettings.from_json(text))

    @classmethod
    def from_yaml(cls, text: str) -> Self:
        """A master with the settings of :meth:`to_yaml`."""
        return cls._with(ParameterAveragingSettings.from_yaml(text))

    @classmethod
    def _with(cls, settings: ParameterAveragingSettings) -> Self:
        return cls(**{name: getattr(settings, name) for name in type(settings)._fields})

    def __repr__(self) -> str:
        return f"ParameterAveragingTrainingMaster({self.settings!r})"


class ParameterMasterBuilder(Builder[ParameterAveragingTrainingMaster], ParameterMasterBuilderNames):
    """``ParameterAveragingTrainingMaster.Builder(workers, examples)…build()``, with DL4J's method names."""

    target = ParameterAveragingSettings

    def __init__(self, *given: int) -> None:
        names = ("num_workers", "rdd_data_set_num_examples") if len(given) == 2 else ("rdd_data_set_num_examples",)
        if len(given) > 2:
            raise ConfigurationError(f"Builder takes the number of workers and that of examples in a data set; got {len(given)} arguments")
        super().__init__()
        self._trained: list[TrainingHook] = []
        for name, value in zip(names, given):
            if value is not None:
                self.set_option(name, value)

    def training_hooks(self, *hooks: Any) -> Self:
        """Call hooks around steps."""
        self._trained = _hooks(hooks[0] if len(hooks) == 1 and isinstance(hooks[0], (list, tuple)) else hooks)
        return self

    trainingHooks = training_hooks

    def build(self) -> ParameterAveragingTrainingMaster:
        """The master."""
        return ParameterAveragingTrainingMaster(training_hooks=self._trained, **self._values)


ParameterAveragingTrainingMaster.Builder = ParameterMasterBuilder

_REFUSED = ("SharedTrainingMaster sends thresholded updates from executor to executor in every step, over a mesh of DL4J's own (Aeron), "
            "which PySpark has no counterpart of: a barrier stage passes texts through the driver alone, which costs more than the updates "
            "save. Use ParameterAveragingTrainingMaster(averaging_frequency=1), or on one machine ParallelWrapper with "
            "TrainingMode.SHARED_GRADIENTS, which exchanges gradients whole")


class SharedTrainingMaster(JavaSpelling):
    """Refuses to train: DL4J's asynchronous exchange of thresholded updates needs connections between executors that Spark does not give.

    Parameters
    ----------
    *given, **options
        DL4J's settings, without effect.

    Raises
    ------
    ConfigurationError
        Always, with what to use in its place.
    """

    Builder: ClassVar[Any]

    def __init__(self, *given: Any, **options: Any) -> None:
        _refuse()


class _SharedBuilder:
    def __init__(self, *given: Any, **options: Any) -> None:
        _refuse()


SharedTrainingMaster.Builder = _SharedBuilder


def _refuse() -> Never:
    raise ConfigurationError(_REFUSED)


def _hooks(given: Sequence[Any]) -> list[TrainingHook]:
    for hook in given:
        if not isinstance(hook, TrainingHook):
            raise ConfigurationError(f"expected hooks, of classes derived from TrainingHook; got {hook!r:.60}")
    return list(given)
