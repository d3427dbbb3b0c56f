"""Names of DL4J's world that are not names of dl4py, and what is written in their place."""
from __future__ import annotations

_TEXTS = """nlp Word2Vec StaticWord2Vec ParagraphVectors SequenceVectors Glove WordVectors WordVectorSerializer VocabWord VocabCache
    VocabConstructor AbstractCache InMemoryLookupTable InMemoryLookupCache WeightLookupTable VectorsConfiguration SkipGram CBOW
    TokenizerFactory DefaultTokenizerFactory NGramTokenizerFactory BertWordPieceTokenizerFactory CommonPreprocessor Tokenizer
    SentenceIterator BasicLineIterator LineSentenceIterator CollectionSentenceIterator FileSentenceIterator SentenceTransformer
    AbstractSequenceIterator LabelledDocument LabelsSource LabelAwareIterator FileLabelAwareIterator LabelAwareSentenceIterator
    LabeledSentenceProvider FileLabeledSentenceProvider CollectionLabeledSentenceProvider CollectionLabeledPairSentenceProvider
    CnnSentenceDataSetIterator BertIterator BagOfWordsVectorizer TfidfVectorizer"""

_PLAYERS = """rl4j MDP ALEMDP GymEnv CartpoleNative Encodable ActionSpace DiscreteSpace ObservationSpace HistoryProcessor QLearning
    QLearningDiscreteDense QLearningDiscreteConv QLearningConfiguration A3CDiscrete A3CDiscreteDense A3CDiscreteConv DQN DQNPolicy
    DQNFactoryStdDense DQNFactoryStdConv DQNDenseNetworkConfiguration ACPolicy ActorCriticFactorySeparateStdDense
    ActorCriticFactoryCompGraphStdConv"""

#: Readers of DataVec that are not here.
_UNREAD = """JacksonLineRecordReader JacksonRecordReader CodecRecordReader NativeCodecRecordReader WavFileRecordReader
    NativeAudioRecordReader ExcelRecordReader JDBCRecordReader MatlabRecordReader GeoRecordReader ArrowRecordReader MapFileRecordReader"""

_SHARED_TRAINING = """VoidConfiguration MeshBuildMode ThresholdAlgorithm AdaptiveThresholdAlgorithm FixedThresholdAlgorithm
    TargetSparsityThresholdAlgorithm ResidualPostProcessor ResidualClippingPostProcessor EncodedGradientsAccumulator EncodingHandler
    SymmetricTrainer SymmetricTrainerContext"""

_ON_SPARK = """StringToWritablesFunction WritablesToStringFunction RecordReaderFunction SequenceRecordReaderFunction DataVecDataSetFunction
    RecordReaderFileBatchLoader JavaSparkContext JavaRDD"""

_EXCEPTIONS = """DL4JException DL4JInvalidConfigException DL4JInvalidInputException ND4JException ND4JIllegalStateException
    ND4JIllegalArgumentException ND4JOpProfilerException ND4JUnknownDataTypeException InvalidInputTypeException
    InvalidKerasConfigurationException UnsupportedKerasConfigurationException"""

