"""Output layers that users write as a graph."""
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from ...samediff.configuration.declaring import Convertible, field
from ...samediff.errors import ConfigurationError, GraphError, did_you_mean
from ...samediff.ir.variable import SDVariable
from ..base import user_methods
from ..base.base import layer
from ..base.user_methods import routed
from ..functions.weight_init import WeightInit
from ..ops.loss_rows import MaskedRows
from ..types.java_names import SameDiffOutputLayerNames
from ..types.parameters import LayerScope
from .samediff_layer import AbstractSameDiffLayer

if TYPE_CHECKING:
    from ...samediff.graph.graph import SameDiff

__all__ = ["SameDiffOutputLayer"]


@layer()
class SameDiffOutputLayer(AbstractSameDiffLayer, SameDiffOutputLayerNames):
    """An output or loss layer of one's own (DL4J's ``SameDiffOutputLayer``).

    ``define_layer(sd, layer_input, labels, param_table)`` returns the loss as a scalar, summed over the examples, as in
    DL4J, or one loss for each example, (batch,): then label masks and ``score_examples`` work too.
    ``activations_vertex_name`` names the variable that ``output()`` returns, "input" the layer's input itself.

    Parameters
    ----------
    weight_init : WeightInit or str, optional
        First values of weights, for ``initialize_parameters``; Xavier's where left out.

    Examples
    --------
    >>> from dl4py.layers import layer
    >>> @layer("example.SquaredLoss")
    ... class SquaredLoss(SameDiffOutputLayer):
    ...     def define_parameters(self, params): pass
    ...     def activations_vertex_name(self): return "input"
    ...     def define_layer(self, sd, layer_input, labels, param_table):
    ...         return sd.math.square(labels - layer_input).mean(1).sum()
    >>> SquaredLoss().has_loss
    True
    """

    has_loss: ClassVar[bool] = True
    loss_uses_feature_mask: ClassVar[bool] = False
    summary_name: ClassVar[str] = "SameDiffOutputLayer"
    weight_init: Convertible[WeightInit | None] = field(default=None, omit_none=True)       # XAVIER where nothing is said

    def define_layer(self, sd: SameDiff, layer_input: SDVariable, labels: SDVariable | None, param_table: LayerScope) -> SDVariable:  # type: ignore[override]  # DL4J's arguments
        """Build the graph and return the loss, a scalar or (batch,)."""
        raise NotImplementedError(f"{type(self).__name__} must implement define_layer(self, sd, layer_input, labels, param_table)")

    def activations_vertex_name(self) -> str:
        """Name of the variable that holds the activations."""
        raise NotImplementedError(f"{type(self).__name__} must implement activations_vertex_name(self)")

    def labels_required(self) -> bool:  # type: ignore[override]  # a method in DL4J
        """Whether the loss needs labels; without, ``define_layer`` gets None when there are none."""
        return True

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        routed(cls, "define_layer", "_define")

    def _define(self, author: Callable[..., Any], sd: SameDiff, x: SDVariable, labels: Any, params: Any = None) -> SDVariable:
        """The network asks with its scope for the activations, a subclass with labels for the loss."""
        if isinstance(labels, LayerScope):
            return self._made(author, sd, x, labels)[0]
        return user_methods.variable(self, author, sd, x, labels, params)

    def _made(self, author: Callable[..., Any], sd: SameDiff, x: SDVariable, params: LayerScope) -> tuple[SDVariable, SDVariable]:
        """Activations and loss; one run of the author's code serves both."""
        if "activations" not in params.made:
            (x,) = user_methods.checked(self, sd, [x], AbstractSameDiffLayer.validate_input)
            labels = params.labels
            if labels is None and self.labels_required():     # never computed: only activations can be asked for
                labels = sd.placeholder(f"{sd.current_name_scope() or self.label}/labels_not_given", x.dtype, None)
            params.made["loss"] = user_methods.variable(self, author, sd, x, labels, params)
            params.made["activations"] = self._activations(sd, x)
        return params.made["activations"], params.made["loss"]

    def _activations(self, sd: SameDiff, x: SDVariable) -> SDVariable:
        name = user_methods.call(self, self.activations_vertex_name)
        if name == "input":
            return x
        scope = sd.current_name_scope()
        for full in ((f"{scope}/{name}", name) if scope else (name,)):
            if sd.has_variable(full):
                return sd.variable(full)
        own = [v.name().removeprefix(f"{scope}/") for v in sd.variables() if v.name().startswith(f"{scope}/")]
        raise GraphError(f"{self.label}: activations_vertex_name() gives {name!r}, but define_layer made no variable of that name"
                         f"{did_you_mean(str(name), own)}; it made {', '.join(own) or 'none'}")

    def define_loss(self, sd: SameDiff, x: SDVariable, labels: SDVariable | None, params: LayerScope,
                    mask: SDVariable | None) -> SDVariable:
        params.labels = labels
        self.define_layer(sd, x, params, None)  # type: ignore[arg-type]  # as the network calls it
        loss = params.made["loss"]
        if mask is None:
            return loss
        if loss.spec.rank != 1:
            raise ConfigurationError(f"{self.label} takes no label mask: its loss is one scalar; return one per example, (batch,)")
        return sd.add_op(MaskedRows(self.label), [loss, mask])  # type: ignore[no-any-return]
