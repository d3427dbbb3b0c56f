"""Schemas that are inferred from records, compared with what DL4J 1.0.0-M2.1 infers."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff.data import Schema
from dl4py.samediff.data.records.writables import (
    BooleanWritable,
    DoubleWritable,
    FloatWritable,
    IntWritable,
    LongWritable,
    NullWritable,
    Text,
)
from dl4py.samediff.errors import ConfigurationError


@pytest.mark.parametrize("record", [
    [IntWritable(1), Text("a"), DoubleWritable(1.5), FloatWritable(2.5), LongWritable(5)], [1, "a", 1.5, FloatWritable(2.5), 2 ** 40],
    [np.int32(1), np.str_("a"), np.float64(1.5), FloatWritable(2.5), np.int64(2 ** 31)]], ids=["DL4J's", "plain", "NumPy's"])
def test_columns_have_the_types_of_the_values(record):
    built = Schema.Builder().addColumnInteger("0").addColumnString("1").addColumnDouble("2").addColumnFloat("3").addColumnLong("4").build()
    assert Schema.infer(record) == built
    assert Schema.inferMultiple([record, [1]]) == built
    assert Schema.infer([]).num_columns() == 0


@pytest.mark.parametrize("value", [True, BooleanWritable(False), NullWritable(), None, [1, 2], np.ones(2)],
                         ids=lambda v: type(v).__name__)
def test_other_values_are_refused(value):
    with pytest.raises(ConfigurationError, match="value 1 of the record"):
        Schema.infer([1, value])


def test_no_record_says_nothing():
    with pytest.raises(ConfigurationError, match="there is none"):
        Schema.infer_multiple([])
