"""The models of files as one list of calls of layers; models inside of models are spread out."""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ...samediff.errors import FileFormatError, LimitError
from .archive import KerasFile
from .shapes import Shape
from .upgrade import layer_document
from .weights import GivenWeights

MODELS = ("Sequential", "Functional", "Model", "Functional>Model")
FOLD, UNFOLD = "fold", "unfold"         # parts of a TimeDistributed around a model
MOST_CALLS = 5000
MOST_DEPTH = 20


@dataclass(frozen=True)
class Call:
    """One use of a layer.

    Parameters
    ----------
    key : str
        What the result is called.
    name, class_name, config : str, str, dict
        The layer.
    inputs : tuple of str
        What the inputs are called.
    arguments : dict
        Further arguments.
    weights : GivenWeights
        Where its arrays are.
    beside : list of (str, str)
        Names and classes of the layers of its model.
    owner : str
        The name of the layer with those of the models around it: equal for calls that share weights.
    """

    key: str
    name: str
    class_name: str
    config: dict[str, Any]
    inputs: tuple[str, ...]
    arguments: dict[str, Any]
    weights: GivenWeights
    beside: list[tuple[str, str]]
    owner: str


@dataclass
class KerasModel:
    """A model without models inside.

    Parameters
    ----------
    name : str
        Its name.
    sequential : bool
        Whether it is a list of layers.
    inputs : dict
        Shapes of the inputs without the batch, by name.
    calls : list of Call
        In an order in which they can run.
    outputs : list of str
        Names of the results.
    output_names : list of str
        The layers that give them.
    """

    name: str
    sequential: bool
    inputs: dict[str, Shape] = field(default_factory=dict)
    calls: list[Call] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)
    output_names: list[str] = field(default_factory=list)


def model_of(file: KerasFile) -> KerasModel:
    """The model of a file, without its inner models."""
    return _ModelReading(file).spread()


