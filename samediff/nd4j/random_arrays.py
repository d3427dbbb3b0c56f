"""Random arrays and numbers, equal to DL4J's for equal seeds."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..arrays import INDArray
from ..arrays.computing import draws
from ..arrays.default_type import default_type
from ..arrays.plain_arguments import whole, wholes
from ..arrays.recording import state
from ..base.datatype import DataType
from ..base.java_names import RandomNames
from ..base.spec import normalize_axis
from ..data.sets.java_random import JavaRandom, next_order
from ..errors import GraphError
from ..initializers.nd4j_random import Nd4jRandom, get_random
from ..ir.translate_errors import refusing
from .arguments import axes_of, flat, is_order, is_size, is_sizes, is_type


def tell_recorder() -> None:
    """Say that numbers are drawn at once, which replays of what is recorded would not do."""
    if state.recorder is not None:
        state.recorder.drawing()


class Random(RandomNames):
    """DL4J's generator: numbers one by one, and arrays where a shape is given (``nextDouble(2, 3)``, ``nextGaussian('f', [2, 3])``).

    Parameters
    ----------
    seed : int, optional
        64 bits; 0 takes the present time in milliseconds, as ND4J does, None asks the operating system.
    generator : Nd4jRandom, optional
        A generator to draw from, in place of one with a seed.

    Examples
    --------
    >>> Random(42).next_int()
    1624890951
    >>> Random(42).next_double(2).tolist()
    [0.19913864135742188, 0.37832438945770264]
    """

    def __init__(self, seed: int | None = None, generator: Nd4jRandom | None = None) -> None:
        self._generator = Nd4jRandom(seed) if generator is None else generator

    @property
    def generator(self) -> Nd4jRandom:
        """The generator, for drawing."""
        tell_recorder()
        return self._generator

    def set_seed(self, seed: int) -> None:
        """Start again; for the process-wide generator, random ops on arrays (``Nd4j.random``) start again too."""
        self._generator.set_seed(seed)
        if self._generator is get_random():
            draws.seed = int(seed)

    re_seed = set_seed

    def get_seed(self) -> int:
        """The seed that was set last."""
        return self._generator.get_seed()

    def root_state(self) -> int:
        """The first word of the state."""
        return self._generator.root_state()

    def node_state(self) -> int:
        """The second word of the state, which each draw changes."""
        return self._generator.node_state()

    def next_int(self, *bounds: int) -> int:
        """A whole number from 0 to 2^31 - 2; below a bound; from a first bound to below a second one."""
        return self.generator.next_int(*bounds)

    def next_long(self) -> int:
        """A whole number from 0 to 2^63 - 2."""
        return self.generator.next_long()

    def next_boolean(self) -> bool:
        """A truth value."""
        return self.generator.next_boolean()

    def next_double(self, *shape: Any) -> Any:
        """A number from 0 to below 1, or an array of them."""
        return self._array(self.generator.uniform, shape) if shape else self.generator.next_double()

    next_float = next_double

    def next_gaussian(self, *shape: Any) -> Any:
        """A number from N(0, 1), or an array of them."""
        return self._array(self.generator.normal, shape) if shape else self.generator.next_gaussian()

    @staticmethod
    def _array(draw: Callable[..., Any], args: Sequence[Any]) -> INDArray:
        order = next((a for a in args if is_order(a)), "c")
        sizes = [int(n) for n in flat(args) if not is_order(n)]
        return INDArray.of(draw(tuple(sizes), dtype=default_type(), order=order))

    def __repr__(self) -> str:
        return f"Random({self._generator!r})"


_SHARED = Random(generator=get_random())


class _Draw:
    """The arguments of ``rand`` and ``randn``, read."""

    def __init__(self, what: str, args: Sequence[Any]) -> None:
        tell_recorder()
        self.generator = get_random()
        self.order, self.kind = "c", default_type()
        self.target: Any = None
        self.distribution: Any = None
        self.bounds: list[float] = []
        listed = any(isinstance(a, (list, tuple, np.ndarray)) for a in args)
        given_random = [i for i, a in enumerate(args) if isinstance(a, (Random, Nd4jRandom))]
        bounded = given_random and given_random[0] == 2 and len(args) > 3      # rand(low, high, rng, sizes ...)
        sizes: list[int] = []
        numbers: list[Any] = []
        for i, value in enumerate(args):
            if isinstance(value, (Random, Nd4jRandom)):
                self.generator = value.generator if isinstance(value, Random) else value
            elif is_type(value):
                self.kind = DataType.storable(value)
            elif is_order(value):
                self.order = value
            elif is_sizes(value):
                sizes += [int(n) for n in value]
            elif hasattr(value, "__array__") and not isinstance(value, np.generic):
                self.target = value
            elif hasattr(value, "sample"):
                self.distribution = value
            elif is_size(value) and not listed and not (bounded and i < 2):
                sizes.append(int(value))
            elif isinstance(value, (int, float, np.number)):
                numbers.append(value)
            else:
                raise GraphError(f"{what} takes sizes, a DataType, an order, bounds, a seed, a generator or an array; got {value!r:.60}")
        if len(numbers) == 1:
            self.generator.set_seed(whole(numbers[0], "a seed"))
        elif len(numbers) == 2:
            self.bounds = [float(n) for n in numbers]
        elif numbers:
            raise GraphError(f"{what} takes one seed, or two bounds; got {numbers}")
        self.shape = tuple(sizes)

    def done(self, draw: Callable[..., Any]) -> INDArray:
        """The numbers, in the target where one is given."""
        if self.distribution is not None:
            def draw(shape: Any, *_: Any, dtype: Any, order: Any) -> Any:
                return self.distribution.sample(self.generator, shape, order, dtype)
        if self.target is None:
            return INDArray.of(draw(self.shape, *self.bounds, dtype=self.kind, order=self.order))
        self.target[...] = draw(tuple(self.target.shape), *self.bounds, dtype=DataType.of(self.target.dtype), order="c")
        return self.target  # type: ignore[no-any-return]


@refusing("Nd4j")
class RandomArrays:
    """Random arrays of the process-wide generator ``Nd4j.getRandom()``, or of one that is given."""

    @staticmethod
    def get_random() -> Random:
        """The process-wide generator."""
        return _SHARED

    @staticmethod
    def rand(*args: Any) -> INDArray:
        """Draw from U(0, 1).

        Besides sizes (one by one or as a list) there may be a data type, an order, a generator, a seed (beside a list), two bounds, a
        distribution, or an array that is filled.

        Examples
        --------
        >>> from dl4py import Nd4j
        >>> Nd4j.getRandom().setSeed(42)
        >>> Nd4j.rand(2).tolist()
        [0.19913864135742188, 0.37832438945770264]
        """
        draw = _Draw("Nd4j.rand", args)
        return draw.done(draw.generator.uniform)

    @staticmethod
    def randn(*args: Any) -> INDArray:
        """Draw from N(0, 1): arguments as of ``rand``; two numbers are mean and deviation."""
        draw = _Draw("Nd4j.randn", args)
        return draw.done(draw.generator.normal)

    nrand = randn

    @staticmethod
    def randint(low: int, high: int, *shape: Any) -> INDArray:
        """Draw whole numbers from ``low`` to below ``high``, each alike; INT."""
        unit = get_random().uniform(wholes(flat(shape), "a size"), dtype=DataType.DOUBLE)
        return INDArray.of((low + np.floor(unit * (high - low))).astype(np.int32))

    @staticmethod
    def random_bernoulli(p: float, *shape: Any) -> INDArray:
        """Draw 1 with probability p, else 0; an array in place of sizes is filled."""
        draw = _Draw("Nd4j.randomBernoulli", shape)
        return draw.done(lambda s, **more: draw.generator.bernoulli(s, p, **more))

    @staticmethod
    def random_binomial(trials: int, p: float, *shape: Any) -> INDArray:
        """Draw the number of successes in so many trials of probability p."""
        draw = _Draw("Nd4j.randomBinomial", shape)
        return draw.done(lambda s, **more: draw.generator.binomial(s, trials, p, **more))

    @staticmethod
    def random_exponential(rate: float, *shape: Any) -> INDArray:
        """Draw from the exponential distribution."""
        draw = _Draw("Nd4j.randomExponential", shape)
        return draw.done(lambda s, **more: draw.generator.exponential(s, rate, **more))

    @staticmethod
    def choice(source: Any, probabilities: Any, count: Any, random: Any = None) -> INDArray:
        """Draw elements of a vector with the given probabilities: so many, or as many as fill an array."""
        tell_recorder()
        generator = get_random() if random is None else random.generator if isinstance(random, Random) else random
        if is_size(count):
            return INDArray.of(generator.choice(np.asarray(source), np.asarray(probabilities), (int(count),)))
        count[...] = generator.choice(np.asarray(source), np.asarray(probabilities), tuple(count.shape))
        return count  # type: ignore[no-any-return]

    @staticmethod
    def shuffle(arrays: Any, *how: Any) -> None:
        """Shuffle slices in place: those on the given axes, which are the axes of a slice, by default all but the first.

        Parameters
        ----------
        arrays : INDArray or list of INDArray
            Those of a list are shuffled alike.
        *how : a generator (optional), axes
            A ``JavaRandom`` gives DL4J's order for a ``java.util.Random`` of that seed; without one ``Nd4j.getRandom()`` decides
            (DL4J: another order each time).
        """
        kinds = (Random, Nd4jRandom, JavaRandom)
        generator = next((a for a in how if isinstance(a, kinds)), _SHARED)
        axes = axes_of([a for a in how if not isinstance(a, kinds)])
        given = list(arrays) if isinstance(arrays, (list, tuple)) else [arrays]
        moved = []
        for x in given:
            inner = {normalize_axis(a, x.ndim) for a in axes} if axes else set(range(1, x.ndim))
            outer = [a for a in range(x.ndim) if a not in inner]
            moved.append((np.asarray(x), outer))
        x, outer = moved[0]
        at: Any = list(range(int(np.prod([x.shape[a] for a in outer], dtype=int))))
        if isinstance(generator, JavaRandom):
            at = next_order(len(at), generator)
        else:
            for i in range(len(at) - 1, 0, -1):
                j = generator.next_int(i + 1)
                at[i], at[j] = at[j], at[i]
        for x, outer in moved:
            rows = np.moveaxis(x, outer, range(len(outer)))
            sizes = rows.shape[:len(outer)]
            rows[...] = rows.reshape(-1, *rows.shape[len(outer):])[at].reshape(*sizes, *rows.shape[len(outer):])
