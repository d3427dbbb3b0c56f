"""Data sets, iterators, readers, normalizers and preprocessors.

::

    reader = CSVRecordReader(skip_num_lines=1).initialize("iris.csv")
    train = RecordReaderDataSetIterator(reader, 32, label_index=-1, label_names=["setosa", "versicolor", "virginica"])
    normalizer = NormalizerStandardize()
    normalizer.fit(train)
    train.set_pre_processor(normalizer)
"""
from .iterators.async_iterator import AsyncDataSetIterator, AsyncMultiDataSetIterator
from .iterators.block_iterators import DummyBlockDataSetIterator, DummyBlockMultiDataSetIterator
from .iterators.caching_iterator import (
    CachingDataSetIterator,
    DataSetCache,
    InFileAndMemoryDataSetCache,
    InFileDataSetCache,
    InMemoryDataSetCache,
)
from .iterators.file_iterators import FileDataSetIterator, FileMultiDataSetIterator
from .iterators.file_split import FileSplit
from .iterators.iterator import (
    BatchIterator,
    DataSetIterator,
    DataSetPreProcessor,
    MultiDataSetIterator,
    MultiDataSetPreProcessor,
    NoMoreDataError,
)
from .iterators.iterator_splitter import (
    DataSetIteratorSplitter,
    MultiDataSetIteratorSplitter,
    ScrollableDataSetIterator,
    ScrollableMultiDataSetIterator,
)
from .iterators.list_iterators import (
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
from .iterators.loader_iterators import DataSetLoaderIterator, FileSplitDataSetIterator, MultiDataSetLoaderIterator
from .iterators.mini_batch_files import ExistingMiniBatchDataSetIterator, MiniBatchFileDataSetIterator
from .iterators.multi_iterators import (
    JointMultiDataSetIterator,
    MultiDataSetIteratorAdapter,
    MultiDataSetWrapperIterator,
    TestMultiDataSetIterator,
)
from .iterators.parallel_iterators import FileSplitParallelDataSetIterator, InequalityHandling, JointParallelDataSetIterator
from .iterators.random_iterators import KFoldIterator, RandomDataSetIterator, RandomMultiDataSetIterator, SamplingDataSetIterator, Values
from .iterators.rebatching import IteratorDataSetIterator, IteratorMultiDataSetIterator
from .iterators.wrapper_iterators import (
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
from .normalizers.image_scalers import ImageMultiPreProcessingScaler, ImagePreProcessingScaler, VGG16ImagePreProcessor
from .normalizers.image_transforms import CropImageTransform, FlipImageTransform, ImageTransform, PipelineImageTransform
from .normalizers.multi_normalizers import MultiNormalizerHybrid, MultiNormalizerMinMaxScaler, MultiNormalizerStandardize
from .normalizers.normalizers import NormalizerMinMaxScaler, NormalizerStandardize
from .normalizers.preprocessors import (
    CompositeDataSetPreProcessor,
    CompositeMultiDataSetPreProcessor,
    CropAndResizeDataSetPreProcessor,
    ImageFlatteningDataSetPreProcessor,
    LabelLastTimeStepPreProcessor,
    PermuteDataSetPreProcessor,
    RGBtoGrayscaleDataSetPreProcessor,
    UnderSamplingByMaskingPreProcessor,
)
from .normalizers.standard_scaler import StandardScaler
from .public.cifar_iterator import Cifar10DataSetIterator
from .public.fetcher import DownloadError, data_folder
from .public.iris_iterator import IrisDataSetIterator
from .public.labelled_examples import DataSetType
from .public.mnist_iterators import EmnistDataSetIterator, EMnistSet, MnistDataSetIterator
from .public.photo_iterators import LFWDataSetIterator, TinyImageNetDataSetIterator
from .public.uci_iterator import UciSequenceDataSetIterator
from .readers.csv_reader import CSVRecordReader
from .readers.record_iterators import RecordReaderDataSetIterator
from .readers.record_meta_data import RecordMetaDataLine
from .readers.record_multi_iterator import RecordReaderMultiDataSetIterator
from .readers.sequence_iterators import CSVSequenceRecordReader, SequenceRecordReaderDataSetIterator
from .readers.series_alignment import AlignmentMode
from .sets.dataset import DataSet, SplitTestAndTrain
from .sets.java_random import JavaRandom
from .sets.multi_dataset import MultiDataSet, MultiDataSets

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
    "MultiDataSetPreProcessor",
    "MultiDataSetWrapperIterator",
    "MultiDataSets",
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
    "RecordMetaDataLine",
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