class _ModelReading:
    """A model that is read, with the layers of inner models in their place."""

    def __init__(self, file: KerasFile) -> None:
        self.file, self.where, self.version = file, file.where, file.version
        document = file.model
        self.check(document["class_name"] in MODELS, f"the model is a {document['class_name']!r}; Sequential and functional ones are read")
        self.model = KerasModel(str(self.config(document).get("name", "model")), document["class_name"] == "Sequential")
        self.keys: set[str] = set()

    def check(self, good: bool, text: str) -> None:
        if not good:
            raise FileFormatError(f"{self.where}: {text}")

    def config(self, document: dict[str, Any]) -> dict[str, Any]:
        found = document["config"]
        if isinstance(found, list):
            found = {"layers": found, "name": document.get("name", "sequential")}
        self.check(isinstance(found, dict) and isinstance(found.get("layers"), list), "the configuration of the model has no layers")
        return found  # type: ignore[no-any-return]

    def spread(self) -> KerasModel:
        self.inside(self.file.model, "", self.file.weights, None, 0)
        return self.model

    def unique(self, name: str) -> str:
        found, number = name, 1
        while found in self.keys:
            found, number = f"{name}_{number}", number + 1
        self.keys.add(found)
        if len(self.keys) > MOST_CALLS:
            raise LimitError(f"{self.where}: the model has more than {MOST_CALLS} calls of layers")
        return found

    def inside(self, document: dict[str, Any], prefix: str, weights: GivenWeights, given: list[str] | None, depth: int) -> list[str]:
        """Add a model; ``given`` are its inputs, None for the one of the file. What its results are called."""
        if depth > MOST_DEPTH:
            raise LimitError(f"{self.where}: models are nested more than {MOST_DEPTH} deep")
        config = self.config(document)
        layers = [(one, *layer_document(one, self.where, self.version)) for one in config["layers"]]
        beside = [(name, kind) for _, name, kind, _ in layers]
        if document["class_name"] == "Sequential":
            if layers and layers[0][2] == "InputLayer":
                beside = beside[1:]
            return self.sequence(layers, beside, config, prefix, weights, given, depth)
        return self.graph(layers, beside, config, prefix, weights, given, depth)

    def sequence(self, layers: list[Any], beside: list[tuple[str, str]], config: dict[str, Any], prefix: str, weights: GivenWeights,
                 given: list[str] | None, depth: int) -> list[str]:
        self.check(bool(layers), "a Sequential model has no layers")
        if given is None:
            shape = shape_in(layers[0][3]) or shape_in(config) or shape_in(layers[0][0].get("build_config")) or _first_inside(layers[0][3])
            shape = shape or ((layers[0][3]["input_dim"],) if isinstance(layers[0][3].get("input_dim"), int)
                              and layers[0][2] not in ("Embedding",) else None)
            if shape is None and layers[0][2] == "Embedding":
                shape = (layers[0][3].get("input_length"),)
            if shape is None:
                raise FileFormatError(f"{self.where}: the model does not say the shape of its input; build it in Keras before it is saved")
            name = layers[0][1] if layers[0][2] == "InputLayer" else f"{layers[0][1]}_input"
            given = [self.unique(name)]
            self.model.inputs[given[0]] = shape
        self.check(len(given) == 1, f"a Sequential model is called with {len(given)} inputs")
        current = list(given)
        for document, name, kind, options in layers:
            if kind != "InputLayer":
                current = self.call(document, name, kind, options, current, {}, prefix, weights, beside, depth)
                if not prefix:
                    self.model.output_names = [name]
        if depth == 0:
            self.model.outputs = current
        return current

    def call(self, document: Any, name: str, kind: str, options: dict[str, Any], inputs: list[str], arguments: dict[str, Any], prefix: str,
             weights: GivenWeights, beside: list[tuple[str, str]], depth: int) -> list[str]:
        if kind in MODELS:
            return self.inside({**document, "class_name": kind}, f"{prefix}{name}_", weights.inside(name, kind, beside), inputs, depth + 1)
        inner = options.get("layer") if kind == "TimeDistributed" else None
        if isinstance(inner, dict) and layer_document(inner, self.where, self.version)[1] in MODELS:
            return self.at_each_step(inner, name, inputs, prefix, weights.inside(name, kind, beside).held(), depth)
        key = self.unique(prefix + name)
        self.model.calls.append(Call(key, name, kind, options, tuple(inputs), arguments, weights, beside, prefix + name))
        return [key]

    def at_each_step(self, document: dict[str, Any], name: str, inputs: list[str], prefix: str, weights: GivenWeights,
                     depth: int) -> list[str]:
        """Add a model with the steps of its input as examples."""
        def add(part: str, key: str, given: list[str]) -> list[str]:
            found = self.unique(key)
            self.model.calls.append(Call(found, name, "TimeDistributed", {"part": part}, tuple(given), {}, weights, [], key))
            return [found]
        _, kind, _ = layer_document(document, self.where, self.version)
        steps = add(FOLD, f"{prefix}{name}_steps", inputs)
        rows = self.inside({**document, "class_name": kind}, f"{prefix}{name}_", weights, steps, depth + 1)
        self.check(len(rows) == len(inputs) == 1, f"the model inside of {name!r} has several inputs or results")
        return add(UNFOLD, prefix + name, [*rows, *inputs])

    def graph(self, layers: list[Any], beside: list[tuple[str, str]], config: dict[str, Any], prefix: str, weights: GivenWeights,
              given: list[str] | None, depth: int) -> list[str]:
        known: dict[tuple[str, int, int], str] = {}
        starts = references(config.get("input_layers", []))
        if given is not None:
            self.check(len(given) == len(starts), f"a model inside has {len(starts)} inputs and is called with {len(given)}")
        for i, start in enumerate(starts):
            if given is None:
                options: dict[str, Any] = next((o for _, n, _, o in layers if n == start[0]), {})
                shape = shape_in(options)
                self.check(shape is not None, f"the input {start[0]!r} has no shape")
                known[start] = self.unique(start[0])
                self.model.inputs[known[start]] = shape  # type: ignore[assignment]
            else:
                known[start] = given[i]
        ends = references(config.get("output_layers", []))
        nodes = {(layer[1], number): (layer, number, node) for layer in layers
                 for number, node in enumerate(layer[0].get("inbound_nodes") or []) if layer[2] != "InputLayer"}
        needed, todo = set[tuple[str, int]](), [e[:2] for e in ends]
        while todo:
            place = todo.pop()
            if place in nodes and place not in needed:
                needed.add(place)
                todo += [t[:2] for t in call_of(nodes[place][2], nodes[place][0][2], self.where)[0]]
        waiting = [node for place, node in nodes.items() if place in needed]

        def key(place: Reference) -> str | None:
            """What a result is called; further ones of a layer have its name and a number."""
            first = known.get((*place[:2], 0))
            own = place in known or first is None or kinds.get(place[0]) in MODELS
            return known.get(place) if own else further_key(first, place[2])  # type: ignore[arg-type]  # not None where it is not own

        kinds = {name: kind for _, name, kind, _ in layers}
        while waiting:
            later = []
            for layer, number, node in waiting:
                (document, name, kind, options), (tensors, arguments) = layer, call_of(node, layer[2], self.where)
                inputs = [found for t in tensors if (found := key(t)) is not None]
                if len(inputs) < len(tensors):
                    later.append((layer, number, node))
                    continue
                results = self.call(document, name, kind, options, inputs, arguments, prefix, weights, beside, depth)
                known |= {(name, number, i): result for i, result in enumerate(results)}
            if len(later) == len(waiting):
                raise FileFormatError(f"{self.where}: the layer {later[0][0][1]!r} is fed by what is not there, or by itself")
            waiting = later
        results = [found for e in ends if (found := key(e)) is not None]
        self.check(bool(ends) and len(results) == len(ends), "the model names results that are not there")
        if depth == 0:
            self.model.outputs = results
            self.model.output_names = [e[0] for e in ends]
        return results


