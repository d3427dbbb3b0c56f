"""Random arrays: numbers of the run's counter-based generator, new in every iteration, equal for equal seeds."""
from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from ...base.datatype import DataType
from ...base.spec import TensorSpec
from ...codecs.file_args import FileArgs
from ...errors import DataTypeError, GraphError
from ...families.array_code.graph_namespace import on_graph
from ...families.array_code.graph_random import GraphContext
from ...families.array_code.symbolic_size import NotInGraphError
from ...ir.graph_class import graph_class
from ...ir.op import Expandable, Op, Specs, op
from ...ir.run_context import RunContext


def _file(*floats: str, **properties: str) -> FileArgs:
    return FileArgs(floats=floats, properties={"shape": "l[]:shape", "dataType": "s:data_type:dtype",
                                               **{name.rstrip("_"): slot for name, slot in properties.items()}})


class RandomArray(Op):
    """An array drawn from a distribution, of ``data_type`` and a shape given as numbers or as an integer variable.

    Sub-classes implement ``draw(generator, shape, dtype)``; ``dtype`` is float32 or float64.
    """

    inputs = "shape_variable?"
    stateful = True
    gradient = "none"
    data_type: DataType = DataType.FLOAT
    shape: tuple[int, ...] = ()

    def __init_subclass__(cls) -> None:
        own = inspect.get_annotations(cls)
        cls.__annotations__ = {**own, "data_type": DataType, "shape": tuple[int, ...]}
        cls.data_type, cls.shape = DataType.FLOAT, ()
        head = "".join(f"{name}, " for name in own)
        cls.signatures = (f"{head}data_type, *shape", f"{head}*shape", f"{head}data_type, shape_variable")

    def infer(self, *specs: TensorSpec) -> Specs:
        """The shape that the op was given."""
        if not self.data_type.is_floating:
            raise DataTypeError(f"random numbers need a floating type, got {self.data_type.name}; use cast_to for others")
        self.check()
        if not specs or specs[0] is None:
            if any(n < 0 for n in self.shape):
                raise GraphError(f"shape {self.shape} has a negative size")
            return TensorSpec(self.shape, self.data_type)
        given = specs[0]
        if not given.dtype.is_integer:
            raise DataTypeError(f"a shape must consist of integers, got {given.dtype.name}")
        if given.value is not None:
            return TensorSpec(tuple(int(n) for n in given.value.reshape(-1)), self.data_type)
        known = given.is_static and given.shape is not None and len(given.shape) == 1
        return TensorSpec((-1,) * given.shape[0] if known else None, self.data_type)  # type: ignore[index]

    def check(self) -> None:
        """Raise GraphError for parameters that make no distribution."""

    def compute(self, xp: Any, *inputs: Any, context: Any) -> Any:  # type: ignore[override]  # stateful ops get the context
        """Draw from the generator of this node and iteration."""
        shape = tuple(int(n) for n in inputs[0].reshape(-1)) if inputs and inputs[0] is not None else self.shape
        dtype = np.dtype(np.float64 if self.data_type is DataType.DOUBLE else np.float32)
        return self.draw(context.random(), shape, dtype)

    def draw(self, generator: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
        """Numbers drawn from the distribution."""
        raise NotImplementedError(f"{type(self).__name__} must implement draw(self, generator, shape, dtype)")


class ScaledArray(RandomArray):
    """A random array of what ``base``, a method of NumPy's generators, draws and ``scaled(xp, x, dtype)`` scales: nodes in plans."""

    base = ""

    def draw(self, generator: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
        """Numbers drawn, and scaled."""
        return self.scaled(np, getattr(generator, self.base)(shape, dtype), dtype)

    def scaled(self, xp: Any, x: Any, dtype: np.dtype[Any]) -> Any:
        """The numbers of the distribution, of those that ``base`` draws."""
        raise NotImplementedError(f"{type(self).__name__} must implement scaled(self, xp, x, dtype)")

    def plan_rewrite(self, name: str) -> Expandable | None:
        """The nodes that plans run; half precision is drawn in float32 and converted."""
        return RandomNodes(self, name) if self.data_type in (DataType.FLOAT, DataType.DOUBLE) else None


@op("random_nodes", inputs="", stateful=True, gradient="none")
class RandomNodes(Expandable):
    """The random array of node ``of`` as nodes (made by plans)."""

    is_shared = True
    array: Any
    of: str

    def infer(self, *specs: TensorSpec) -> Specs:
        return self.array.infer(*specs)  # type: ignore[no-any-return]

    def compute(self, xp: Any, *inputs: Any, context: RunContext) -> Any:  # type: ignore[override]  # stateful ops get the context
        """The numbers that the array draws."""
        return self.array.compute(xp, *inputs, context=context.at(self.of))

    def expand(self, *inputs: Any) -> Any:
        """What the generator draws, scaled; a shape must be known."""
        if any(v is not None for v in inputs):
            raise NotInGraphError("the shape of a random array is known in a run only")
        shape, dtype = self.array.shape, np.dtype(self.array.data_type.numpy)

        def code(xp: Any) -> Any:
            drawn = getattr(GraphContext(xp.functions, True, self.of).random(), self.array.base)(shape, dtype)
            return self.array.scaled(xp, drawn, dtype)
        return on_graph(graph_class()(), code, [])


def _probability(p: float) -> None:
    if not 0 <= p <= 1:
        raise GraphError(f"a probability lies between 0 and 1, got {p}")


def _deviation(stddev: float) -> None:
    if not stddev >= 0:
        raise GraphError(f"a standard deviation is not negative, got {stddev}")


@op("distribution_uniform", api="random.uniform", file=_file("min", "max", from_="d:min", to="d:max"))
class Uniform(ScaledArray):
    """Uniform on [min, max)."""

    base = "random"
    min: float
    max: float

    def scaled(self, xp: Any, x: Any, dtype: np.dtype[Any]) -> Any:
        """From [0, 1); rounding never reaches ``max``."""
        x = x * dtype.type(self.max - self.min) + dtype.type(self.min)
        return xp.where(x >= self.max, np.nextafter(dtype.type(self.max), dtype.type(self.min)), x) if self.max > self.min else x


@op("distribution_gaussian", api="random.normal", file=_file("mean", "stddev", mean="d:mean", stddev="d:stddev"))
class Normal(ScaledArray):
    """Gaussian with mean and standard deviation."""

    base = "standard_normal"
    mean: float
    stddev: float

    def check(self) -> None:
        _deviation(self.stddev)

    def scaled(self, xp: Any, x: Any, dtype: np.dtype[Any]) -> Any:
        """Standard normal numbers, scaled and shifted."""
        return x * dtype.type(self.stddev) + dtype.type(self.mean)


@op("distribution_lognormal", api="random.log_normal", file=_file("mean", "stddev", mean="d:mean", stddev="d:stddev"))
class LogNormal(ScaledArray):
    """e to the power of a Gaussian with mean and standard deviation."""

    base = "standard_normal"
    mean: float
    stddev: float

    def check(self) -> None:
        _deviation(self.stddev)

    def scaled(self, xp: Any, x: Any, dtype: np.dtype[Any]) -> Any:
        """The exponential of a Gaussian."""
        return xp.exp(x * dtype.type(self.stddev) + dtype.type(self.mean))


@op("distribution_truncated", api="random.normal_truncated random.truncated_normal",
    file=_file("mean", "stddev", mean="d:mean", stddev="d:stddev"))
class TruncatedNormal(RandomArray):
    """Gaussian within two standard deviations of the mean: values outside are drawn again."""

    mean: float
    stddev: float

    def check(self) -> None:
        _deviation(self.stddev)

    def draw(self, generator: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
        """Normal numbers, redrawn until all lie within two standard deviations."""
        z = np.asarray(generator.standard_normal(shape, dtype)).reshape(-1)
        outside = np.flatnonzero(abs(z) > 2)
        while outside.size:
            z[outside] = generator.standard_normal(outside.size, dtype)
            outside = outside[abs(z[outside]) > 2]
        return z.reshape(shape) * dtype.type(self.stddev) + dtype.type(self.mean)


@op("distribution_bernoulli", api="random.bernoulli", file=_file("p", prob="d:p"))
class Bernoulli(ScaledArray):
    """1 with probability p, else 0."""

    base = "random"
    p: float

    def check(self) -> None:
        _probability(self.p)

    def scaled(self, xp: Any, x: Any, dtype: np.dtype[Any]) -> Any:
        """Uniform numbers compared with p."""
        return (x < self.p).astype(dtype)


@op("distribution_binomial", api="random.binomial", file=_file("n_trials:int", "p", trials="i:n_trials", probability="d:p"))
class Binomial(RandomArray):
    """Number of successes in ``n_trials`` trials of probability p."""

    n_trials: int
    p: float

    def check(self) -> None:
        _probability(self.p)
        if self.n_trials < 0:
            raise GraphError(f"the number of trials is not negative, got {self.n_trials}")

    def draw(self, generator: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
        return np.asarray(generator.binomial(self.n_trials, self.p, shape)).astype(dtype)


@op("random_exponential", api="random.exponential", file=FileArgs(
    ints=("*shape",), floats=("lambda_",), dtypes=("data_type",),
    properties={"lambda": "d:lambda_", "shape": "l[]:shape", "dtype": "s:data_type:dtype"}, added={"shape_variable": "LONG:shape"}))
class Exponential(RandomArray):
    """Exponential with the given rate: density rate e^(-rate x); the mean is 1 / rate."""

    lambda_: float

    def check(self) -> None:
        if not self.lambda_ > 0:
            raise GraphError(f"the rate of an exponential distribution must be positive, got {self.lambda_}")

    def draw(self, generator: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
        """Numbers of rate 1, scaled."""
        return generator.standard_exponential(shape, dtype) / dtype.type(self.lambda_)
