"""Statistics of columns, and normalizations by them."""
from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...base.java.java_enum import JavaEnum
from ...base.java_names import AnalyzeLocalNames, ColumnAnalysisNames, DataAnalysisNames, HtmlAnalysisNames
from ...codecs.atomic_files import write_file
from ...errors import ConfigurationError
from ...text.html import html_table
from .frames import frame_of, numbers, pandas, texts
from .meta_data import NumberMetaData
from .number_steps import Log2Normalizer, MinMaxNormalizer, StandardizeNormalizer, SubtractMeanNormalizer
from .schema import Schema
from .steps import Step

__all__ = ["AnalyzeLocal", "ColumnAnalysis", "DataAnalysis", "HtmlAnalysis", "Normalize"]


class Normalize(JavaEnum):
    """Ways to normalize."""

    MinMax = "MinMax"
    MinMax2 = "MinMax2"
    Log2Mean = "Log2Mean"
    Log2MeanExcludingMin = "Log2MeanExcludingMin"
    Standardize = "Standardize"
    SubtractMean = "SubtractMean"


@dataclass(frozen=True)
class ColumnAnalysis(ColumnAnalysisNames):
    """Statistics of a column.

    Parameters
    ----------
    count_total : int
        How many values there are.
    count_unique : int
        How many different ones.
    min, max, mean, sample_stdev : float, optional
        Of numbers, and of the lengths of texts; None for categories.
    count_min_value, count_max_value, count_zero, count_negative, count_positive : int
        How many numbers are the least, the greatest, 0, below and above 0.
    counts : dict
        How often each text stands there; empty for numbers.
    """

    count_total: int
    count_unique: int
    min: float | None = None
    max: float | None = None
    mean: float | None = None
    sample_stdev: float | None = None
    count_min_value: int = 0
    count_max_value: int = 0
    count_zero: int = 0
    count_negative: int = 0
    count_positive: int = 0
    counts: dict[str, int] | None = None

    def get_min_double(self) -> float | None:
        """The least number."""
        return self.min

    def get_max_double(self) -> float | None:
        """The greatest number."""
        return self.max

    def get_sample_variance(self) -> float | None:
        """The square of the deviation."""
        return None if self.sample_stdev is None else self.sample_stdev ** 2

    def get_min_length(self) -> int | None:
        """The length of the shortest text."""
        return None if self.min is None else int(self.min)

    def get_max_length(self) -> int | None:
        """The length of the longest text."""
        return None if self.max is None else int(self.max)

    def get_mean_length(self) -> float | None:
        """The mean of the lengths of texts."""
        return self.mean

    def get_sample_stdev_length(self) -> float | None:
        """The standard deviation of the lengths of texts."""
        return self.sample_stdev

    def get_sample_variance_length(self) -> float | None:
        """Its square."""
        return self.get_sample_variance()

    def get_map_of_counts(self) -> dict[str, int] | None:
        """Return the number of times that each text occurs."""
        return self.counts


@dataclass(frozen=True)
class DataAnalysis(DataAnalysisNames):
    """Statistics of the columns of records.

    Parameters
    ----------
    schema : Schema
        The columns.
    columns : dict of ColumnAnalysis
        What is known of each.
    """

    schema: Schema
    columns: dict[str, ColumnAnalysis]

    def get_column_analysis(self, column: str | None = None) -> Any:
        """That of a column; those of all in their order without a name."""
        if column is None:
            return [self.columns[name] for name in self.schema.get_column_names()]
        return self.columns[self.schema.get_name(self.schema.get_index_of_column(column))]

    def to_frame(self) -> Any:
        """A data frame with a row for each column."""
        shown = [name for name in ColumnAnalysis.__dataclass_fields__ if name != "counts"]
        return pandas().DataFrame({name: [getattr(one, name) for one in self.columns.values()] for name in shown}, index=list(self.columns))

    def __str__(self) -> str:
        return str(self.to_frame().to_string())

    def _repr_html_(self) -> str:
        return _table(self)


