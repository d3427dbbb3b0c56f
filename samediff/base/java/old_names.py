"""Names that users of DL4J look for and that are called otherwise here."""
from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Any, ClassVar

from ..javanames import JavaSpelling, squash
from .other_libraries import OPTIONS, TABLES

_LOSSES = {
    **dict.fromkeys(("mse", "squaredloss", "meansquareerror", "rmse"), "mean_squared_error"),
    **dict.fromkeys(("mae", "l1", "absoluteerror", "meanabsoluteerror"), "absolute_difference"),
    **dict.fromkeys(("mcxent", "negativeloglikelihood", "categoricalcrossentropy"), "softmax_cross_entropy"),
    **dict.fromkeys(("xent", "binarycrossentropy", "bce"), "sigmoid_cross_entropy"),
    "sparsemcxent": "sparse_softmax_cross_entropy",
    "poisson": "log_poisson",
    "huber": "huber_loss",
    "hinge": "hinge_loss",
    "l2": "l2_loss",
}
_GRAPHS = {
    **dict.fromkeys(("execall", "execwithendresult", "evalall", "run"),
                    "output_all(placeholders) computes every variable, output(placeholders, name) those that are named"),
    **dict.fromkeys(("backward", "grad"),
                    "calculate_gradients(placeholders, *variables) computes gradients, variable.gradient() is the one of a variable"),
    **dict.fromkeys(("importtf", "importtensorflow", "importgraph"),
                    "import_frozen_tf(path) reads frozen graphs of TensorFlow, import_onnx(path) models of ONNX"),
    "importkeras": "models of Keras are networks: dl4py.networks.KerasModelImport reads them",
}
_TRAINING = {
    "learningrate": "learning rates belong to updaters: updater(Adam(1e-3))",
    "epochs": "fit takes them: sd.fit(data, epochs)",
}


def _each(names: str, text: str) -> Iterable[tuple[str, str]]:
    return ((name.lower(), text) for name in names.split())


_NODES = dict([
    *_each("opNum opId opType", "name is its own, op.id that of the op"),
    ("inputsto", "inputs and outputs are the names of its variables; sd.get_variable(name) gives one"),
    *_each("getDimensions getScalarValue getExtraArgs getValue configFieldName isConfigProperties",
           "attributes are in propertiesForFunction() and fields of op"),
    *_each("setDimensions setScalarValue setExtraArgs setValueFor setPropertiesForFunction setInPlace setOwnName replaceArg "
           "setOwnNameSetWithDefault", "a node does not change: add another op, sd.rename_variable gives a variable another name"),
    *_each("initFromTensorFlow initFromOnnx", "SameDiff.import_frozen_tf and SameDiff.import_onnx read models"),
    *_each("isInPlace getInputArgument clearArrays", "ops of a graph hold no arrays: sd.output computes them"),
    *_each("configureWithSameDiff dup isOwnNameSetWithDefault", "same_diff is the graph, and sd.dup() copies that"),
])
_NO_BUFFERS = "arrays are NumPy's: shape, strides and dtype say how they lie in memory"
_EXECUTIONER = dict([
    *_each("thresholdEncode thresholdDecode bitmapEncode bitmapDecode", "gradients are not compressed here"),
    *_each("createShapeInfo tadShapeInfoAndOffsets createConstantBuffer getTADManager getString useCount", _NO_BUFFERS),
    *_each("registerGraph executeGraph forgetGraph", "sd.output runs a graph by a compiled plan"),
    *_each("setElementsThreshold setTadThreshold", "DL4PY_NUM_THREADS and threadpoolctl say how many threads work"),
    *_each("getCustomOperations", "docs/ops.md lists all ops, DynamicCustomOp(name) makes any of them"),
    *_each("getProfilingMode getLastOp", "sd.profile and net.profile say what a run does"),
    *_each("inspectArray", "NumPy's min, max, mean and std tell of an array"),
])
_CONTEXT = dict([
    *_each("contextPointer", "there are no native pointers"),
    *_each("setRngStates getRngStates", "Nd4j.getRandom().setSeed(seed) starts random numbers again"),
    *_each("getExecutionMode setExecutionMode", "DL4PY_EXECUTOR=reference runs graphs op by op"),
])
_CUSTOM_OP = dict([
    *_each("getDescriptor", "docs/ops.md says what each op takes"),
    *_each("initFromTensorFlow initFromOnnx", "SameDiff.import_frozen_tf and SameDiff.import_onnx read models"),
    *_each("setPropertiesForFunction setValueFor getValue", "addIArgument and its kin, or the op's constructor, set attributes"),
    *_each("generateFake computeArrays computeVariables", "Nd4j.exec executes the op"),
    *_each("extraArgsBuff extraArgsDataBuff getExtraArgz setExtraArgz getDimensionz setDimensionz", _NO_BUFFERS),
    *_each("setExtraArgs", "the constructor of the op's class takes its numbers"),
    *_each("getXVertexId getYVertexId getZVertexId setXVertexId setYVertexId setZVertexId", "args() and outputVariables() have names"),
])
_DATA = dict([
    *_each("getFeatureMatrix", "getFeatures() gives the features"),
    *_each("iterateWithMiniBatches", "batchBy(size) gives the parts"),
])
_TABLES = {"graph": _GRAPHS, "loss": _LOSSES, "training": _TRAINING, "node": _NODES, "executioner": _EXECUTIONER, "context": _CONTEXT,
           "custom op": _CUSTOM_OP, "data": _DATA, **TABLES}


def instead(table: str, name: str) -> str:
    """``"; ..."``: what is written in place of ``name``; an empty text for other names.

    Examples
    --------
    >>> instead("loss", "mcxent")
    "; did you mean 'softmax_cross_entropy'?"
    """
    found = _TABLES.get(table, {}).get(squash(name))
    return "" if found is None else f"; did you mean {found!r}?" if " " not in found else f"; {found}"


def other_option(name: str, known: Collection[str]) -> str:
    """``"; ..."``: what another library's option is called among the known ones, or how the same is said; else an empty text."""
    word = OPTIONS.get(squash(name), "")
    return instead("option", name) if " " in word or word in known else ""


class Advised(JavaSpelling):
    """Mix-in: the error for a name that there is none of says what is written in its place, by the table ``advice``."""

    advice: ClassVar[str] = ""

    if not TYPE_CHECKING:       # else no misspelt name would be noticed
        def __getattr__(self, name: str) -> Any:
            try:
                return JavaSpelling.__getattr__(self, name)
            except AttributeError as error:
                raise AttributeError(f"{error}{instead(self.advice, name)}", name=name, obj=self) from None
