"""Both kinds of networks as one list of members in the order in which they run."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...layers.types.parameters import Parameter
from ...samediff.base.datatype import DataType
from ...samediff.configuration.stand_in import StandIn, stand_ins_in
from ...samediff.errors import ConfigurationError
from ...samediff.training.steps.step import FlatSlot
from ...samediff.training.updaters.updaters import NoOp
from .configuration import ComputationGraphConfiguration, LayerVertex, MultiLayerConfiguration, NeuralNetConfiguration
from .settings import DefaultStepFunction, GradientStepFunction, OptimizationAlgorithm, StepFunction


@dataclass(frozen=True)
class Member:
    """A layer or vertex of a network.

    ``key`` is the prefix of its parameters ("0" or the vertex name), ``inputs`` are names of members or network inputs.
    """

    key: str
    conf: Any
    inputs: tuple[str, ...]
    preprocessor: Any = None
    is_layer: bool = True

    @property
    def label(self) -> str:
        """What messages call it."""
        name = getattr(self.conf, "layer_name", None) or self.key
        return f"layer {name!r} ({self.kind})" if self.is_layer else f"vertex {self.key!r} ({self.kind})"

    @property
    def kind(self) -> str:
        """The name of its class."""
        return self.conf.missing_class if isinstance(self.conf, StandIn) else type(self.conf).__name__

    @property
    def is_frozen(self) -> bool:
        """True for layers whose parameters gradients do not reach."""
        return bool(getattr(self.conf, "frozen", False))

    @property
    def can_pretrain(self) -> bool:
        """True for layers with a rule of pretraining."""
        return hasattr(self.conf, "define_pretraining")

    def slots(self) -> list[tuple[FlatSlot, Parameter]]:
        """Its parameters in the order of the flat vector; those that only pretraining moves have no regularization here."""
        if "_slots" not in self.__dict__:       # nothing of a member changes
            self.__dict__["_slots"] = tuple(self._made_slots())
        return list(self.__dict__["_slots"])

    def _made_slots(self) -> list[tuple[FlatSlot, Parameter]]:
        if isinstance(self.conf, StandIn):
            size = self.conf.fail() if self.conf.extent is None else self.conf.extent
            return [(FlatSlot(f"{self.key}_unknown", (size,), NoOp()), Parameter("unknown", (size,), "statistic"))] if size else []
        table = self.conf.parameter_table() if hasattr(self.conf, "parameter_table") else []
        return [(FlatSlot(f"{self.key}_{p.name}", p.shape, self.conf.updater_for(p), p.order,
                          () if self.only_pretrained(p) else self.conf.regularization_for(p), key=self._updater_key(p),
                          scaled=p.role != "statistic"), p) for p in table]

    def _updater_key(self, parameter: Parameter) -> Any:
        return self.conf.updater_key(parameter) if hasattr(type(self.conf), "updater_key") else None

    def only_pretrained(self, parameter: Parameter) -> bool:
        """True for a parameter that only pretraining moves."""
        return bool(self._updater_key(parameter) == "pretrain")

    def table_rank(self, name: str) -> int:
        """Where parameter ``name`` stands in the table of parameters; equal numbers keep the order of the flat vector."""
        first = getattr(self.conf, "table_order", ())
        own = name.removeprefix(f"{self.key}_")
        return first.index(own) if own in first else len(first)


@dataclass(frozen=True)
class Solver:
    """How a network is fitted: the algorithm, and what its line search goes by."""

    algorithm: OptimizationAlgorithm = OptimizationAlgorithm.STOCHASTIC_GRADIENT_DESCENT
    step_function: StepFunction | None = None
    line_search_iterations: int = 5

    @classmethod
    def of(cls, conf: NeuralNetConfiguration) -> Solver:
        """What a configuration says."""
        return cls(conf.optimization_algo, conf.step_function, conf.max_num_line_search_iterations)


@dataclass(frozen=True)
class Structure:
    """What the engine needs to know of a network configuration."""

    inputs: tuple[str, ...]
    members: tuple[Member, ...]           # in an order in which they can run
    outputs: tuple[str, ...]
    dtype: DataType
    seed: int
    mini_batch: bool = True
    descends: bool = True                 # False: updates are added, as two of DL4J's step functions do
    declared: tuple[str, ...] = ()        # keys of the members as configured, where that is another order
    solver: Solver = Solver()

    @property
    def lacks(self) -> tuple[str, ...]:
        """Classes that nobody registers."""
        if "_lacks" not in self.__dict__:
            parts = [self.solver.step_function, *[part for m in self.members for part in (m.conf, m.preprocessor)]]
            self.__dict__["_lacks"] = tuple(dict.fromkeys(name for one in stand_ins_in(parts) for name in one.lacks))
        return self.__dict__["_lacks"]  # type: ignore[no-any-return]

    def member(self, key: str) -> Member:
        """The member of that key."""
        return next(m for m in self.members if m.key == key)

    @property
    def as_declared(self) -> tuple[Member, ...]:
        """The members in the order of the configuration: that of parameter tables and of drawing initial values."""
        if not self.declared:
            return self.members
        return tuple(self.member(key) for key in self.declared)

    @property
    def losses(self) -> tuple[Member, ...]:
        """The output layers, in the order of the network's outputs."""
        return tuple(m for name in self.outputs for m in self.members if m.key == name and getattr(m.conf, "has_loss", False))

    def reached(self) -> set[str]:
        """Keys of the members that gradients reach: not those whose every way to an output leads through a frozen layer."""
        found: set[str] = set()
        ahead = [self.member(key) for key in self.outputs]
        while ahead:
            member = ahead.pop()
            if member.key in found:
                continue
            found.add(member.key)
            if not getattr(member.conf, "stops_gradients", False):
                ahead.extend(m for m in self.members if m.key in member.inputs)
        return found


