"""Random arrays as DL4J's own kernels draw them: the shape comes as an input, parameters may be arrays."""
from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from ...base.datatype import DataType
from ...base.spec import TensorSpec, broadcast, normalize_axis
from ...codecs.file_args import FileArgs
from ...errors import DataTypeError, GraphError, ShapeError
from ...families.indices import require_integer
from ...families.shape_inputs import ints_of, shape_from
from ...ir.op import Op, Specs, attributes, op, require_floating, require_same_type
from .random import Bernoulli, Normal, RandomArray, Uniform


def _sizes(values: Any) -> tuple[int, ...]:
    sizes = tuple(int(n) for n in values.reshape(-1))
    if any(n < 0 for n in sizes):
        raise ShapeError(f"shape {sizes} has a negative size")
    return sizes


def _shape_of(spec: TensorSpec) -> tuple[int, ...] | None:
    require_integer("a shape", spec)
    shape, known = shape_from(spec), ints_of(spec)
    return shape if known is None else _sizes(np.asarray(known))


class RandomOp(Op):
    """New numbers in every iteration, equal for equal seeds."""

    stateful = True
    gradient = "none"

    def compute(self, xp: Any, *inputs: Any, context: Any) -> Any:  # type: ignore[override]  # stateful ops get the context
        """Draw from the generator of this node and iteration."""
        return self.draw(context.random(), *inputs)

    def draw(self, generator: np.random.Generator, *inputs: Any) -> Any:
        """The result, drawn from a generator."""
        raise NotImplementedError(f"{type(self).__name__} must implement draw(self, generator, *inputs)")


@attributes
class OfShape(RandomOp):
    """A distribution of :mod:`.random` with numbers for parameters."""

    inputs = "shape"
    data_type: DataType | None = None

    @property
    def result(self) -> DataType:
        """FLOAT when nothing else is asked for."""
        return self.data_type or DataType.FLOAT

    def distribution(self) -> RandomArray:
        """The op of ``sd.random`` with the same distribution."""
        raise NotImplementedError(f"{type(self).__name__} must implement distribution(self)")

    def infer(self, *specs: TensorSpec) -> Specs:
        """The shape that the input holds; unknown unless it is a constant."""
        if not self.result.is_floating:
            raise DataTypeError(f"{self.id} needs a floating type, got {self.result.name}")
        self.distribution().check()
        return TensorSpec(_shape_of(specs[0]), self.result)

    def draw(self, generator: np.random.Generator, *inputs: Any) -> Any:
        """Numbers drawn from the distribution."""
        dtype = np.dtype(np.float64 if self.result is DataType.DOUBLE else np.float32)
        return self.distribution().draw(generator, _sizes(inputs[0]), dtype).astype(self.result.numpy)


@op("random_normal", inputs="shape", signatures=("shape, mean, stddev, data_type",),
    file=FileArgs(floats=("mean", "stddev"), dtypes=("data_type?",)))
class RandomNormal(OfShape):
    """Gaussian with mean and standard deviation, in a shape given by a variable."""

    data_type: DataType | None = None
    mean: float = 0.0
    stddev: float = 1.0

    def distribution(self) -> RandomArray:
        return Normal(mean=self.mean, stddev=self.stddev)


@op("random_bernoulli", inputs="shape", signatures=("shape, p, data_type",),
    file=FileArgs(floats=("p",), dtypes=("data_type?",), properties={"p": "d:p"}))
class RandomBernoulli(OfShape):
    """1 with probability p, else 0, in a shape given by a variable."""

    data_type: DataType | None = None
    p: float = 0.5

    def distribution(self) -> RandomArray:
        return Bernoulli(p=self.p)


@op("randomuniform", inputs="shape low? high?", signatures=("shape, min, max, data_type", "shape, low, high"),
    file=FileArgs(ints=("data_type?:dtype",), floats=("min?", "max?"), dtypes=("~data_type",),
                  properties={"min": "d:min", "max": "d:max", "dataType": "s:data_type:dtype"}))
