"""Data sets, iterators, readers, normalizers and preprocessors.

::

    reader = CSVRecordReader(skip_num_lines=1).initialize("iris.csv")
    train = RecordReaderDataSetIterator(reader, 32, label_index=-1, label_names=["setosa", "versicolor", "virginica"])
    normalizer = NormalizerStandardize()
    normalizer.fit(train)
    train.set_pre_processor(normalizer)
"""
from .async_iterator import AsyncDataSetIterator, AsyncMultiDataSetIterator
from .block_iterators import DummyBlockDataSetIterator, DummyBlockMultiDataSetIterator
from .caching_iterator import CachingDataSetIterator, DataSetCache, InFileAndMemoryDataSetCache, InFileDataSetCache, InMemoryDataSetCache
from .cifar_iterator import Cifar10DataSetIterator
from .csv_reader import CSVRecordReader, FileSplit
from .dataset import DataSet, SplitTestAndTrain
from .fetcher import DownloadError, data_folder
from .file_iterators import FileDataSetIterator, FileMultiDataSetIterator
from .image_scalers import ImageMultiPreProcessingScaler, ImagePreProcessingScaler, VGG16ImagePreProcessor
from .image_transforms import CropImageTransform, FlipImageTransform, ImageTransform, PipelineImageTransform
from .iris_iterator import IrisDataSetIterator
from .iterator import BatchIterator, DataSetIterator, DataSetPreProcessor, MultiDataSetIterator, NoMoreDataError
from .iterator_splitter import (
    DataSetIteratorSplitter,
    MultiDataSetIteratorSplitter,
    ScrollableDataSetIterator,
    ScrollableMultiDataSetIterator,
)
from .java_random import JavaRandom
from .labelled_examples import DataSetType
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
from .loader_iterators import DataSetLoaderIterator, FileSplitDataSetIterator, MultiDataSetLoaderIterator
from .mini_batch_files import ExistingMiniBatchDataSetIterator, MiniBatchFileDataSetIterator
from .mnist_iterators import EmnistDataSetIterator, EMnistSet, MnistDataSetIterator
from .multi_dataset import MultiDataSet
from .multi_iterators import JointMultiDataSetIterator, MultiDataSetIteratorAdapter, MultiDataSetWrapperIterator, TestMultiDataSetIterator
from .multi_normalizers import MultiNormalizerHybrid, MultiNormalizerMinMaxScaler, MultiNormalizerStandardize
from .normalizers import NormalizerMinMaxScaler, NormalizerStandardize
from .parallel_iterators import FileSplitParallelDataSetIterator, InequalityHandling, JointParallelDataSetIterator
from .photo_iterators import LFWDataSetIterator, TinyImageNetDataSetIterator
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
from .record_multi_iterator import RecordReaderMultiDataSetIterator
from .sequence_iterators import CSVSequenceRecordReader, SequenceRecordReaderDataSetIterator
from .series_alignment import AlignmentMode
from .standard_scaler import StandardScaler
from .uci_iterator import UciSequenceDataSetIterator
from .wrapper_iterators import (
    AsyncShieldDataSetIterator,
    AsyncShieldMultiDataSetIterator,
    BenchmarkDataSetIterator,
    BenchmarkMultiDataSetIterator,
    EarlyTerminationDataSetIterator,
    EarlyTerminationMultiDataSetIterator,
    MultipleEpochsIterator,
    ReconstructionDataSetIterator,
    WorkspacesShieldDataSetIterator,
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
    "CachingDataSetIterator",
    "Cifar10DataSetIterator",
    "CompositeDataSetPreProcessor",
    "CompositeMultiDataSetPreProcessor",
    "CropAndResizeDataSetPreProcessor",
    "CropImageTransform",
    "DataSet",
    "DataSetCache",
    "DataSetIterator",
    "DataSetIteratorSplitter",
    "DataSetLoaderIterator",
    "DataSetPreProcessor",
    "DataSetType",
    "DoublesDataSetIterator",
    "DownloadError",
    "DummyBlockDataSetIterator",
    "DummyBlockMultiDataSetIterator",
    "EMnistSet",
    "EarlyTerminationDataSetIterator",
    "EarlyTerminationMultiDataSetIterator",
    "EmnistDataSetIterator",
    "ExistingDataSetIterator",
    "ExistingMiniBatchDataSetIterator",
    "ExistingMultiDataSetIterator",
    "FileDataSetIterator",
    "FileMultiDataSetIterator",
    "FileSplit",
    "FileSplitDataSetIterator",
    "FileSplitParallelDataSetIterator",
    "FlipImageTransform",
    "FloatsDataSetIterator",
    "INDArrayDataSetIterator",
    "ImageFlatteningDataSetPreProcessor",
    "ImageMultiPreProcessingScaler",
    "ImagePreProcessingScaler",
    "ImageTransform",
    "InFileAndMemoryDataSetCache",
    "InFileDataSetCache",
    "InMemoryDataSetCache",
    "InequalityHandling",
    "IrisDataSetIterator",
    "IteratorDataSetIterator",
    "IteratorMultiDataSetIterator",
    "JavaRandom",
    "JointMultiDataSetIterator",
    "JointParallelDataSetIterator",
    "KFoldIterator",
    "LFWDataSetIterator",
    "LabelLastTimeStepPreProcessor",
    "ListDataSetIterator",
    "MiniBatchFileDataSetIterator",
    "MnistDataSetIterator",
    "MultiDataSet",
    "MultiDataSetIterator",
    "MultiDataSetIteratorAdapter",
    "MultiDataSetIteratorSplitter",
    "MultiDataSetLoaderIterator",
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
    "PipelineImageTransform",
    "RGBtoGrayscaleDataSetPreProcessor",
    "RandomDataSetIterator",
    "RandomMultiDataSetIterator",
    "ReconstructionDataSetIterator",
    "RecordReaderDataSetIterator",
    "RecordReaderMultiDataSetIterator",
    "SamplingDataSetIterator",
    "ScrollableDataSetIterator",
    "ScrollableMultiDataSetIterator",
    "SequenceRecordReaderDataSetIterator",
    "SingletonDataSetIterator",
    "SingletonMultiDataSetIterator",
    "SplitTestAndTrain",
    "StandardScaler",
    "TestDataSetIterator",
    "TestMultiDataSetIterator",
    "TinyImageNetDataSetIterator",
    "UciSequenceDataSetIterator",
    "UnderSamplingByMaskingPreProcessor",
    "VGG16ImagePreProcessor",
    "Values",
    "ViewIterator",
    "WorkspacesShieldDataSetIterator",
    "data_folder",
]
