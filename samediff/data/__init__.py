"""Data sets, iterators, readers, normalizers and preprocessors.

::

    reader = CSVRecordReader(skip_num_lines=1).initialize("iris.csv")
    train = RecordReaderDataSetIterator(reader, 32, label_index=-1, label_names=["setosa", "versicolor", "virginica"])
    normalizer = NormalizerStandardize()
    normalizer.fit(train)
    train.set_pre_processor(normalizer)
"""
# The rest is written by `python -m dl4py.samediff.tools.exports`: do not edit.
from .iterators.async_iterator import AsyncDataSetIterator, AsyncMultiDataSetIterator
from .iterators.block_iterators import DummyBlockDataSetIterator, DummyBlockMultiDataSetIterator
from .iterators.caching_iterator import (
    CachingDataSetIterator, DataSetCache, InFileAndMemoryDataSetCache, InFileDataSetCache, InMemoryDataSetCache,
)
from .iterators.file_iterators import FileDataSetIterator, FileMultiDataSetIterator
from .iterators.iterator import (
    BatchIterator, DataSetIterator, DataSetPreProcessor, MultiDataSetIterator, MultiDataSetPreProcessor, NoMoreDataError,
)
from .iterators.iterator_splitter import (
    DataSetIteratorSplitter, MultiDataSetIteratorSplitter, ScrollableDataSetIterator, ScrollableMultiDataSetIterator,
)
from .iterators.list_iterators import (
    DoublesDataSetIterator, ExistingDataSetIterator, ExistingMultiDataSetIterator, FloatsDataSetIterator, INDArrayDataSetIterator,
    ListDataSetIterator, NumpyDataSetIterator, NumpyMultiDataSetIterator, SingletonDataSetIterator, SingletonMultiDataSetIterator,
    TestDataSetIterator, ViewIterator,
)
from .iterators.loader_iterators import DataSetLoaderIterator, FileSplitDataSetIterator, MultiDataSetLoaderIterator
from .iterators.mini_batch_files import ExistingMiniBatchDataSetIterator, MiniBatchFileDataSetIterator
from .iterators.multi_iterators import (
    JointMultiDataSetIterator, MultiDataSetIteratorAdapter, MultiDataSetWrapperIterator, TestMultiDataSetIterator,
)
from .iterators.parallel_iterators import FileSplitParallelDataSetIterator, InequalityHandling, JointParallelDataSetIterator
from .iterators.random_iterators import KFoldIterator, RandomDataSetIterator, RandomMultiDataSetIterator, SamplingDataSetIterator, Values
from .iterators.rebatching import IteratorDataSetIterator, IteratorMultiDataSetIterator
from .iterators.wrapper_iterators import (
    AsyncShieldDataSetIterator, AsyncShieldMultiDataSetIterator, BenchmarkDataSetIterator, BenchmarkMultiDataSetIterator,
    EarlyTerminationDataSetIterator, EarlyTerminationMultiDataSetIterator, MultipleEpochsIterator, ReconstructionDataSetIterator,
    WorkspacesShieldDataSetIterator,
)
from .normalizers.data_normalization import DataNormalization, MultiDataNormalization, Normalizer
from .normalizers.image_scalers import ImageMultiPreProcessingScaler, ImagePreProcessingScaler, VGG16ImagePreProcessor
from .normalizers.image_transforms import CropImageTransform, FlipImageTransform, ImageTransform, PipelineImageTransform
from .normalizers.more_image_transforms import (
    BoxImageTransform, EqualizeHistTransform, MultiImageTransform, RandomCropTransform, ResizeImageTransform, RotateImageTransform,
    ScaleImageTransform, ShowImageTransform, WarpImageTransform,
)
from .normalizers.multi_normalizers import MultiNormalizerHybrid, MultiNormalizerMinMaxScaler, MultiNormalizerStandardize
from .normalizers.normalizers import NormalizerMinMaxScaler, NormalizerStandardize
from .normalizers.preprocessors import (
    CombinedMultiDataSetPreProcessor, CombinedPreProcessor, CompositeDataSetPreProcessor, CompositeMultiDataSetPreProcessor,
    CropAndResizeDataSetPreProcessor, ImageFlatteningDataSetPreProcessor, LabelLastTimeStepPreProcessor, PermuteDataSetPreProcessor,
    RGBtoGrayscaleDataSetPreProcessor, UnderSamplingByMaskingPreProcessor,
)
from .normalizers.standard_scaler import StandardScaler
from .pictures.image_loader import BaseImageLoader, ImageLoader, Java2DNativeImageLoader, NativeImageLoader
from .pictures.image_meta_data import RecordMetaDataImageURI
from .pictures.image_objects import ImageObject, ImageObjectLabelProvider, SvhnLabelProvider, VocLabelProvider
from .pictures.image_record_reader import ImageRecordReader
from .pictures.object_detection import ObjectDetectionRecordReader
from .public.cifar_iterator import Cifar10DataSetIterator
from .public.data_facts import Cifar10Fetcher, CifarLoader, MnistDataFetcher, TinyImageNetFetcher, UciSequenceDataFetcher
from .public.fetcher import DownloadError, data_folder
from .public.iris_iterator import IrisDataSetIterator
from .public.labelled_examples import DataSetType
from .public.mnist_iterators import EMnistSet, EmnistDataSetIterator, MnistDataSetIterator
from .public.photo_iterators import LFWDataSetIterator, TinyImageNetDataSetIterator
from .public.uci_iterator import UciSequenceDataSetIterator
from .readers.csv_reader import CSVRecordReader
from .readers.csv_sequences import (
    CSVLineSequenceRecordReader, CSVNLinesSequenceRecordReader, CSVRegexRecordReader, CSVVariableSlidingWindowRecordReader,
)
from .readers.line_readers import (
    CollectionRecordReader, CollectionSequenceRecordReader, FileRecordReader, LibSvmRecordReader, LineRecordReader, ListStringRecordReader,
    RegexLineRecordReader, RegexSequenceRecordReader, SVMLightRecordReader,
)
from .readers.record_iterators import RecordReaderDataSetIterator
from .readers.record_multi_iterator import RecordReaderMultiDataSetIterator
from .readers.sequence_iterators import CSVSequenceRecordReader, SequenceRecordReaderDataSetIterator
from .readers.series_alignment import AlignmentMode
from .readers.transform_readers import (
    ComposableRecordReader, ConcatenatingRecordReader, TransformProcessRecordReader, TransformProcessSequenceRecordReader,
)
from .records.configuration import Configuration
from .records.record_meta_data import Record, RecordMetaData, RecordMetaDataLine
from .records.record_reader import RecordReader, SequenceRecordReader
from .records.record_writer import CSVRecordWriter, NumberOfRecordsPartitioner, RecordWriter
from .records.writables import (
    BooleanWritable, DoubleWritable, FloatWritable, IntWritable, LongWritable, NDArrayWritable, NullWritable, Text, Writable, WritableType,
)
from .sets.dataset import DataSet, SplitTestAndTrain
from .sets.java_random import JavaRandom
from .sets.multi_dataset import MultiDataSet, MultiDataSets
from .splits.file_split import FileSplit
from .splits.input_split import CollectionInputSplit, InputSplit, NumberedFileInputSplit
from .splits.path_filters import BalancedPathFilter, PathFilter, RandomPathFilter
from .splits.path_labels import ParentPathLabelGenerator, PathLabelGenerator, PatternPathLabelGenerator
from .splits.text_splits import InputStreamInputSplit, ListStringSplit, StringSplit
from .splits.transform_split import TransformSplit
from .transforms.analysis import AnalyzeLocal, ColumnAnalysis, DataAnalysis, HtmlAnalysis, Normalize
from .transforms.column_steps import (
    AddConstantColumnTransform, ConditionalCopyValueTransform, ConditionalReplaceValueTransform,
    ConditionalReplaceValueTransformWithDefault, ConvertToDouble, ConvertToInteger, ConvertToString, DuplicateColumnsTransform,
    RemoveAllColumnsExceptForTransform, RemoveColumnsTransform, RenameColumnsTransform, ReorderColumnsTransform,
    ReplaceEmptyIntegerWithValueTransform, ReplaceInvalidWithIntegerTransform,
)
from .transforms.conditions import (
    BooleanColumnCondition, BooleanCondition, CategoricalColumnCondition, ConditionOp, DoubleColumnCondition, FloatColumnCondition,
    InfiniteColumnCondition, IntegerColumnCondition, InvalidValueColumnCondition, LongColumnCondition, NaNColumnCondition,
    NullWritableColumnCondition, RecordCondition, SequenceConditionMode, SequenceLengthCondition, StringColumnCondition,
    StringRegexColumnCondition, TimeColumnCondition, TrivialColumnCondition,
)
from .transforms.executing import Join, LocalTransformExecutor
from .transforms.joda import DateTimeFieldType, DateTimeZone
from .transforms.meta_data import (
    BooleanMetaData, CategoricalMetaData, ColumnMetaData, ColumnType, DoubleMetaData, FloatMetaData, IntegerMetaData, LongMetaData,
    NDArrayMetaData, StringMetaData, TimeMetaData,
)
from .transforms.number_steps import (
    DoubleColumnsMathOpTransform, DoubleMathFunctionTransform, DoubleMathOpTransform, FloatColumnsMathOpTransform,
    FloatMathFunctionTransform, FloatMathOpTransform, IntegerColumnsMathOpTransform, IntegerMathOpTransform, Log2Normalizer,
    LongColumnsMathOpTransform, LongMathOpTransform, MathFunction, MathOp, MinMaxNormalizer, StandardizeNormalizer, SubtractMeanNormalizer,
)
from .transforms.process import TransformProcess
from .transforms.reducer import ReduceOp, Reducer
from .transforms.schema import Schema, SequenceSchema
from .transforms.sequence_steps import (
    CalculateSortedRank, ConvertFromSequence, ConvertToSequence, NumericalColumnComparator, ReduceSequenceTransform, SequenceComparator,
    SequenceDifferenceTransform, SequenceMovingWindowReduceTransform, SequenceOffsetTransform, SequenceSplit, SequenceSplitTimeSeparation,
    SequenceTrimToLengthTransform, SequenceTrimTransform, SplitMaxLengthSequence, StringComparator,
)
from .transforms.steps import ConditionFilter, Filter, FilterInvalidValues, Transform
from .transforms.text_steps import (
    AppendStringColumnTransform, CategoricalToIntegerTransform, CategoricalToOneHotTransform, ChangeCaseStringTransform,
    ConcatenateStringColumns, FirstDigitTransform, IntegerToCategoricalTransform, IntegerToOneHotTransform,
    MapAllStringsExceptListTransform, RemoveWhiteSpaceTransform, ReplaceEmptyStringTransform, ReplaceStringTransform, StringMapTransform,
    StringToCategoricalTransform,
)
from .transforms.time_steps import DeriveColumnsFromTimeTransform, StringToTimeTransform, TimeMathOpTransform

