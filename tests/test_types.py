"""A user's file under mypy and pyright: what is misspelt is reported, both spellings of what exists are known."""
import ast
import inspect
import json
import keyword
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import dl4py
from dl4py.samediff.base.javanames import JavaSpelling, to_camel
from dl4py.samediff.tools import exports
from tests.docs.blocks import blocks
from tests.helpers.converted_options import converted_options

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"

RIGHT = """
import numpy as np
from dl4py import MultiLayerNetwork, SameDiff
from dl4py.layers import (
    LSTM, AutoEncoder, BatchNormalization, Bidirectional, CapsuleLayer, Cropping2D, DenseLayer, LocalResponseNormalization, OutputLayer,
    PrimaryCapsules, SpaceToBatchLayer, SpaceToDepthLayer, Upsampling2D, ZeroPadding3DLayer, ZeroPaddingLayer)
from dl4py.networks import ComputationGraph, EarlyStoppingConfiguration, ModelSerializer, NeuralNetConfiguration, TransferLearning
from dl4py.samediff import Adam, DataSet, DataType, Evaluation, Schema, TrainingConfig, TransformProcess

sd = SameDiff.create()
x = sd.placeHolder("x", DataType.FLOAT, -1, 3)
w = sd.var("w", DataType.FLOAT, 3, 2)
y = sd.nn().softmax("y", x.mmul(w).rsub(1.0), -1)
z = sd.math.squaredDifference(y, 1.0).convertToConstant()
sd.setLossVariables(z)
sd.setTrainingConfig(TrainingConfig.builder().updater(Adam(1e-3)).dataSetFeatureMapping("x").l2(1e-4).build())
sizes, counts, rank = [n or 1 for n in x.shape], x.shape(), x.ndim + len(x.T.shape) + x.size
taken = sd.fit(np.zeros((2, 3)), np.zeros((2, 2)), epochs=2).trainingTimeMillis()
sd.fit().train(DataSet(np.zeros((2, 3)), np.zeros((2, 2)))).exec()

PLACED = [Bidirectional("add", LSTM(n_out=3)), Bidirectional(LSTM(n_out=3)), ZeroPaddingLayer(1, 1), ZeroPaddingLayer([1, 1]),
          Cropping2D(1, 1, 1, 1), Upsampling2D(2, 2), ZeroPadding3DLayer(1, 1, 1, 1, 1, 1), BatchNormalization(0.9, True),
          LocalResponseNormalization(2, 5),
          SpaceToDepthLayer(2, "NHWC"), SpaceToBatchLayer([2, 2]), PrimaryCapsules(8, 4, [9, 9], 2),
          CapsuleLayer(10, 16, 3), AutoEncoder(0.3)]
conf = (NeuralNetConfiguration.Builder().seed(3).updater(Adam(learning_rate=1e-3)).list()
        .layer(DenseLayer.Builder().nIn(3).nOut(4).activation("relu").build())
        .layer(OutputLayer(n_in=4, n_out=2, activation="softmax", loss_function="mcxent")).build())
net = MultiLayerNetwork(conf)
net.init().setListeners([])
net.fit(np.zeros((2, 3)), np.zeros((2, 2)), epochs=3, batch_size=1).getLayer(0).numParams()
net.fit([DataSet(np.zeros((2, 3)), np.zeros((2, 2)))], 3)
found: Evaluation = net.evaluate(DataSet(np.zeros((2, 3)), np.zeros((2, 2))))
found.getConfusionMatrix().getCount(0, 0)
ModelSerializer.writeModel(net, "net.zip", True)
net = ModelSerializer.restoreMultiLayerNetwork("net.zip")
net = TransferLearning.Builder(net).setFeatureExtractor(0).nOutReplace(1, 3, "xavier").build()
graph = ComputationGraph(NeuralNetConfiguration.Builder().graphBuilder().addInputs("in").addLayer("a", DenseLayer(n_in=3, n_out=2), "in")
                         .setOutputs("a").build())
graph.init().outputSingle(np.zeros((2, 3)))
EarlyStoppingConfiguration.Builder().evaluateEveryNEpochs(1).build()
schema = Schema.Builder().addColumnString("a").add_columns_double("b_%d", 0, 2).addColumnCategorical("c", "d").build()
process = TransformProcess.Builder(schema).removeColumns("a").string_to_categorical("c", ["d"]).build()
"""