ELSEWHERE: dict[str, str] = {name.lower(): text for names, text in (
    ("NDArray", "arrays are NumPy's; INDArray has DL4J's methods"),
    ("zoo", "the zoo is dl4py.networks.zoo; its classes are here, too: dl4py.ResNet50(num_classes=10).init()"),
    (_TEXTS, "there is no text processing: train vectors with gensim, and give them to an EmbeddingLayer (EmbeddingInitializer)"),
    (_PLAYERS, "there is no reinforcement learning: networks of this package work as policies in gymnasium's loops"),
    ("ui", "the training page is UIServer: UIServer.get_instance().attach(storage), or `dl4py ui FILE`"),
    ("TFImport TFGraphMapper TensorflowFrameworkImporter TFImportOverride TFOpImportFilter GraphRunner NativeGraphExecutioner",
     'SameDiff.import_frozen_tf(path) reads frozen graphs of TensorFlow; onnx_converter(name, domain="tensorflow") is for own operators'),
    ("OnnxImport", "SameDiff.import_onnx(path) reads ONNX models"),
    ("KerasLayerUtils KerasLambdaLayer", "register_keras_layer(name, function) of dl4py.networks.keras says what a layer of Keras becomes"),
    ("datavec", "readers, schemas and transforms of records are in dl4py.samediff.data"),
    ("ClassPathResource DownloaderUtility Resources DL4JResources ResourceType LocalFileSourceFactory",
     "give the path of the file: open(path), FileSplit(path)"),
    ("Downloader ArchiveUtils", "urllib.request.urlretrieve and shutil.unpack_archive fetch and unpack files"),
    ("MemoryWorkspace WorkspaceConfiguration AllocationPolicy LearningPolicy ResetPolicy MirroringPolicy SpillPolicy DebugMode ArrayType",
     "there are no workspaces: leave it out"),
    ("MemoryReport LayerMemoryReport NetworkMemoryReport", "memory_info(batch size, input type) of networks counts it: leave it out"),
    ("CudaEnvironment AffinityManager", 'net.to("cuda") and dl4py.samediff.device choose the GPU: leave it out'),
    ("ProfilerConfig OpProfiler", "net.profile(x, y), sd.profile(...) and `dl4py profile` show where time goes"),
    ("DataTypeUtil", "Nd4j.setDefaultDataTypes(DataType.DOUBLE, DataType.DOUBLE) chooses the type"),
    ("INDArrayIndex", "NDArrayIndex.all(), .point(i) and .interval(a, b) are what is given to get and put"),
    ("IMax IMin", "ArgMax and ArgMin of dl4py.samediff.nd4j.op_classes are their new names; Nd4j.argMax(array, dimension) is shorter"),
    ("IAMax IAMin", "ArgAmax and ArgAmin of dl4py.samediff.nd4j.op_classes are their new names"),
    ("CustomOp", "DynamicCustomOp.builder(name) is an op by its name; @user_op makes one"),
    ("SameDiffOp", "sd.ops() lists ops with their inputs and outputs"),
    ("GraphTransformUtil SubGraph SubGraphPredicate SubGraphProcessor OpPredicate",
     "build the new part on sd.get_variable(name); sd.rename_variable gives it the old name where others ask for that"),
    ("IterationListener J7StatsListener", "derive from BaseTrainingListener; StatsListener is for all versions"),
    ("Model DataSetLoader ParamInitializer AbstractStorage Partitioner Loader Source", "an interface of Java's, for types: leave it out"),
    ("DefaultGradient", "gradients of layers follow from define_layer; net.gradient() is the network's"),
    (_UNREAD, "there is no reader for audio, video, spreadsheets, databases and files of other kinds: arrays and data frames go into fit, "
              "records into CollectionRecordReader"),
    ("MapFileRecordWriter MapFileSequenceRecordWriter", "CSVRecordWriter writes records"),
    ("ImageWritable BaseImageTransform", "derive from ImageTransform; pictures are arrays"),
    ("SvhnDataFetcher", "ObjectDetectionRecordReader with SvhnLabelProvider reads the pictures of a folder"),
    ("DataQualityAnalysis AnalyzeQuality", "FilterInvalidValues and AnalyzeLocal.analyze look at records"),
    (_SHARED_TRAINING, "there is no parameter server: ParallelWrapper on one machine, dl4py.spark on many"),
    (_ON_SPARK, "what runs on Spark is in dl4py.spark; records of files are read by pyspark itself, spark.read.csv(path)"),
    (_EXCEPTIONS, "errors are those of dl4py.samediff.errors: DL4PyError and its kin, ConfigurationError, ShapeError, DataTypeError …"),
    ("IEvaluation", "BaseEvaluation is its name here"), ("Triple Quad", "tuples are Python's: (a, b, c)"),
    ("J7FileStatsStorage", "FileStatsStorage is for all versions"), ("ObjectMapper", "Python's json module, or to_json of configurations"),
    ("ArrayUtil MathUtils FeatureUtil", "NumPy does that: np.argmax, np.prod, np.eye(classes)[numbers] …"),
    ("Preconditions", "if and raise, or assert"), ("Streams Arrays Floats Doubles Ints", "lists and comprehensions are Python's"),
    ("Logger LoggerFactory", "Python's logging"), ("JCommander", "Python's argparse"),
    ("BarnesHutTsne Tsne", "sklearn.manifold.TSNE does it; the training page shows it of activations"),
    ("KMeansClustering VPTree KDTree NearestNeighbors", "scikit-learn has clusters and neighbours"),
    ("OptimizationConfiguration LocalOptimizationRunner RandomSearchGenerator GridSearchCandidateGenerator",
     "Optuna searches options, or GridSearchCV of scikit-learn over DL4PyClassifier"),
) for name in names.split()}
