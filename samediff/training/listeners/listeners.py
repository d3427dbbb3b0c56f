"""Ready-made listeners: scores, speed, progress."""
from __future__ import annotations

import logging
import sys
import time
from pathlib import Path
from typing import Any, ClassVar, Self, TextIO

from ...base.copying import CopiedWhole
from ...base.java_names import CollectScoresIterationListenerNames, CollectScoresListenerNames, PerformanceListenerBuilderNames
from ...codecs.atomic_files import write_file
from ...configuration.method_builder import MethodBuilder
from ...errors import ConfigurationError
from ..history import Loss, LossCurve
from .listener import Listener
from .operation import At, ListenerResponse, Operation

__all__ = [
    "CollectScoresIterationListener", "CollectScoresListener", "PerformanceListener", "ProgressListener", "ScoreIterationListener",
    "ScoreListener", "TimeIterationListener",
]

log = logging.getLogger("dl4py.training")


def report(text: str) -> None:
    """Send a line to the logger ``dl4py.training``, or to standard error where INFO is not being logged."""
    if log.isEnabledFor(logging.INFO):
        log.info(text)
    else:
        print(text, file=sys.stderr)


def score_of(model: Any, loss: Loss | None) -> float:
    """Return the total loss of a graph's step, or the score of a network."""
    return loss.total_loss() if loss is not None else float(model.score())


class _TrainingOnly(Listener):
    def is_active(self, operation: Operation) -> bool:
        return operation is Operation.TRAINING


class ScoreIterationListener(_TrainingOnly):
    """Reports the score every ``print_iterations`` iterations, the first one included.

    Parameters
    ----------
    print_iterations : int
        Iterations from one report to the next; 10 by default, less than 1 counts as 1.
    """

    def __init__(self, print_iterations: int = 10) -> None:
        self.print_iterations = max(1, print_iterations)

    def iteration_done(self, model: Any, at: At, data_set: Any = None, loss: Loss | None = None) -> None:
        if at.iteration() % self.print_iterations == 0:
            report(f"Score at iteration {at.iteration()} is {score_of(model, loss)}")


class ScoreListener(_TrainingOnly):
    """Reports the loss every ``frequency`` iterations but the first, and a line per epoch.

    Parameters
    ----------
    frequency
        Iterations between two lines.
    report_epochs
        Whether to report the start and end of epochs.
    report_iter_performance
        Whether to add iterations and examples per second.
    """

    def __init__(self, frequency: int = 10, report_epochs: bool = True, report_iter_performance: bool = True) -> None:
        if frequency <= 0:
            raise ConfigurationError(f"ScoreListener: the frequency must be above 0, got {frequency}")
        self.frequency = frequency
        self.report_epochs, self.report_iter_performance = report_epochs, report_iter_performance
        self._since, self._iterations, self._examples = time.perf_counter(), 0, 0

    def epoch_start(self, sd: Any, at: At) -> None:
        if self.report_epochs:
            report(f"Starting epoch {at.epoch()} - iteration {at.iteration()}")

    def epoch_end(self, sd: Any, at: At, loss_curve: LossCurve | None,
                  epoch_time_millis: int) -> ListenerResponse | None:
        if self.report_epochs:
            mean = "" if not loss_curve else f", mean loss {loss_curve.last_mean_loss().total_loss():.6g}"
            report(f"Completed epoch {at.epoch()} in {epoch_time_millis} ms{mean}")
        return None

    def iteration_done(self, model: Any, at: At, data_set: Any = None, loss: Loss | None = None) -> None:
        self._iterations += 1
        self._examples += examples_in(model, data_set)
        if at.iteration() == 0 or at.iteration() % self.frequency:
            return
        text = f"Loss at epoch {at.epoch()}, iteration {at.iteration()}: {score_of(model, loss):.5f}"
        now = time.perf_counter()
        if self.report_iter_performance:
            seconds = max(now - self._since, 1e-9)
            text += f", {self._iterations / seconds:.3f} batches/sec, {self._examples / seconds:.3f} examples/sec"
        self._since, self._iterations, self._examples = now, 0, 0
        report(text)