#: A line that is wrong, and what is said of it.
WRONG = {
    "sd.plcaeholder('x')": '"SameDiff" has no attribute "plcaeholder"',
    "sd.setLosVariables(y)": '"SameDiff" has no attribute "setLosVariables"',
    "sd.nn.sofmax(x)": '"NNOps" has no attribute "sofmax"',
    "sd.math.squaredDiference(x, y)": '"MathOps" has no attribute "squaredDiference"',
    "sd.nn.softmax(x, dimensions=1)": 'Unexpected keyword argument "dimensions"',
    "x.mmull(y)": '"SDVariable" has no attribute "mmull"',
    "sd.fit(1, 2, epoch=3)": "epoch",
    "sd.fit(1, 2).loss_curv()": '"History" has no attribute "loss_curv"',
    "net.outptu(1)": '"MultiLayerNetwork" has no attribute "outptu"',
    "net.setListners([])": '"MultiLayerNetwork" has no attribute "setListners"',
    "net.fit(1, 2, epoch=3)": 'Argument "epoch" to "fit"',
    "net.clone().sumary()": '"MultiLayerNetwork" has no attribute "sumary"',
    "graph.outputSingel(1)": '"ComputationGraph" has no attribute "outputSingel"',
    "DenseLayer(n_ot=3)": 'Unexpected keyword argument "n_ot"',
    "DenseLayer(n_out=3).n_ot": '"DenseLayer" has no attribute "n_ot"',
    "DenseLayer.Builder().nOut(3).build().n_ot": '"DenseLayer" has no attribute "n_ot"',
    "Adam(learning_rte=1.0)": 'Unexpected keyword argument "learning_rte"',
    "conf.to_jsn()": '"MultiLayerConfiguration" has no attribute "to_jsn"',
    "TrainingConfig.builder().updatr(3)": '"TrainingConfigBuilder" has no attribute "updatr"',
    "Schema.Builder().addColumnIntger('a')": '"SchemaBuilder" has no attribute "addColumnIntger"',
    "TransformProcess.Builder(schema).remove_colums('a')": '"TransformProcessBuilder" has no attribute "remove_colums"',
    "found.acuracy()": '"Evaluation" has no attribute "acuracy"',
    "from dl4py.samediff import Samediff": 'has no attribute "Samediff"',
    "from dl4py import MultiLayerNetwrk": 'has no attribute "MultiLayerNetwrk"',
}


#: Classes where attributes are found as the program runs: values of a run by name, configurations of layers.
OPEN = {"ExecResult", "LayerView", "LazyINDArray"}
#: Names that are no Java: what ops and dl4py's own collaborators have for each other.
PYTHON_ONLY = {"EagerOps", "FileSplit", "Listeners", "RunContext", "ContainerLayer"}


def checked(text, tmp_path):
    """What mypy says of a file, by line."""
    file = tmp_path / "user.py"
    file.write_text(text)
    done = subprocess.run([sys.executable, "-m", "mypy", "--cache-dir", str(tmp_path / "cache"), str(file)], capture_output=True, text=True,
                          cwd=tmp_path)
    said: dict[int, list[str]] = {}
    for line in done.stdout.splitlines():
        place, error, message = line.partition(": error: ")
        if error:
            assert place.startswith("user.py:"), done.stdout
            said.setdefault(int(place.split(":")[1]), []).append(message)
    return said


@pytest.mark.slow
def test_a_file_of_a_user(tmp_path):
    wrong, first = list(WRONG), len(RIGHT.splitlines()) + 1
    said = checked(RIGHT + "\n".join(wrong) + "\n", tmp_path)
    assert not {i: texts for i, texts in said.items() if i < first}, "what is right is refused"
    missed = [line for i, line in enumerate(wrong) if not any(WRONG[line] in t for t in said.get(first + i, ()))]
    assert not missed, said


@pytest.mark.slow
def test_examples_are_right(tmp_path):
    done = subprocess.run([sys.executable, "-m", "mypy", "--disable-error-code", "import-untyped", "--cache-dir", str(tmp_path),
                           *map(str, sorted(EXAMPLES.glob("*.py")))],
                          capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout


TYPED = Path(__file__).parent / "helpers" / "typed_plug_ins.py"
PAGES = ("docs/plug-ins.md", "docs/plug-ins-advanced.md")
#: Of ``--strict``, what asks for types that the pages leave out.
AS_SHOWN = "# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, allow-untyped-decorators\n"


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("pyright") is None, reason="pyright is not installed")
def test_a_file_of_a_user_with_pyright(tmp_path):
    wrong, first = list(WRONG), len(RIGHT.splitlines()) + 1
    file = tmp_path / "user.py"
    file.write_text(RIGHT + "\n".join(wrong) + "\n")
    (tmp_path / "pyrightconfig.json").write_text(json.dumps({"extraPaths": [str(Path(dl4py.__file__).resolve().parents[1])]}))
    done = subprocess.run(["pyright", "--outputjson", "--pythonpath", sys.executable, str(file)], capture_output=True, text=True,
                          cwd=tmp_path)
    found = {d["range"]["start"]["line"] + 1 for d in json.loads(done.stdout)["generalDiagnostics"] if d["severity"] == "error"}
    assert found == set(range(first, first + len(wrong))), done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("how", [["-m", "mypy", "--strict"], []], ids=["types", "runs"])
