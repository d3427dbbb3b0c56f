"""Data sets, iterators, readers, normalizers and preprocessors.

::

    reader = CSVRecordReader(skip_num_lines=1).initialize("iris.csv")
    train = RecordReaderDataSetIterator(reader, 32, label_index=-1, label_names=["setosa", "versicolor", "virginica"])
    normalizer = NormalizerStandardize()
    normalizer.fit(train)
    train.set_pre_processor(normalizer)
"""
from .async_iterator import AsyncDataSetIterator, AsyncMultiDataSetIterator
from .csv_reader import CSVRecordReader, FileSplit
from .dataset import DataSet, SplitTestAndTrain
from .file_iterators import FileDataSetIterator, FileMultiDataSetIterator
from .image_scalers import ImageMultiPreProcessingScaler, ImagePreProcessingScaler, VGG16ImagePreProcessor
from .iterator import BatchIterator, DataSetIterator, DataSetPreProcessor, MultiDataSetIterator, NoMoreDataError
from .iterator_splitter import DataSetIteratorSplitter
from .java_random import JavaRandom
from .list_iterators import (
    DoublesDataSetIterator,
    ExistingDataSetIterator,
    ExistingMultiDataSetIterator,
    FloatsDataSetIterator,
    INDArrayDataSetIterator,
    ListDataSetIterator,
    NumpyDataSetIterator,
    NumpyMultiDataSetIterator,
    SingletonDataSetIterator,
    SingletonMultiDataSetIterator,
    TestDataSetIterator,
    ViewIterator,
)
from .multi_dataset import MultiDataSet
from .multi_iterators import JointMultiDataSetIterator, MultiDataSetIteratorAdapter, MultiDataSetWrapperIterator
from .multi_normalizers import MultiNormalizerHybrid, MultiNormalizerMinMaxScaler, MultiNormalizerStandardize
from .normalizers import NormalizerMinMaxScaler, NormalizerStandardize
from .preprocessors import (
    CompositeDataSetPreProcessor,
    CompositeMultiDataSetPreProcessor,
    CropAndResizeDataSetPreProcessor,
    ImageFlatteningDataSetPreProcessor,
    LabelLastTimeStepPreProcessor,
    PermuteDataSetPreProcessor,
    RGBtoGrayscaleDataSetPreProcessor,
    UnderSamplingByMaskingPreProcessor,
)
from .random_iterators import (
    KFoldIterator,
    RandomDataSetIterator,
    RandomMultiDataSetIterator,
    SamplingDataSetIterator,
    Values,
)
from .rebatching import IteratorDataSetIterator, IteratorMultiDataSetIterator
from .record_iterators import RecordReaderDataSetIterator
from .sequence_iterators import AlignmentMode, CSVSequenceRecordReader, SequenceRecordReaderDataSetIterator
from .wrapper_iterators import (
    AsyncShieldDataSetIterator,
    AsyncShieldMultiDataSetIterator,
    BenchmarkDataSetIterator,
    BenchmarkMultiDataSetIterator,
    EarlyTerminationDataSetIterator,
    EarlyTerminationMultiDataSetIterator,
    MultipleEpochsIterator,
    ReconstructionDataSetIterator,
)

__all__ = [
    "AlignmentMode",
    "AsyncDataSetIterator",
    "AsyncMultiDataSetIterator",
    "AsyncShieldDataSetIterator",
    "AsyncShieldMultiDataSetIterator",
    "BatchIterator",
    "BenchmarkDataSetIterator",
    "BenchmarkMultiDataSetIterator",
    "CSVRecordReader",
    "CSVSequenceRecordReader",
    "CompositeDataSetPreProcessor",
    "CompositeMultiDataSetPreProcessor",
    "CropAndResizeDataSetPreProcessor",
    "DataSet",
    "DataSetIterator",
    "DataSetIteratorSplitter",
    "DataSetPreProcessor",
    "DoublesDataSetIterator",
    "EarlyTerminationDataSetIterator",
    "EarlyTerminationMultiDataSetIterator",
    "ExistingDataSetIterator",
    "ExistingMultiDataSetIterator",
    "FileDataSetIterator",
    "FileMultiDataSetIterator",
    "FileSplit",
    "FloatsDataSetIterator",
    "INDArrayDataSetIterator",
    "ImageFlatteningDataSetPreProcessor",
    "ImageMultiPreProcessingScaler",
    "ImagePreProcessingScaler",
    "IteratorDataSetIterator",
    "IteratorMultiDataSetIterator",
    "JavaRandom",
    "JointMultiDataSetIterator",
    "KFoldIterator",
    "LabelLastTimeStepPreProcessor",
    "ListDataSetIterator",
    "MultiDataSet",
    "MultiDataSetIterator",
    "MultiDataSetIteratorAdapter",
    "MultiDataSetWrapperIterator",
    "MultiNormalizerHybrid",
    "MultiNormalizerMinMaxScaler",
    "MultiNormalizerStandardize",
    "MultipleEpochsIterator",
    "NoMoreDataError",
    "NormalizerMinMaxScaler",
    "NormalizerStandardize",
    "NumpyDataSetIterator",
    "NumpyMultiDataSetIterator",
    "PermuteDataSetPreProcessor",
    "RGBtoGrayscaleDataSetPreProcessor",
    "RandomDataSetIterator",
    "RandomMultiDataSetIterator",
    "ReconstructionDataSetIterator",
    "RecordReaderDataSetIterator",
    "SamplingDataSetIterator",
    "SequenceRecordReaderDataSetIterator",
    "SingletonDataSetIterator",
    "SingletonMultiDataSetIterator",
    "SplitTestAndTrain",
    "TestDataSetIterator",
    "UnderSamplingByMaskingPreProcessor",
    "VGG16ImagePreProcessor",
    "Values",
    "ViewIterator",
]