class PerformanceListener(_TrainingOnly):
    """Reports times and throughput every ``frequency`` iterations.

    ``last_samples_per_sec`` and ``last_batches_per_sec`` keep the latest numbers.

    Parameters
    ----------
    frequency : int
        Iterations between two reports.
    report_gc : bool
        Has no effect; DL4J reports Java's garbage collection.
    report_score, report_time, report_etl, report_sample, report_batch, report_iteration : bool
        What a line says: score, milliseconds of the iteration and of waiting for data, examples and batches per second, number of
        the iteration. All but the score by default.

    Raises
    ------
    ConfigurationError
        A frequency below 1.

    Examples
    --------
    >>> PerformanceListener(10, report_score=True).frequency
    10
    """

    Builder: ClassVar[type[PerformanceListenerBuilder]]

    def __init__(self, frequency: int = 1, report_score: bool = False, report_gc: bool = False, *, report_time: bool = True,
                 report_etl: bool = True, report_sample: bool = True, report_batch: bool = True,
                 report_iteration: bool = True) -> None:
        if frequency <= 0:
            raise ConfigurationError(f"PerformanceListener: the frequency must be above 0, got {frequency}")
        self.frequency, self.report_score, self.report_time = frequency, report_score, report_time
        self.report_etl, self.report_sample = report_etl, report_sample
        self.report_batch, self.report_iteration = report_batch, report_iteration
        self.last_samples_per_sec = self.last_batches_per_sec = float("nan")
        self._etl_ms, self._last = 0, 0.0

    def iteration_start(self, sd: Any, at: At, data: Any, etl_time_ms: int) -> None:
        self._etl_ms = etl_time_ms

    def iteration_done(self, model: Any, at: At, data_set: Any = None, loss: Loss | None = None) -> None:
        now, before = time.perf_counter(), self._last
        self._last = now
        if not before:
            return  # the first iteration includes compilation
        seconds = max(now - before, 1e-9)
        self.last_batches_per_sec, self.last_samples_per_sec = 1 / seconds, examples_in(model, data_set) / seconds
        if at.iteration() % self.frequency:
            return
        parts = [(self.report_etl, f"ETL: {self._etl_ms} ms"), (self.report_iteration, f"iteration {at.iteration()}"),
                 (self.report_time, f"iteration time: {seconds * 1000:.3f} ms"),
                 (self.report_sample, f"samples/sec: {self.last_samples_per_sec:.3f}"),
                 (self.report_batch, f"batches/sec: {self.last_batches_per_sec:.3f}")]
        texts = [text for wanted, text in parts if wanted]
        if self.report_score:
            texts.append(f"score: {score_of(model, loss)}")
        report("; ".join(texts))


class PerformanceListenerBuilder(MethodBuilder, PerformanceListenerBuilderNames):
    """Builder: ``PerformanceListener.Builder().set_frequency(10).report_score(True).build()``."""

    def set_frequency(self, frequency: int) -> Self:
        """Report every so many iterations."""
        return self._set(frequency=frequency)

    def report_score(self, report_score: bool) -> Self:
        """Say the score, which is not said by default."""
        return self._set(report_score=report_score)

    def report_time(self, report_time: bool) -> Self:
        """Report the milliseconds of an iteration."""
        return self._set(report_time=report_time)

    def report_etl(self, report_etl: bool) -> Self:
        """Say the milliseconds that were spent waiting for data."""
        return self._set(report_etl=report_etl)

    def report_sample(self, report_sample: bool) -> Self:
        """Report the examples per second."""
        return self._set(report_sample=report_sample)

    def report_batch(self, report_batch: bool) -> Self:
        """Report the batches per second."""
        return self._set(report_batch=report_batch)

    def report_iteration(self, report_iteration: bool) -> Self:
        """Report the number of the iteration."""
        return self._set(report_iteration=report_iteration)

    def build(self) -> PerformanceListener:
        """Return the listener."""
        return PerformanceListener(**self._values)


PerformanceListener.Builder = PerformanceListenerBuilder


class CollectScoresListener(CopiedWhole, _TrainingOnly, CollectScoresListenerNames):
    """Keeps the score of every ``frequency``-th iteration (those whose number it divides).

    Parameters
    ----------
    frequency : int
        Default 1: every iteration.
    log_score : bool
        Whether the score is reported as well; False by default.
    """

    def __init__(self, frequency: int = 1, log_score: bool = False) -> None:
        self.frequency, self.log_score = max(1, frequency), log_score
        self.iterations: list[int] = []
        self.scores: list[float] = []

    def get_list_iteration(self) -> list[int]:
        """Return the iterations."""
        return self.iterations

    def get_list_score(self) -> list[float]:
        """Return the scores of the iterations."""
        return self.scores

    def iteration_done(self, model: Any, at: At, data_set: Any = None, loss: Loss | None = None) -> None:
        if at.iteration() % self.frequency == 0:
            self.iterations.append(at.iteration())
            self.scores.append(score_of(model, loss))
            if self.log_score:
                report(f"Score at iteration {at.iteration()} is {self.scores[-1]}")


