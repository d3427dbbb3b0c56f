"""Words of Keras, PyTorch and scikit-learn: what is called otherwise here, and what is written in its place."""
from __future__ import annotations

from collections.abc import Mapping

from ..javanames import squash


def _each(*rows: tuple[str, str]) -> dict[str, str]:
    return {squash(name): text for names, text in rows for name in names.split()}


_WEIGHTS = "param_table() has the arrays of all weights by name, get_param and set_param one of them"
_LOSS_STANDS = "the loss stands in the output layer: OutputLayer(loss_function=\"mcxent\")"
_UPDATER_STANDS = "the updater stands in the configuration: NeuralNetConfiguration.Builder().updater(Adam(1e-3))"
_STEP = "compute_gradient_and_score() and gradient() are for loops of one's own, fit(x, y) is one whole step"
_ALL_LAYERS = "layers lists the layers, net[0] and net[\"name\"] are some of them"

#: Methods and attributes of models.
NETWORK = _each(
    ("compile", f"{_UPDATER_STANDS}, {_LOSS_STANDS}"),
    ("optimizer optimizers", f"{_UPDATER_STANDS}; set_learning_rate(rate) changes its rate"),
    ("loss criterion loss_fn", f"{_LOSS_STANDS}; score(x, y) is its value"),
    ("metrics metrics_names", "evaluate(x, y) gives an Evaluation: accuracy(), f1(), stats() …"),
    ("get_weights set_weights weights trainable_weights trainable_variables variables coefs_ intercepts_", _WEIGHTS),
    ("parameters named_parameters", _WEIGHTS),
    ("state_dict load_state_dict", "to_state_dict(net) and set_state_dict(net, state) of dl4py.networks have PyTorch's names and order"),
    ("save_weights load_weights", "save(path) and load(path) keep the whole network, to_state_dict(net, path=...) weights alone"),
    ("count_params", "num_params() is its name here"),
    ("train_on_batch", "fit(x, y) is one step on a batch"), ("test_on_batch", "score(x, y) is the loss of a batch"),
    ("predict_on_batch forward transform", "output(x), or net(x), is what the network computes"),
    ("predict_proba predict_log_proba decision_function", "output(x) are the probabilities, predict(x) the classes"),
    ("predict_classes", "predict(x) are the classes"),
    ("fit_generator", "fit takes generators and loaders"), ("evaluate_generator", "evaluate takes generators and loaders"),
    ("predict_generator", "output and predict take generators and loaders"),
    ("fit_transform partial_fit get_params __sklearn_tags__",
     "DL4PyClassifier, DL4PyRegressor and DL4PyTransformer are the estimators of scikit-learn"),
    ("input_shape output_shape inputs outputs", "get_configuration() has input types and sizes, summary() shows them"),
    ("get_config to_json", "get_configuration().to_json() is the configuration as text"),
    ("add pop", "layers are listed when the configuration is built; TransferLearning adds and removes them later"),
    ("train eval training", "fit trains, and output(x) does not: there is no mode to set; output(x, True) is the output as in training"),
    ("zero_grad backward step", _STEP), ("requires_grad_ trainable freeze", "TransferLearning and FrozenLayer keep layers as they are"),
    ("cuda cpu half float double bfloat16",
     "to(\"cuda\") and to(\"cpu\") choose the device, data_type(DataType.HALF) of the builder the type"),
    ("children modules named_modules named_children", _ALL_LAYERS),
)

#: The same of layers of a model.
LAYER = _each(
    ("get_weights set_weights weights trainable_weights state_dict load_state_dict parameters weight bias kernel",
     "param_table() has its arrays by name, which may be written"),
    ("trainable requires_grad_", "TransferLearning and FrozenLayer keep layers as they are"),
    ("output_shape input_shape output", "summary() of the network shows sizes, feed_forward(x) gives what each layer computes"),
    ("count_params", "num_params() is its name here"),
)

_VALUE = "eval() is the value, sd.output(placeholders, name) that of given inputs"

#: Methods and attributes of tensors.
VARIABLE = _each(
    ("numpy item tolist data detach cpu value", _VALUE),
    ("backward grad requires_grad requires_grad_ retain_grad", "sd.calculate_gradients(placeholders, *names) computes gradients"),
    ("view", "reshape"), ("unsqueeze", "expand_dims"), ("float double half long int to type", "cast_to"),
    ("assign_add assign_sub copy_", "variable.set_array(array) gives it another value; graphs have no ops that change it"),
)

#: Options of layers and optimizers; those of one word are taken where there is such an option here.
OPTIONS = _each(
    ("filters out_features out_channels hidden_size", "n_out"), ("in_features in_channels input_size input_dim input_length", "n_in"),
    ("input_shape batch_input_shape", "n_in is the size of the input, set_input_type(InputType...) of the builder that of pictures"),
    ("strides", "stride"), ("pool_size", "kernel_size"), ("dilation_rate", "dilation"), ("use_bias bias", "has_bias"),
    ("kernel_initializer", "weight_init"), ("bias_initializer", "bias_init"), ("recurrent_initializer", "weight_init_recurrent"),
    ("recurrent_activation", "gate_activation"),
    ("kernel_regularizer activity_regularizer", "l1, l2 and weight_decay regularize"),
    ("kernel_constraint bias_constraint", "constrain_weights and constrain_bias take constraints"),
    ("return_sequences", "recurrent layers give all steps; LastTimeStep(layer) gives the last one"),
    ("lr", "learning_rate"), ("eps", "epsilon"), ("betas", "beta1 and beta2 are two options"),
    ("momentum nesterov", "Nesterovs(learning_rate, momentum) is gradient descent with momentum"),
    ("decay", "a schedule in place of the rate: Adam(ExponentialSchedule(\"iteration\", 1e-3, 0.99))"),
    ("weight_decay", "weight_decay(0.01) is an option of the builder and of layers"),
    ("clipnorm clipvalue", "gradient_normalization and gradient_normalization_threshold of the builder clip gradients"),
)