def test_documented_plug_ins(how, tmp_path):
    """Plug-ins with all types written; their types, and those of all blocks of the pages as they show them."""
    texts = {"typed_plug_ins.py": TYPED.read_text()}
    if how:
        texts |= {f"page_{i}.py": AS_SHOWN + "\n".join(b.code for b in blocks(page)) for i, page in enumerate(PAGES)}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    done = subprocess.run([sys.executable, *how, *texts], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def public_classes():
    """The classes that dl4py names, each once."""
    found = {getattr(dl4py, name): name for name in reversed(dl4py.__all__)}
    return {name: cls for cls, name in found.items() if isinstance(cls, type)}


def methods_of(cls):
    """Public methods of a class in Python's spelling."""
    for owner in cls.__mro__:
        for name, member in vars(owner).items() if owner.__module__.startswith("dl4py.") else ():
            is_own = inspect.isfunction(member) and "." in member.__qualname__          # not a value that is a function
            if not name.startswith("_") and (is_own or isinstance(member, staticmethod | classmethod)):
                yield name


def in_java(cls, name):
    """A name in Java's spelling, as the class writes it where that differs in upper case: ``isFPType``."""
    spelling = to_camel(name)
    return next((n for owner in cls.__mro__ for n in vars(owner) if n.lower() == spelling.lower() and n != name), spelling)


def test_public_names_stand_where_checkers_read_them():
    """Each ``__all__`` is one list that nothing adds to as the program runs, and ``dl4py`` imports all of each package."""
    added = {}
    for package in dl4py._PUBLIC:
        module = import_module(f"dl4py.{package}")
        added[package] = set(module.__all__) ^ set(exports.public(Path(module.__file__)))
    assert not {package: names for package, names in added.items() if names}
    tree = ast.parse(Path(dl4py.__file__).read_text())
    assert {n.module for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) and n.names[0].name == "*"} == set(dl4py._PUBLIC)


@pytest.mark.slow
def test_all_methods_of_all_public_classes_in_both_spellings(tmp_path):
    """No method is refused, and on every class a misspelt one is reported; nor is a value of an option that is converted when it runs."""
    lines = ["import numpy as np", "import dl4py", *converted_options()]
    misspelt, right = {}, dict(enumerate(lines, 1))
    for name, cls in public_classes().items():
        lines += [f"def use_{name}(it: dl4py.{name}) -> None:", "    it.no_such_name()"]
        misspelt[len(lines)] = name
        is_op = hasattr(cls, "compute") and hasattr(cls, "infer")
        for method in dict.fromkeys(methods_of(cls)):
            for spelling in {method} | (set() if is_op or name in PYTHON_ONLY else {in_java(cls, method)}):
                if not keyword.iskeyword(spelling):
                    lines.append(f"    it.{spelling}")
                    right[len(lines)] = f"{name}.{spelling}"
    said = checked("\n".join(lines) + "\n", tmp_path)
    assert len(right) > 10_000
    assert not {right[i]: said[i] for i in right.keys() & said.keys()}
    assert {name for i, name in misspelt.items() if i not in said} == OPEN


def texts_of_classes():
    """What modules and stubs say of classes: the names in their bodies."""
    for file in {Path(inspect.getfile(owner)) for cls in public_classes().values() for owner in cls.__mro__
                 if owner.__module__.startswith("dl4py.")} | set(Path(dl4py.__file__).resolve().parents[1].rglob("*/*.pyi")):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ClassDef):
                yield node.name, {n.id if isinstance(n, ast.Name) else n.name for n in ast.walk(node)
                                  if isinstance(n, ast.FunctionDef) or (isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))}


def test_java_spelling_is_there_for_checkers():
    """By the texts alone, what mypy is asked above: of each public method the class, one of its bases or their stubs say Java's name."""
    said = {}
    for name, names in texts_of_classes():
        said.setdefault(name, set()).update(names)
    missing = {}
    for name, cls in public_classes().items():
        if name not in PYTHON_ONLY | OPEN and not (hasattr(cls, "compute") and hasattr(cls, "infer")):
            known = set().union(*(said.get(n, ()) for owner in cls.__mro__ for n in (owner.__name__, f"{owner.__name__}Names")),
                                *(vars(owner) for owner in cls.__mro__ if not owner.__module__.startswith("dl4py.")))
            unknown = {n for method in methods_of(cls) if (n := in_java(cls, method)) != method and not keyword.iskeyword(n)} - known
            missing |= {name: unknown} if unknown else {}
    assert not missing, "a public class is to have the base <its name>Names; then .ci/generate"


def test_java_spelling_is_there_when_the_program_runs():
    """The names that the stubs promise: on the class, or found by the objects."""
    missing = [f"{name}.{in_java(cls, m)}" for name, cls in public_classes().items() if name not in PYTHON_ONLY
               for m in set(methods_of(cls)) if not issubclass(cls, JavaSpelling) and not hasattr(cls, "compute")
               and not hasattr(cls, "__getattr__") and not hasattr(cls, in_java(cls, m)) and not keyword.iskeyword(to_camel(m))]
    assert not missing