def structure_of(configuration: MultiLayerConfiguration | ComputationGraphConfiguration) -> Structure:
    """The structure of either kind of network."""
    return of_graph(configuration) if isinstance(configuration, ComputationGraphConfiguration) else of_list(configuration)


def of_list(configuration: MultiLayerConfiguration) -> Structure:
    """The structure of a list network: one input, layers one behind the other, keys "0", "1" …"""
    if not configuration.confs:
        raise ConfigurationError("the network has no layers")
    first = configuration.confs[0]
    for i, conf in enumerate(configuration.confs):
        if conf.layer is None:
            raise ConfigurationError(f"configuration {i} of the network has no layer")
    members = tuple(Member(str(i), layer, ("input" if i == 0 else str(i - 1),), configuration.get_input_pre_process(i))
                    for i, layer in enumerate(configuration.layers))
    return Structure(("input",), members, (members[-1].key,), configuration.data_type, first.seed, first.mini_batch,
                     _descends(first), solver=Solver.of(first))


def of_graph(configuration: ComputationGraphConfiguration) -> Structure:
    """The structure of a graph, its members in DL4J's topological order."""
    members = []
    for name in configuration.order():
        vertex = configuration.vertices.get(name)
        if vertex is None:
            continue
        inputs = tuple(configuration.vertex_inputs[name])
        if isinstance(vertex, LayerVertex):
            members.append(Member(name, vertex.layer, inputs, vertex.pre_processor))
        else:
            members.append(Member(name, vertex, inputs + _named(name, vertex, configuration), None, False))
    layers = (v.layer_conf for v in configuration.vertices.values() if isinstance(v, LayerVertex))
    default = next(layers, configuration.default_configuration)
    return Structure(tuple(configuration.network_inputs), tuple(members), tuple(configuration.network_outputs),
                     configuration.data_type, default.seed, default.mini_batch, _descends(default), tuple(configuration.vertices),
                     Solver.of(default))


def _named(name: str, vertex: Any, configuration: ComputationGraphConfiguration) -> tuple[str, ...]:
    """Network inputs that a vertex names in its configuration."""
    names: tuple[str, ...] = vertex.named_inputs()
    for n in names:
        if n not in configuration.network_inputs:
            raise ConfigurationError(f"vertex {name!r} ({type(vertex).__name__}) names the network input {n!r}; "
                                     f"inputs: {', '.join(configuration.network_inputs)}")
    return names


def _descends(conf: NeuralNetConfiguration) -> bool:
    return not isinstance(conf.step_function, (DefaultStepFunction, GradientStepFunction))
