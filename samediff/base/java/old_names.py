"""Names that users of DL4J look for and that are called otherwise here."""
from __future__ import annotations

from ..javanames import squash

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
_NODES = {"opnum": "name is its own, op.id that of the op", "opid": "name is its own, op.id that of the op",
          "inputsto": "inputs and outputs are the names of its variables; sd.get_variable(name) gives one"}
_TABLES = {"graph": _GRAPHS, "loss": _LOSSES, "training": _TRAINING, "node": _NODES}


def instead(table: str, name: str) -> str:
    """``"; ..."``: what is written in place of ``name``; an empty text for other names.

    Examples
    --------
    >>> instead("loss", "mcxent")
    "; did you mean 'softmax_cross_entropy'?"
    """
    found = _TABLES.get(table, {}).get(squash(name))
    return "" if found is None else f"; did you mean {found!r}?" if " " not in found else f"; {found}"