__all__ = [
    "AddConstantColumnTransform", "AlignmentMode", "AnalyzeLocal", "AppendStringColumnTransform", "AsyncDataSetIterator",
    "AsyncMultiDataSetIterator", "AsyncShieldDataSetIterator", "AsyncShieldMultiDataSetIterator", "BalancedPathFilter", "BaseImageLoader",
    "BatchIterator", "BenchmarkDataSetIterator", "BenchmarkMultiDataSetIterator", "BooleanColumnCondition", "BooleanCondition",
    "BooleanMetaData", "BooleanWritable", "BoxImageTransform", "CSVLineSequenceRecordReader", "CSVNLinesSequenceRecordReader",
    "CSVRecordReader", "CSVRecordWriter", "CSVRegexRecordReader", "CSVSequenceRecordReader", "CSVVariableSlidingWindowRecordReader",
    "CachingDataSetIterator", "CalculateSortedRank", "CategoricalColumnCondition", "CategoricalMetaData", "CategoricalToIntegerTransform",
    "CategoricalToOneHotTransform", "ChangeCaseStringTransform", "Cifar10DataSetIterator", "Cifar10Fetcher", "CifarLoader",
    "CollectionInputSplit", "CollectionRecordReader", "CollectionSequenceRecordReader", "ColumnAnalysis", "ColumnMetaData", "ColumnType",
    "CombinedMultiDataSetPreProcessor", "CombinedPreProcessor", "ComposableRecordReader", "CompositeDataSetPreProcessor",
    "CompositeMultiDataSetPreProcessor", "ConcatenateStringColumns", "ConcatenatingRecordReader", "ConditionFilter", "ConditionOp",
    "ConditionalCopyValueTransform", "ConditionalReplaceValueTransform", "ConditionalReplaceValueTransformWithDefault", "Configuration",
    "ConvertFromSequence", "ConvertToDouble", "ConvertToInteger", "ConvertToSequence", "ConvertToString",
    "CropAndResizeDataSetPreProcessor", "CropImageTransform", "DataAnalysis", "DataNormalization", "DataSet", "DataSetCache",
    "DataSetIterator", "DataSetIteratorSplitter", "DataSetLoaderIterator", "DataSetPreProcessor", "DataSetType", "DateTimeFieldType",
    "DateTimeZone", "DeriveColumnsFromTimeTransform", "DoubleColumnCondition", "DoubleColumnsMathOpTransform",
    "DoubleMathFunctionTransform", "DoubleMathOpTransform", "DoubleMetaData", "DoubleWritable", "DoublesDataSetIterator", "DownloadError",
    "DummyBlockDataSetIterator", "DummyBlockMultiDataSetIterator", "DuplicateColumnsTransform", "EMnistSet",
    "EarlyTerminationDataSetIterator", "EarlyTerminationMultiDataSetIterator", "EmnistDataSetIterator", "EqualizeHistTransform",
    "ExistingDataSetIterator", "ExistingMiniBatchDataSetIterator", "ExistingMultiDataSetIterator", "FileDataSetIterator",
    "FileMultiDataSetIterator", "FileRecordReader", "FileSplit", "FileSplitDataSetIterator", "FileSplitParallelDataSetIterator", "Filter",
    "FilterInvalidValues", "FirstDigitTransform", "FlipImageTransform", "FloatColumnCondition", "FloatColumnsMathOpTransform",
    "FloatMathFunctionTransform", "FloatMathOpTransform", "FloatMetaData", "FloatWritable", "FloatsDataSetIterator", "HtmlAnalysis",
    "INDArrayDataSetIterator", "ImageFlatteningDataSetPreProcessor", "ImageLoader", "ImageMultiPreProcessingScaler", "ImageObject",
    "ImageObjectLabelProvider", "ImagePreProcessingScaler", "ImageRecordReader", "ImageTransform", "InFileAndMemoryDataSetCache",
    "InFileDataSetCache", "InMemoryDataSetCache", "InequalityHandling", "InfiniteColumnCondition", "InputSplit", "InputStreamInputSplit",
    "IntWritable", "IntegerColumnCondition", "IntegerColumnsMathOpTransform", "IntegerMathOpTransform", "IntegerMetaData",
    "IntegerToCategoricalTransform", "IntegerToOneHotTransform", "InvalidValueColumnCondition", "IrisDataSetIterator",
    "IteratorDataSetIterator", "IteratorMultiDataSetIterator", "Java2DNativeImageLoader", "JavaRandom", "Join",
    "JointMultiDataSetIterator", "JointParallelDataSetIterator", "KFoldIterator", "LFWDataSetIterator", "LabelLastTimeStepPreProcessor",
    "LibSvmRecordReader", "LineRecordReader", "ListDataSetIterator", "ListStringRecordReader", "ListStringSplit", "LocalTransformExecutor",
    "Log2Normalizer", "LongColumnCondition", "LongColumnsMathOpTransform", "LongMathOpTransform", "LongMetaData", "LongWritable",
    "MapAllStringsExceptListTransform", "MathFunction", "MathOp", "MinMaxNormalizer", "MiniBatchFileDataSetIterator", "MnistDataFetcher",
    "MnistDataSetIterator", "MultiDataNormalization", "MultiDataSet", "MultiDataSetIterator", "MultiDataSetIteratorAdapter",
    "MultiDataSetIteratorSplitter", "MultiDataSetLoaderIterator", "MultiDataSetPreProcessor", "MultiDataSetWrapperIterator",
    "MultiDataSets", "MultiImageTransform", "MultiNormalizerHybrid", "MultiNormalizerMinMaxScaler", "MultiNormalizerStandardize",
    "MultipleEpochsIterator", "NDArrayMetaData", "NDArrayWritable", "NaNColumnCondition", "NativeImageLoader", "NoMoreDataError",
    "Normalize", "Normalizer", "NormalizerMinMaxScaler", "NormalizerStandardize", "NullWritable", "NullWritableColumnCondition",
    "NumberOfRecordsPartitioner", "NumberedFileInputSplit", "NumericalColumnComparator", "NumpyDataSetIterator",
    "NumpyMultiDataSetIterator", "ObjectDetectionRecordReader", "ParentPathLabelGenerator", "PathFilter", "PathLabelGenerator",
    "PatternPathLabelGenerator", "PermuteDataSetPreProcessor", "PipelineImageTransform", "RGBtoGrayscaleDataSetPreProcessor",
    "RandomCropTransform", "RandomDataSetIterator", "RandomMultiDataSetIterator", "RandomPathFilter", "ReconstructionDataSetIterator",
    "Record", "RecordCondition", "RecordMetaData", "RecordMetaDataImageURI", "RecordMetaDataLine", "RecordReader",
    "RecordReaderDataSetIterator", "RecordReaderMultiDataSetIterator", "RecordWriter", "ReduceOp", "ReduceSequenceTransform", "Reducer",
    "RegexLineRecordReader", "RegexSequenceRecordReader", "RemoveAllColumnsExceptForTransform", "RemoveColumnsTransform",
    "RemoveWhiteSpaceTransform", "RenameColumnsTransform", "ReorderColumnsTransform", "ReplaceEmptyIntegerWithValueTransform",
    "ReplaceEmptyStringTransform", "ReplaceInvalidWithIntegerTransform", "ReplaceStringTransform", "ResizeImageTransform",
    "RotateImageTransform", "SVMLightRecordReader", "SamplingDataSetIterator", "ScaleImageTransform", "Schema",
    "ScrollableDataSetIterator", "ScrollableMultiDataSetIterator", "SequenceComparator", "SequenceConditionMode",
    "SequenceDifferenceTransform", "SequenceLengthCondition", "SequenceMovingWindowReduceTransform", "SequenceOffsetTransform",
    "SequenceRecordReader", "SequenceRecordReaderDataSetIterator", "SequenceSchema", "SequenceSplit", "SequenceSplitTimeSeparation",
    "SequenceTrimToLengthTransform", "SequenceTrimTransform", "ShowImageTransform", "SingletonDataSetIterator",
    "SingletonMultiDataSetIterator", "SplitMaxLengthSequence", "SplitTestAndTrain", "StandardScaler", "StandardizeNormalizer",
    "StringColumnCondition", "StringComparator", "StringMapTransform", "StringMetaData", "StringRegexColumnCondition", "StringSplit",
    "StringToCategoricalTransform", "StringToTimeTransform", "SubtractMeanNormalizer", "SvhnLabelProvider", "TestDataSetIterator",
    "TestMultiDataSetIterator", "Text", "TimeColumnCondition", "TimeMathOpTransform", "TimeMetaData", "TinyImageNetDataSetIterator",
    "TinyImageNetFetcher", "Transform", "TransformProcess", "TransformProcessRecordReader", "TransformProcessSequenceRecordReader",
    "TransformSplit", "TrivialColumnCondition", "UciSequenceDataFetcher", "UciSequenceDataSetIterator",
    "UnderSamplingByMaskingPreProcessor", "VGG16ImagePreProcessor", "Values", "ViewIterator", "VocLabelProvider", "WarpImageTransform",
    "WorkspacesShieldDataSetIterator", "Writable", "WritableType", "data_folder",
]