#: The same functions by other names.
ACTIVATIONS = _each(("silu", "SWISH"), ("linear", "IDENTITY"))
LOSSES = _each(
    ("categorical_crossentropy cross_entropy", "MCXENT"), ("binary_crossentropy bce", "XENT"),
    ("sparse_categorical_crossentropy", "SPARSE_MCXENT"), ("mean_squared_error", "MSE"), ("mae", "MEAN_ABSOLUTE_ERROR"),
    ("mape", "MEAN_ABSOLUTE_PERCENTAGE_ERROR"), ("msle", "MEAN_SQUARED_LOGARITHMIC_ERROR"), ("nll nll_loss", "NEGATIVELOGLIKELIHOOD"),
    ("kld", "KL_DIVERGENCE"), ("cosine_similarity", "COSINE_PROXIMITY"))
WEIGHT_INITS = _each(
    ("glorot_normal xavier_normal", "XAVIER"), ("glorot_uniform", "XAVIER_UNIFORM"), ("he_normal kaiming_normal", "RELU"),
    ("he_uniform kaiming_uniform", "RELU_UNIFORM"), ("zeros", "ZERO"))

_CALLBACKS = "class Mine(BaseTrainingListener) with on_epoch_end(self, model), given to fit(..., callbacks=[Mine()])"
_SERIAL = "MultiLayerNetwork.load, ComputationGraph.load and SameDiff.load read files, Keras' too; net.save(path) writes them"
_OWN_MODULE = "NeuralNetConfiguration.Builder().list(layers...).build() lists layers; from_torch(module, example) takes modules of PyTorch"

#: Names of packages.
NAMES = _each(
    ("Sequential Module nn", _OWN_MODULE), ("Functional Input", "graph_builder() makes networks with several inputs and outputs"),
    ("Dense Linear", "DenseLayer(n_out=...) is its name here"), ("Conv1d", "Convolution1DLayer is its name here"),
    ("Conv2d", "the layer is ConvolutionLayer(n_out=..., kernel_size=(3, 3))"), ("Conv3d", "the layer is Convolution3D"),
    ("Conv2dTranspose ConvTranspose2d", "Deconvolution2D is its name here"), ("DepthwiseConv2d", "the layer is DepthwiseConvolution2D"),
    ("SeparableConv2d", "SeparableConvolution2D is its name here"), ("ZeroPadding2d", "ZeroPaddingLayer is its name here"),
    ("GlobalMaxPooling2d GlobalAveragePooling2d AdaptiveAvgPool2d", "GlobalPoolingLayer(pooling_type=\"avg\") is its name here"),
    ("GRU GRUCell", "recurrent layers are LSTM, GravesLSTM and SimpleRnn; docs/plug-ins.md writes others"),
    ("RNN", "SimpleRnn is its name here"), ("Concatenate Add Multiply", "vertices of graphs: MergeVertex(), ElementWiseVertex(\"Add\")"),
    ("MaxPool2d MaxPooling2D AveragePooling2D AvgPool2d", "SubsamplingLayer(pooling_type=\"max\") is its name here"),
    ("Flatten Reshape", "set_input_type(InputType...) of the builder puts the layers between that change shapes"),
    ("BatchNorm1d BatchNorm2d", "BatchNormalization is its name here"), ("Embedding", "EmbeddingLayer, EmbeddingSequenceLayer"),
    ("EarlyStopping", "EarlyStoppingConfiguration.Builder() and EarlyStoppingTrainer; early_stopping=True of DL4PyClassifier"),
    ("ModelCheckpoint", "CheckpointListener is its name here"), ("TensorBoard SummaryWriter", "TensorBoardRouter is its name here"),
    ("ReduceLROnPlateau LearningRateScheduler StepLR ExponentialLR",
     "a schedule in place of the rate: Adam(StepSchedule(\"epoch\", 1e-3, 0.5, 10))"),
    ("Callback LambdaCallback History CSVLogger", _CALLBACKS),
    ("load_model save_model load save", _SERIAL), ("clear_session", "there is no session: networks are objects of their own"),
    ("set_random_seed manual_seed seed", "seed(...) of the builder for networks; Nd4j.get_random().set_seed(...) for arrays"),
    ("to_categorical one_hot", "fit takes class numbers as they are; np.eye(classes)[numbers] makes rows"),
    ("no_grad inference_mode enable_grad", "output(x) computes no gradients"),
    ("optim optimizers", "updaters: Adam, Nesterovs, Sgd, RmsProp …"),
    ("AdamW", "updater(Adam(1e-3)) with weight_decay(0.01) of the builder"),
    ("CrossEntropyLoss NLLLoss", "OutputLayer(loss_function=\"mcxent\", activation=\"softmax\")"), ("MSELoss", "LossMSE is its name here"),
    ("BCELoss BCEWithLogitsLoss", "OutputLayer(loss_function=\"xent\", activation=\"sigmoid\")"),
    ("tensor Tensor Variable", "arrays are NumPy's; sd.var(name, array) is a variable of a SameDiff graph"),
    ("DataLoader TensorDataset", "fit(x, y, batch_size=32, shuffle=True), NumpyDataSetIterator(x, y, 32), or PyTorch's own"),
)

TABLES: Mapping[str, Mapping[str, str]] = {"network": NETWORK, "layer": LAYER, "variable": VARIABLE, "option": OPTIONS, "names": NAMES}
