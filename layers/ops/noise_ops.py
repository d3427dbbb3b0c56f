"""Random changes of activations and weights while training, as graph ops."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ...samediff.base.spec import TensorSpec
from ...samediff.families.array_code.graph_random import GraphContext
from ...samediff.families.composite import Composite
from ...samediff.families.followed import LaterNumber
from ...samediff.ir.op import Op, Specs, op, require_floating
from ...samediff.numpy_functions.array_code import code_followed
from ...samediff.ops.shape.shape_info import Identity
from .retention import constant_retention

if TYPE_CHECKING:
    from ...samediff.ir.variable import SDVariable


class Noise(Protocol):
    """Protocol of a noise that draws factors and shifts."""

    def draw(self, rng: np.random.Generator, shape: tuple[int, ...], dtype: Any, iteration: int, epoch: int) -> tuple[Any, Any]:
        """Factor and shift of an array of that shape, either None: ``x * factor + shift``."""
        ...


def drawn(noise: Noise, x: Any, context: Any) -> tuple[Any, Any]:
    """Factor and shift for ``x`` from the numbers of the node."""
    return noise.draw(context.random(), x.shape, x.dtype, context.iteration, context.epoch)


@dataclass(frozen=True)
class FollowedNoise:
    """A noise whose code is followed to graph nodes, with draws of the generator as nodes too."""

    noise: Noise

    def draw(self, rng: Any, shape: tuple[int, ...], dtype: Any, iteration: int, epoch: int) -> tuple[Any, Any]:
        """Factor and shift that the noise draws."""
        return self.noise.draw(rng, shape, dtype, iteration, epoch)

    def expand_noise(self, x: SDVariable, of: str, shifts: bool) -> SDVariable:
        """``x * factor + shift`` as graph nodes; a TraceError where the code draws in another way, or depends on the iteration."""
        def code(xp: Any, x: Any) -> Any:
            factor, shift = self.draw(GraphContext(xp.functions, True, of).random(), x.shape, x.dtype, LaterNumber("the iteration"),  # type: ignore[arg-type]
                                      LaterNumber("the epoch"))  # type: ignore[arg-type]
            y = x if factor is None else x * xp.asarray(factor, x.dtype)
            return y if shift is None or not shifts else y + xp.asarray(shift, x.dtype)
        return code_followed(f"the draw of {type(self.noise).__name__}", code, x.sd, [x])[0]


@op("layer_noise", stateful=True)
class AddNoise(Op):
    """``x * factor + shift`` with random numbers that are new in each iteration; x itself outside training."""

    flops_per_element = 2
    noise: Noise

    def infer(self, *specs: TensorSpec) -> Specs:
        require_floating(self.id, *specs)
        return TensorSpec(specs[0].shape, specs[0].dtype)

    def compute(self, xp: Any, x: Any, *, context: Any) -> Any:  # type: ignore[override]
        """The input times the noise's factor, plus its shift."""
        factor, shift = drawn(self.noise, x, context)
        y = x if factor is None else x * xp.asarray(factor, x.dtype)
        return y if shift is None else y + xp.asarray(shift, x.dtype)

    def plan_rewrite(self, name: str) -> Composite | None:
        """The composition of the gradient op, with the shift of the forward pass."""
        return NoiseGradient(self.noise, name, True).plan_rewrite(name)

    def at_inference(self) -> Op:
        return Identity()

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        node = outputs[0].sd.producer(outputs[0].name())
        assert node is not None
        return [inputs[0].sd.add_op(NoiseGradient(self.noise, node.name), [output_grads[0]])]


@op("layer_noise_gradient", stateful=True)
class NoiseGradient(Composite):
    """Times the factor of the noise node ``of``, drawn again from the same numbers (made by gradients).

    In plans it is what keeps values, if the noise is one that does; ``shifts`` then is True for the noise node itself.
    """

    flops_per_element = 1
    noise: Noise
    of: str
    shifts: bool = False

    def infer(self, *specs: TensorSpec) -> Specs:
        return TensorSpec(specs[0].shape, specs[0].dtype)

    def compute(self, xp: Any, x: Any, *, context: Any) -> Any:  # type: ignore[override]
        """The gradient times the factor that the noise drew in the forward pass."""
        factor, _ = drawn(self.noise, x, context.at(self.of))
        return x if factor is None else x * xp.asarray(factor, x.dtype)

    def plan_rewrite(self, name: str) -> Composite | None:
        """The op with a noise that :meth:`expand` can turn into graph nodes: its constants, or its code followed."""
        return self.replace(noise=constant_retention(self.noise) or FollowedNoise(self.noise))  # type: ignore[return-value]

    def expand(self, *inputs: Any) -> Any:
        """The noise as graph nodes, with the random mask of the forward node."""
        return self.noise.expand_noise(inputs[0], self.of, self.shifts)  # type: ignore[attr-defined]  # both of plan_rewrite's noises have it

    def at_inference(self) -> Op:
        return Identity()

    def grad(self, inputs: Sequence[SDVariable], outputs: Sequence[SDVariable],
             output_grads: Sequence[SDVariable]) -> Sequence[SDVariable | None]:
        return [inputs[0].sd.add_op(self, [output_grads[0]])]
