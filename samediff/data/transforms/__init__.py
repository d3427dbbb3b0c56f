"""Schemas of records and steps that change them, on data frames (DataVec's transform process)."""
# The rest is written by `python -m dl4py.samediff.tools.exports`: do not edit.
from .analysis import AnalyzeLocal, ColumnAnalysis, DataAnalysis, HtmlAnalysis, Normalize
from .column_steps import (
    AddConstantColumnTransform, ConditionalCopyValueTransform, ConditionalReplaceValueTransform,
    ConditionalReplaceValueTransformWithDefault, ConvertToDouble, ConvertToInteger, ConvertToString, DuplicateColumnsTransform,
    RemoveAllColumnsExceptForTransform, RemoveColumnsTransform, RenameColumnsTransform, ReorderColumnsTransform,
    ReplaceEmptyIntegerWithValueTransform, ReplaceInvalidWithIntegerTransform,
)
from .conditions import (
    BooleanColumnCondition, BooleanCondition, CategoricalColumnCondition, ConditionOp, DoubleColumnCondition, FloatColumnCondition,
    InfiniteColumnCondition, IntegerColumnCondition, InvalidValueColumnCondition, LongColumnCondition, NaNColumnCondition,
    NullWritableColumnCondition, RecordCondition, SequenceConditionMode, SequenceLengthCondition, StringColumnCondition,
    StringRegexColumnCondition, TimeColumnCondition, TrivialColumnCondition,
)
from .executing import Join, LocalTransformExecutor
from .joda import DateTimeFieldType, DateTimeZone
from .meta_data import (
    BooleanMetaData, CategoricalMetaData, ColumnMetaData, ColumnType, DoubleMetaData, FloatMetaData, IntegerMetaData, LongMetaData,
    NDArrayMetaData, StringMetaData, TimeMetaData,
)
from .number_steps import (
    DoubleColumnsMathOpTransform, DoubleMathFunctionTransform, DoubleMathOpTransform, FloatColumnsMathOpTransform,
    FloatMathFunctionTransform, FloatMathOpTransform, IntegerColumnsMathOpTransform, IntegerMathOpTransform, Log2Normalizer,
    LongColumnsMathOpTransform, LongMathOpTransform, MathFunction, MathOp, MinMaxNormalizer, StandardizeNormalizer, SubtractMeanNormalizer,
)
from .process import TransformProcess
from .reducer import ReduceOp, Reducer
from .schema import Schema, SequenceSchema
from .sequence_steps import (
    CalculateSortedRank, ConvertFromSequence, ConvertToSequence, NumericalColumnComparator, ReduceSequenceTransform, SequenceComparator,
    SequenceDifferenceTransform, SequenceMovingWindowReduceTransform, SequenceOffsetTransform, SequenceSplit, SequenceSplitTimeSeparation,
    SequenceTrimToLengthTransform, SequenceTrimTransform, SplitMaxLengthSequence, StringComparator,
)
from .steps import ConditionFilter, Filter, FilterInvalidValues, Transform
from .text_steps import (
    AppendStringColumnTransform, CategoricalToIntegerTransform, CategoricalToOneHotTransform, ChangeCaseStringTransform,
    ConcatenateStringColumns, FirstDigitTransform, IntegerToCategoricalTransform, IntegerToOneHotTransform,
    MapAllStringsExceptListTransform, RemoveWhiteSpaceTransform, ReplaceEmptyStringTransform, ReplaceStringTransform, StringMapTransform,
    StringToCategoricalTransform,
)
from .time_steps import DeriveColumnsFromTimeTransform, StringToTimeTransform, TimeMathOpTransform

__all__ = [
    "AddConstantColumnTransform", "AnalyzeLocal", "AppendStringColumnTransform", "BooleanColumnCondition", "BooleanCondition",
    "BooleanMetaData", "CalculateSortedRank", "CategoricalColumnCondition", "CategoricalMetaData", "CategoricalToIntegerTransform",
    "CategoricalToOneHotTransform", "ChangeCaseStringTransform", "ColumnAnalysis", "ColumnMetaData", "ColumnType",
    "ConcatenateStringColumns", "ConditionFilter", "ConditionOp", "ConditionalCopyValueTransform", "ConditionalReplaceValueTransform",
    "ConditionalReplaceValueTransformWithDefault", "ConvertFromSequence", "ConvertToDouble", "ConvertToInteger", "ConvertToSequence",
    "ConvertToString", "DataAnalysis", "DateTimeFieldType", "DateTimeZone", "DeriveColumnsFromTimeTransform", "DoubleColumnCondition",
    "DoubleColumnsMathOpTransform", "DoubleMathFunctionTransform", "DoubleMathOpTransform", "DoubleMetaData", "DuplicateColumnsTransform",
    "Filter", "FilterInvalidValues", "FirstDigitTransform", "FloatColumnCondition", "FloatColumnsMathOpTransform",
    "FloatMathFunctionTransform", "FloatMathOpTransform", "FloatMetaData", "HtmlAnalysis", "InfiniteColumnCondition",
    "IntegerColumnCondition", "IntegerColumnsMathOpTransform", "IntegerMathOpTransform", "IntegerMetaData",
    "IntegerToCategoricalTransform", "IntegerToOneHotTransform", "InvalidValueColumnCondition", "Join", "LocalTransformExecutor",
    "Log2Normalizer", "LongColumnCondition", "LongColumnsMathOpTransform", "LongMathOpTransform", "LongMetaData",
    "MapAllStringsExceptListTransform", "MathFunction", "MathOp", "MinMaxNormalizer", "NDArrayMetaData", "NaNColumnCondition", "Normalize",
    "NullWritableColumnCondition", "NumericalColumnComparator", "RecordCondition", "ReduceOp", "ReduceSequenceTransform", "Reducer",
    "RemoveAllColumnsExceptForTransform", "RemoveColumnsTransform", "RemoveWhiteSpaceTransform", "RenameColumnsTransform",
    "ReorderColumnsTransform", "ReplaceEmptyIntegerWithValueTransform", "ReplaceEmptyStringTransform",
    "ReplaceInvalidWithIntegerTransform", "ReplaceStringTransform", "Schema", "SequenceComparator", "SequenceConditionMode",
    "SequenceDifferenceTransform", "SequenceLengthCondition", "SequenceMovingWindowReduceTransform", "SequenceOffsetTransform",
    "SequenceSchema", "SequenceSplit", "SequenceSplitTimeSeparation", "SequenceTrimToLengthTransform", "SequenceTrimTransform",
    "SplitMaxLengthSequence", "StandardizeNormalizer", "StringColumnCondition", "StringComparator", "StringMapTransform", "StringMetaData",
    "StringRegexColumnCondition", "StringToCategoricalTransform", "StringToTimeTransform", "SubtractMeanNormalizer", "TimeColumnCondition",
    "TimeMathOpTransform", "TimeMetaData", "Transform", "TransformProcess", "TrivialColumnCondition",
]