def _first_inside(config: dict[str, Any]) -> Shape | None:
    """The shape of the input of a model that is the first layer, or of a wrapped layer."""
    inner = config.get("layers")
    first = inner[0] if isinstance(inner, list) and inner else config.get("layer")
    found = first.get("config") if isinstance(first, dict) else None
    if not isinstance(found, dict):
        return None
    return shape_in(found) or (_first_inside(found) if inner else None)


def shape_in(config: Any) -> Shape | None:
    """The shape without the batch that a configuration tells."""
    if not isinstance(config, dict):
        return None
    for name in ("batch_shape", "batch_input_shape", "input_shape", "build_input_shape"):
        found = config.get(name)
        if isinstance(found, (list, tuple)) and found and all(n is None or isinstance(n, int) for n in found):
            return tuple(found[1:])
    return None


def further_key(key: str, number: int) -> str:
    """What a result of a call is called that is not the first one."""
    return f"{key}:{number}"


Reference = tuple[str, int, int]


def _reference(value: Any) -> Reference | None:
    """A tensor of Keras: the name of a layer, the number of its call, and that of the result."""
    if isinstance(value, dict) and value.get("class_name") == "__keras_tensor__":
        value = value.get("config", {}).get("keras_history")
    if (isinstance(value, (list, tuple)) and len(value) in (3, 4) and isinstance(value[0], str) and
            all(isinstance(n, int) for n in value[1:3])):
        return value[0], value[1], value[2]
    return None


def is_reference(value: Any) -> bool:
    """Whether a value of a file is a tensor."""
    return _reference(value) is not None


def references(value: Any) -> list[Reference]:
    """All tensors in a list or a dictionary, in their order."""
    found = _reference(value)
    if found is not None:
        return [found]
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    return [one for part in inner for one in references(part)]


#: Arguments of calls that are further inputs, in the order in which layers have them.
FURTHER = ("query", "inputs", "sequences", "x", "x1", "value", "y", "x2", "key")
#: Arguments whose numbers among the inputs are said, since they need not be there.
NUMBERED = ("initial_state", "attention_mask")


def call_of(node: Any, kind: str, where: str) -> tuple[list[Reference], dict[str, Any]]:
    """The tensors of a call of a class, and its other arguments; functions keep them as they stand in the file."""
    if isinstance(node, dict):
        args, kwargs = node.get("args", []), node.get("kwargs", {})
        if not isinstance(args, list) or not isinstance(kwargs, dict):
            raise FileFormatError(f"{where}: a call of a layer has no arguments")
        if kind.startswith("ops."):
            return references([args, kwargs]), {"args": args, "kwargs": kwargs}
    else:
        args = node if isinstance(node, list) else []
        if _reference(args) is not None:
            args = [args]
        kwargs = next((one[3] for one in args if isinstance(one, list) and len(one) > 3 and isinstance(one[3], dict)), {})
    tensors = references(args)
    for name in FURTHER:
        tensors += references(kwargs.get(name))
    rest = {n: v for n, v in kwargs.items() if n not in FURTHER or not references(v)}
    for name in NUMBERED:
        if found := references(kwargs.get(name)):
            rest[name] = range(len(tensors), len(tensors) + len(found))
            tensors += found
    numbers = [v for v in [*args, *(kwargs.get(n) for n in FURTHER)] if isinstance(v, (int, float)) and not isinstance(v, bool)]
    if len(tensors) == 1 and len(numbers) == 1:
        rest |= {"number": numbers[0], "number_first": bool(args) and args[0] is numbers[0]}
    return tensors, rest