class CollectScoresIterationListener(CopiedWhole, _TrainingOnly, CollectScoresIterationListenerNames):
    """Keeps every ``frequency``-th score that it hears, and writes them as a table.

    Parameters
    ----------
    frequency : int
        Default 1: every score.
    """

    def __init__(self, frequency: int = 1) -> None:
        self.frequency, self._count = max(1, frequency), 0
        self._scores: list[tuple[int, float]] = []

    def get_score_vs_iter(self) -> list[tuple[int, float]]:
        """Return pairs of iteration and score."""
        return self._scores

    def iteration_done(self, model: Any, at: At, data_set: Any = None, loss: Loss | None = None) -> None:
        self._count += 1
        if self._count % self.frequency == 0:
            self._scores.append((at.iteration(), score_of(model, loss)))

    def export_scores(self, target: str | Path | Any, delimiter: str = "\t") -> None:
        """Write ``Iteration<delimiter>Score`` and a line for each score, to a path or an open file."""
        text = "\n".join([f"Iteration{delimiter}Score", *(f"{i}{delimiter}{s!r}" for i, s in self._scores)])
        if isinstance(target, (str, Path)):
            write_file(target, text)
        elif isinstance(target, TextIO) or hasattr(target, "encoding"):
            target.write(text)
        else:
            target.write(text.encode("utf-8"))


class TimeIterationListener(_TrainingOnly):
    """Reports the expected remaining time every ``frequency`` of ``iteration_count`` iterations.

    Parameters
    ----------
    *counts : int
        As in DL4J: how many iterations the training has; or before it the iterations from one report to the next.
    iteration_count, frequency : int, optional
        The same by name; the frequency is 1 by default.
    """

    def __init__(self, *counts: int, iteration_count: int | None = None, frequency: int = 1) -> None:
        if len(counts) > 2 or (iteration_count is None) != bool(counts):
            raise ConfigurationError(f"TimeIterationListener takes the number of iterations, or a frequency and that number; got {counts}")
        frequency, iteration_count = counts if len(counts) == 2 else (frequency, *counts, iteration_count)[:2]  # type: ignore[assignment]
        self.iteration_count, self.frequency = int(iteration_count or 0), max(1, frequency)
        self._start, self._done = time.perf_counter(), 0

    def iteration_done(self, model: Any, at: At, data_set: Any = None, loss: Loss | None = None) -> None:
        self._done += 1
        if self._done % self.frequency == 0:
            left = max(0, self.iteration_count - self._done)
            seconds = left * (time.perf_counter() - self._start) / self._done
            report(f"Remaining time: {int(seconds // 60)} min {int(seconds % 60)} s, {left} iterations")


class ProgressListener(_TrainingOnly):
    """One progress line on a terminal, rewritten in place; silent where standard error is no terminal.

    Parameters
    ----------
    stream : file, optional
        Where the line is written; standard error by default.
    every_seconds : float
        The shortest time between two writes, in seconds; default 0.1.
    """

    def __init__(self, stream: Any = None, every_seconds: float = 0.1) -> None:
        self._stream, self._every, self._shown = stream, every_seconds, 0.0

    def _line(self, text: str, end: str = "") -> None:
        stream = self._stream if self._stream is not None else sys.stderr
        if stream.isatty():
            stream.write(f"\r\x1b[K{text}{end}")
            stream.flush()

    def iteration_done(self, model: Any, at: At, data_set: Any = None, loss: Loss | None = None) -> None:
        now = time.perf_counter()
        if now - self._shown >= self._every:
            self._shown = now
            self._line(f"epoch {at.epoch()}, iteration {at.iteration()}, score {score_of(model, loss):.6g}")

    def epoch_end(self, sd: Any, at: At, loss_curve: LossCurve | None,
                  epoch_time_millis: int) -> ListenerResponse | None:
        mean = f", mean loss {loss_curve.last_mean_loss().total_loss():.6g}" if loss_curve else ""
        self._line(f"epoch {at.epoch()} done in {epoch_time_millis / 1000:.1f} s{mean}", "\n")
        return None


def examples_in(model: Any, data_set: Any) -> int:
    """Return the number of examples in a batch; where the data set does not say, that of the model's last batch, or 0."""
    count = getattr(data_set, "num_examples", None)
    if count is not None:
        return int(count())
    features = getattr(data_set, "features", None)
    first: Any = features[0] if isinstance(features, (list, tuple)) and features else features
    if getattr(first, "ndim", 0):
        return int(first.shape[0])
    last = getattr(model, "batch_size", None)
    return int(last()) if callable(last) else 0