class RandomUniform(RandomOp):
    """Uniform from ``min`` up to, but without ``max``, of ``data_type``: FLOAT, other floats, or integers.

    ``low`` and ``high`` (scalars) count more than the attributes; the type is theirs, when no other is asked for.
    """

    min: float = 0.0
    max: float = 1.0
    data_type: DataType | None = None

    def infer(self, *specs: TensorSpec) -> Specs:
        """The shape that the input holds; unknown unless it is a constant."""
        if len(specs) == 2:
            raise GraphError("randomuniform takes both ends as inputs, or none")
        for end in specs[1:]:
            if end.is_static and math.prod(end.shape or ()) != 1:
                raise ShapeError(f"the ends must be one number each, got shape {end.shape}")
        if len(specs) == 1 and not self.min < self.max:
            raise GraphError(f"the range must ascend, got {self.min} to {self.max}")
        dtype = self.data_type or (specs[1].dtype if len(specs) > 1 else DataType.FLOAT)
        if not (dtype.is_floating or dtype.is_integer):
            raise DataTypeError(f"random numbers need a floating or integer type, got {dtype.name}")
        return TensorSpec(_shape_of(specs[0]), dtype)

    def draw(self, generator: np.random.Generator, *inputs: Any) -> Any:
        """Uniform numbers; integers where the type is one of integers."""
        shape = _sizes(inputs[0])
        if len(inputs) > 1 and (inputs[1].size != 1 or inputs[2].size != 1):
            raise ShapeError(f"the ends must be one number each, got shapes {inputs[1].shape} and {inputs[2].shape}")
        low, high = (inputs[1].item(), inputs[2].item()) if len(inputs) > 1 else (self.min, self.max)
        if not low < high:
            raise GraphError(f"the range must ascend, got {low} to {high}")
        dtype = self.data_type.numpy if self.data_type else inputs[1].dtype if len(inputs) > 1 else np.dtype(np.float32)
        if dtype.kind in "iu":
            return generator.integers(math.ceil(low), math.ceil(high), shape).astype(dtype)
        wide = np.dtype(np.float64 if dtype == np.float64 else np.float32)
        return Uniform(min=float(low), max=float(high)).draw(generator, shape, wide).astype(dtype)


@attributes
class Seeded(RandomOp):
    """The same numbers in every run where one of the ``seeds`` is not 0, as in DL4J's files."""

    seeds: tuple[int, ...] = ()

    def compute(self, xp: Any, *inputs: Any, context: Any) -> Any:  # type: ignore[override]  # stateful ops get the context
        """Draw from a generator of the seeds, where there are some."""
        return self.draw(np.random.default_rng([n % 2**64 for n in self.seeds]) if any(self.seeds) else context.random(), *inputs)


class WithParameters(Seeded):
    """For every element of the parameters, broadcast, an array of ``shape``.  Shapes: shape + shape of the parameters."""

    least: ClassVar[float] = 0.0

    def infer(self, *specs: TensorSpec) -> Specs:
        require_floating(self.id, *specs[1:])
        require_same_type(self.id, *specs[1:])
        shape, inner = _shape_of(specs[0]), broadcast(*(s.shape for s in specs[1:]))
        return TensorSpec(None if shape is None or inner is None else (*shape, *inner), specs[1].dtype)

    def draw(self, generator: np.random.Generator, *inputs: Any) -> Any:
        """Numbers drawn with parameters in double precision."""
        shape, parameters = _sizes(inputs[0]), np.broadcast_arrays(*(p.astype(np.float64) for p in inputs[1:]))
        if any(not (p >= 0).all() for p in parameters):
            raise GraphError(f"the parameters of {self.id} must not be negative or NaN")
        return self.numbers(generator, (*shape, *parameters[0].shape), *parameters).astype(inputs[1].dtype)

    def numbers(self, generator: np.random.Generator, shape: tuple[int, ...], *parameters: Any) -> Any:
        """Numbers drawn from the distribution."""
        raise NotImplementedError(f"{type(self).__name__} must implement numbers(self, generator, shape, *parameters)")