def _table(analysis: DataAnalysis) -> str:
    frame = analysis.to_frame()
    return html_table(f"{len(analysis.columns)} columns", ["column", *frame.columns], [[n, *frame.loc[n].tolist()] for n in frame.index])


class HtmlAnalysis(HtmlAnalysisNames):
    """Shows statistics as a page (DataVec's class of that name)."""

    @staticmethod
    def create_html_analysis_string(analysis: DataAnalysis) -> str:
        """Return the page."""
        return f"<!DOCTYPE html><meta charset=\"utf-8\"><title>Data analysis</title>{_table(analysis)}"

    @staticmethod
    def create_html_analysis_file(analysis: DataAnalysis, path: str | os.PathLike[str]) -> None:
        """Write the page to a file."""
        write_file(path, HtmlAnalysis.create_html_analysis_string(analysis))


class AnalyzeLocal(AnalyzeLocalNames):
    """Looks at records (DataVec's class of that name)."""

    @staticmethod
    def analyze(schema: Schema, records: Any, max_histogram_buckets: int = 0) -> DataAnalysis:
        """Return the statistics of records.

        Parameters
        ----------
        schema : Schema
            Their columns.
        records : data frame, reader, or iterable of records
            The records.
        max_histogram_buckets : int
            Without effect.
        """
        if hasattr(records, "has_next") or hasattr(records, "hasNext"):
            records = list(records)
        frame = frame_of(records, schema)
        return DataAnalysis(schema, {column.name: _analysis(frame, column) for column in schema.columns})


def _analysis(frame: Any, column: Any) -> ColumnAnalysis:
    if not isinstance(column, NumberMetaData):
        names = texts(frame, column)
        counts = {name: names.count(name) for name in sorted(set(names))} if len(set(names)) < 1000 else {}
        lengths = np.array([len(name) for name in names], float)
        if column.column_type.name != "String" or not names:
            return ColumnAnalysis(len(names), len(set(names)), counts=counts)
        return ColumnAnalysis(len(names), len(set(names)), lengths.min(), lengths.max(), lengths.mean(), _deviation(lengths), counts=counts)
    x = numbers(frame, column.name)
    if not x.size:
        return ColumnAnalysis(0, 0)
    low, high = x.min(), x.max()
    return ColumnAnalysis(len(x), len(np.unique(x)), low.item(), high.item(), x.mean().item(), _deviation(x), int((x == low).sum()),
                          int((x == high).sum()), int((x == 0).sum()), int((x < 0).sum()), int((x > 0).sum()))


def _deviation(x: Any) -> float:
    return float(np.std(x, ddof=1)) if len(x) > 1 else 0.0


def normalizer(column: str, kind: Any, analysis: DataAnalysis) -> Step:
    """The step that normalizes a column by what is known of it."""
    known, way = analysis.get_column_analysis(column), kind if isinstance(kind, Normalize) else Normalize.value_of(str(kind))
    low, high, mean, deviation = known.min, known.max, known.mean, known.sample_stdev
    if not hasattr(analysis.schema.get_meta_data(column), "whole") or mean is None:
        raise ConfigurationError(f"normalize: column {column!r} is of type {analysis.schema.get_type(column).name}, without numbers")
    if way is Normalize.Log2MeanExcludingMin:
        others = known.count_total - known.count_min_value
        mean = (mean * known.count_total - known.count_min_value * low) / others if others else mean
    if way is Normalize.Standardize:
        return StandardizeNormalizer(column, mean, deviation)
    if way is Normalize.SubtractMean:
        return SubtractMeanNormalizer(column, mean)
    if way in (Normalize.Log2Mean, Normalize.Log2MeanExcludingMin):
        return Log2Normalizer(column, mean, low, 0.5)
    return MinMaxNormalizer(column, low, high, -1.0 if way is Normalize.MinMax2 else 0.0, 1.0)
