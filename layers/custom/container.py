"""Layers of one's own that hold layers."""
from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

from ...samediff.configuration.declaring import field
from ...samediff.errors import ConfigurationError, did_you_mean
from ...samediff.ir.variable import SDVariable
from ...samediff.training.updaters.regularization import Regularization
from ...samediff.training.updaters.updater import IUpdater
from ..base.base import Layer, layer
from ..base.defaults import LayerDefaults
from ..functions.constraints import LayerConstraint
from ..preprocessors import InputPreProcessor
from ..types.input_type import InputType
from ..types.parameters import LayerScope, Parameter, ParameterTable

if TYPE_CHECKING:
    from ...samediff.graph.graph import SameDiff

__all__ = ["ContainerLayer"]


@layer()
class ContainerLayer(Layer):
    """Base of layers that hold layers: fields annotated ``Layer``, ``Layer | None`` or ``tuple[Layer, ...]``.

    Their parameters (``first_W`` of a field ``first``, ``blocks0_W`` of the first one in ``blocks``), updaters, regularization,
    constraints, dropout, weight noise, states, statistics and files follow by themselves. As it stands, a container is a chain of them;
    other ones write two methods that say what gets what.

    Parameters
    ----------
    given_type : InputType, optional
        The type of the input, as ``set_n_in`` was told it; the types of the layers inside follow from it.

    Methods that a sub-class may write
    ----------------------------------
    define_layer(self, sd, x, params, mask)
        As of any layer; ``self.inner("first", sd, x, params, mask)`` runs a layer that it holds.
    wire(self, input_type, through)
        The same for types: ``through("first", input_type)`` tells a layer the type of its input and gives that of its activations.
        Returns the type of the container's activations.
    define_parameters(self, params)
        Parameters of its own, after ``super().define_parameters(params)``.

    Examples
    --------
    >>> from dl4py.layers import DenseLayer, InputType, Layer, layer
    >>> @layer("example.Residual")
    ... class Residual(ContainerLayer):
    ...     first: Layer
    ...     second: Layer
    ...     def wire(self, input_type, through):
    ...         return through("second", through("first", input_type))
    ...     def define_layer(self, sd, x, params, mask):
    ...         return x + self.inner("second", sd, self.inner("first", sd, x, params, mask), params, mask)
    >>> made = Residual(first=DenseLayer(n_out=4), second=DenseLayer(n_out=3)).set_n_in(InputType.feed_forward(3))
    >>> [(p.name, p.shape) for p in made.parameter_table()]
    [('first_W', (3, 4)), ('first_b', (4,)), ('second_W', (4, 3)), ('second_b', (3,))]
    """

    takes_dropout: ClassVar[bool] = False
    own_options: ClassVar[frozenset[str]] = frozenset({"dropout", "constraints"})
    summary_sizes: ClassVar[bool] = False
    #: What :meth:`set_n_in` was told, from which the types of the layers inside follow.
    given_type: InputType | None = field(default=None, omit_none=True)

    def inner_layers(self) -> dict[str, Layer]:
        """The layers inside by name, in the order of the fields."""
        found: dict[str, Layer] = {}
        for name in type(self)._fields:
            value = getattr(self, name)
            if isinstance(value, Layer):
                found[name] = value
            elif isinstance(value, (tuple, list)) and value and all(isinstance(v, Layer) for v in value):
                found |= {f"{name}{i}": v for i, v in enumerate(value)}
        return found

    def wire(self, input_type: InputType, through: Callable[[str, InputType], InputType]) -> InputType:
        """Types along the way of the data: by default one layer after the other."""
        for name in self.inner_layers():
            input_type = through(name, input_type)
        return input_type

    def define_layer(self, sd: SameDiff, x: SDVariable, params: LayerScope, mask: SDVariable | None) -> SDVariable:
        for name in self.inner_layers():
            before, x = x, self.inner(name, sd, x, params, mask)
            mask = self._named(name).feed_forward_mask(sd, mask, before)
        return x

    def inner(self, name: str, sd: SameDiff, x: SDVariable, params: LayerScope, mask: SDVariable | None = None) -> SDVariable:
        """Run a layer inside, behind the preprocessor that its input needs, with its dropout and weight noise."""
        held, scope = self._named(name), params.sub(f"{name}_")
        before = self._preprocessors().get(name)
        if before is not None:
            mask, x = before.define_mask(sd, mask, x, x), before.define(sd, x, x)
        if held.dropout is not None and held.takes_dropout:
            x = held.dropout.define(sd, x)
        noise = getattr(held, "weight_noise", None)
        if noise is not None:
            scope = scope.changed(noise.applied(sd, dict(scope), held.parameter_table()))
        return held.define_layer(sd, x, scope, mask)

    def feed_forward_mask(self, sd: SameDiff, mask: SDVariable | None, x: SDVariable) -> SDVariable | None:
        """The mask after all layers inside, in order."""
        for held in self.inner_layers().values():
            mask = held.feed_forward_mask(sd, mask, x)
        return mask

    # Types

    def output_type(self, input_type: InputType) -> InputType:
        return self._walked(input_type)[0]

    def set_n_in(self, input_type: InputType, override: bool = True) -> Self:
        _, told, _ = self._walked(input_type, override)
        return self._with(told).replace(given_type=input_type)

    def _walked(self, input_type: InputType, override: bool = False) -> tuple[InputType, dict[str, Layer], dict[str, InputPreProcessor]]:
        """The type of the activations, the layers inside as they know their inputs, and what has to stand in front of them."""
        told, preprocessors = self.inner_layers(), dict[str, InputPreProcessor]()

        def through(name: str, kind: InputType) -> InputType:
            before = self._named(name).get_pre_processor_for_input_type(kind)
            if before is not None:
                preprocessors[name] = before
                kind = before.output_type(kind)
            told[name] = told[name].changed(lambda copy: copy.set_n_in(kind, override))
            return told[name].get_output_type(0, kind)
        return self.wire(input_type, through), told, preprocessors

    def _preprocessors(self) -> dict[str, InputPreProcessor]:
        return {} if self.given_type is None else self._walked(self.given_type)[2]

    def _with(self, held: dict[str, Layer]) -> Self:
        """A copy with other layers inside."""
        fields: dict[str, Any] = {}
        for name in type(self)._fields:
            value = getattr(self, name)
            if name in held:
                fields[name] = held[name]
            elif isinstance(value, (tuple, list)) and f"{name}0" in held:
                fields[name] = tuple(held[f"{name}{i}"] for i in range(len(value)))
        return self.replace(**fields)

    def _named(self, name: str) -> Layer:
        found = self.inner_layers()
        if name not in found:
            raise ConfigurationError(f"{self.label} holds no layer {name!r}{did_you_mean(name, found)}; it holds "
                                     f"{', '.join(found) or 'none'}")
        return found[name]

    # Rules of the parameters

    def missing_values(self, given: LayerDefaults) -> dict[str, Any]:
        inner = self._with({n: v.apply_global_config(given) for n, v in self.inner_layers().items()})
        own = super().missing_values(given)
        return own | {n: getattr(inner, n) for n in type(self)._fields if getattr(inner, n) is not getattr(self, n)}

    def define_parameters(self, params: ParameterTable) -> None:
        for name, held in self.inner_layers().items():
            for p in held.parameter_table():
                params.add(replace(p, name=f"{name}_{p.name}"))

    def _owner(self, parameter: Parameter) -> tuple[Layer, Parameter] | None:
        """The layer inside that a parameter belongs to, and what it is called there; None for the container's own."""
        for name, held in self.inner_layers().items():
            own = replace(parameter, name=parameter.name.removeprefix(f"{name}_"))
            if own.name != parameter.name and any(p.name == own.name for p in held.parameter_table()):
                return held, own
        return None

    def updater_for(self, parameter: Parameter) -> IUpdater:
        found = self._owner(parameter)
        return super().updater_for(parameter) if found is None else found[0].updater_for(found[1])

    def regularization_for(self, parameter: Parameter) -> tuple[Regularization, ...]:
        found = self._owner(parameter)
        return super().regularization_for(parameter) if found is None else found[0].regularization_for(found[1])

    def initial_values(self, rng: Any, dtype: Any) -> dict[str, Any]:
        """Those of the layers inside, then the container's own."""
        drawn = {f"{name}_{n}": v for name, held in self.inner_layers().items() for n, v in held.initial_values(rng, dtype).items()}
        own = (p for p in self.parameter_table() if p.name not in drawn)
        return drawn | {p.name: self.initial_value(p, rng, dtype) for p in own}

    @property
    def constraints_in_force(self) -> tuple[LayerConstraint, ...]:
        return super().constraints_in_force + tuple(self._inner_constraints())

    def _inner_constraints(self) -> Iterator[LayerConstraint]:
        for name, held in self.inner_layers().items():
            for constraint in held.constraints_in_force:
                yield constraint.replace(params=tuple(f"{name}_{p}" for p in constraint.params))