@op("random_gamma", inputs="shape alpha beta?", signatures=("shape, alpha, beta, *seeds",), file=FileArgs(ints=("*seeds",)))
class RandomGamma(WithParameters):
    """Gamma with shape parameters ``alpha`` and rates ``beta`` (1): the mean is alpha / beta.

    Shapes: shape (k) integer, alpha and beta broadcast to (*S) -> (*shape, *S).
    """

    def numbers(self, generator: np.random.Generator, shape: tuple[int, ...], *parameters: Any) -> Any:
        """Numbers of rate 1, scaled."""
        if len(parameters) > 1 and not (parameters[1] > 0).all():
            raise GraphError("the rates beta of random_gamma must be positive")
        drawn = generator.standard_gamma(parameters[0], shape)
        return drawn / parameters[1] if len(parameters) > 1 else drawn


@op("random_poisson", inputs="shape rate", signatures=("shape, rate, *seeds",), file=FileArgs(ints=("*seeds",)))
class RandomPoisson(WithParameters):
    """Poisson with means ``rate``.  Shapes: shape (k) integer, rate (*S) -> (*shape, *S)."""

    def numbers(self, generator: np.random.Generator, shape: tuple[int, ...], *parameters: Any) -> Any:
        """Numbers drawn from the Poisson distribution."""
        try:
            return generator.poisson(parameters[0], shape)
        except ValueError as error:
            raise GraphError(f"random_poisson cannot draw with such a mean: {error}") from error


@op("random_multinomial", inputs="logits samples", file=FileArgs(ints=("dimension", "data_type?:dtype")))
class RandomMultinomial(RandomOp):
    """Class indices drawn with probabilities softmax(logits); ``dimension`` is the axis of the batch, the other one holds the classes.

    Shapes: logits of rank 2, samples () integer -> the logits' shape with as many samples in place of the classes, LONG.
    """

    dimension: int = -1
    data_type: DataType | None = None

    def infer(self, *specs: TensorSpec) -> Specs:
        """The shape of the logits with samples in place of classes."""
        logits, samples = specs
        require_floating(self.id, logits)
        require_integer("samples", samples)
        result = self.data_type or DataType.LONG
        if not result.is_integer:
            raise DataTypeError(f"class indices are integers, got {result.name}")
        if logits.rank not in (None, 2):
            raise ShapeError(f"logits need rank 2, got {logits.shape}")
        batch = normalize_axis(self.dimension, 2)
        known = ints_of(samples)
        if known is not None:
            self.count(known)
        n = -1 if logits.shape is None else logits.shape[batch]
        return TensorSpec(tuple(n if i == batch else -1 if known is None else known[0] for i in (0, 1)), result)

    def count(self, values: Any) -> int:
        """The number of samples; ShapeError unless it is a single number, not negative."""
        if len(values) != 1 or int(values[0]) < 0:
            raise ShapeError(f"the number of samples is one number, not negative; got {list(values)}")
        return int(values[0])

    def draw(self, generator: np.random.Generator, *inputs: Any) -> Any:
        """The largest of logits plus Gumbel noise."""
        logits, samples = inputs
        batch = normalize_axis(self.dimension, 2)
        rows = logits.astype(np.float64) if batch == 0 else logits.T.astype(np.float64)
        if not rows.shape[1]:
            raise ShapeError("there are no classes to draw from")
        found = np.empty((len(rows), self.count(samples.reshape(-1))), (self.data_type or DataType.LONG).numpy)
        for k in range(found.shape[1]):                 # a sample at a time: classes times samples may not fit
            found[:, k] = (rows + generator.gumbel(size=rows.shape)).argmax(axis=1)
        return found if batch == 0 else found.T


@op("random_shuffle", inputs="x", signatures=("x, *seeds",), file=FileArgs(ints=("*seeds",)))
class RandomShuffle(Seeded):
    """The slices of x along its first axis in random order."""

    inputs = "x"

    def infer(self, *specs: TensorSpec) -> Specs:
        return TensorSpec(specs[0].shape, specs[0].dtype)

    def draw(self, generator: np.random.Generator, *inputs: Any) -> Any:
        """The rows in a random order; every order is equally likely."""
        (x,) = inputs
        return x[generator.permutation(len(x))] if x.ndim else x.copy()
