"""Checks of graphs under ND4J's names: gradients by differences, expected values, saving and loading."""
from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ..base.datatype import DataType
from ..base.java_names import GradCheckUtilNames, TestCaseNames
from ..base.javanames import JavaSpelling
from ..errors import ConfigurationError, DL4PyError, GradientError
from ..training.listeners.listeners import report

if TYPE_CHECKING:
    from .graph import SameDiff

Check = Callable[[Any], str | None]


class EqualityFn:
    """Calls with an array return None when it equals the expected one up to ``eps``, else a message.

    Parameters
    ----------
    expected : array
        What is expected.
    eps : float
        The largest absolute difference that is allowed; 1e-5 by default. NaN equals NaN.
    """

    def __init__(self, expected: Any, eps: float = 1e-5) -> None:
        self.expected, self.eps = np.asarray(expected), eps

    def apply(self, actual: Any) -> str | None:
        """Compare an array with the expected one: None where they agree, otherwise the difference as text."""
        found = np.asarray(actual)
        if found.shape != self.expected.shape:
            return f"shape {found.shape}, expected {self.expected.shape}"
        if np.allclose(found, self.expected, rtol=0, atol=self.eps, equal_nan=True):
            return None
        apart = np.abs(np.subtract(found, self.expected, dtype=np.float64))
        return f"differs by up to {np.nanmax(apart, initial=0):.3g}, at most {self.eps:g} is allowed"

    __call__ = apply


class RelErrorFn(EqualityFn):
    """As `EqualityFn` with a relative error, ``|a - b| / (|a| + |b|)``.

    Parameters
    ----------
    max_rel_error : float
        The largest relative error that is allowed.
    min_abs_error : float
        Differences up to this are allowed whatever their relative error.
    """

    def __init__(self, expected: Any, max_rel_error: float, min_abs_error: float) -> None:
        super().__init__(expected, min_abs_error)
        self.max_rel_error = max_rel_error

    def apply(self, actual: Any) -> str | None:
        found = np.asarray(actual, np.float64)
        if found.shape != self.expected.shape:
            return f"shape {found.shape}, expected {self.expected.shape}"
        apart = np.abs(found - self.expected)
        relative = apart / np.maximum(np.abs(found) + np.abs(self.expected), np.finfo(np.float64).tiny)
        wrong = ~((apart <= self.eps) | (relative <= self.max_rel_error))
        if not wrong.any():
            return None
        return f"{int(wrong.sum())} of {wrong.size} numbers are off, relative error up to {np.nanmax(relative):.3g}"

    __call__ = apply


class TestCase(TestCaseNames):
    """Expectations about a graph, for `OpValidation.validate` and `GradCheckUtil.check_gradients`.

    Parameters
    ----------
    same_diff : SameDiff
        The graph; with losses where gradients are checked.

    Examples
    --------
    >>> from dl4py.samediff import SameDiff
    >>> sd = SameDiff.create()
    >>> x = sd.var("x", np.array([1.0, 2.0]))
    >>> y = (x * x).sum("loss")
    >>> sd.set_loss_variables("loss")
    >>> OpValidation.validate(TestCase(sd).expected_output("loss", np.float64(5)))
    """

    __test__ = False        # not a test class, in spite of its name

    def __init__(self, same_diff: SameDiff) -> None:
        self.sd = same_diff
        self.placeholders: dict[str, Any] = {}
        self.expectations: dict[str, Check] = {}
        self.skipped: set[str] = set()
        self.masks: dict[str, Any] = {}
        self.name, self.check_gradient, self.check_saving = "", True, True
        self.eps, self.max_rel_error, self.min_abs_error = 1e-5, 1e-5, 1e-6

    def test_name(self, name: str) -> Self:
        """Name the case, for messages."""
        self.name = name
        return self

    def test_name_err_msg(self) -> str:
        """Return the name as it stands in messages."""
        return f" - {self.name}" if self.name else ""

    def expected_output(self, variable: Any, expected: Any, eps: float = 1e-5) -> Self:
        """Expect an array up to ``eps``."""
        return self.expected(variable, EqualityFn(expected, eps))

    def expected_output_rel_error(self, variable: Any, expected: Any, max_rel_error: float, min_abs_error: float) -> Self:
        """Expect an array up to a relative error."""
        return self.expected(variable, RelErrorFn(expected, max_rel_error, min_abs_error))

    def expected(self, variable: Any, wanted: Any) -> Self:
        """Expect an array, or what a function accepts: it returns None or a message."""
        name = self.sd.tables.names_in([variable])[0]
        self.expectations[name] = wanted if callable(wanted) else EqualityFn(wanted)
        return self

    def placeholder_value(self, variable: Any, value: Any) -> Self:
        """Give a placeholder its value."""
        self.placeholders[self.sd.tables.names_in([variable])[0]] = value
        return self

    def placeholder_values(self, values: Mapping[str, Any]) -> Self:
        """Give several placeholders their values."""
        self.placeholders |= values
        return self

    def grad_check_skip_variables(self, *names: Any) -> Self:
        """Leave variables out of the gradient check."""
        self.skipped |= set(self.sd.tables.names_in(names))
        return self

    def grad_check_mask(self, masks: Mapping[str, Any]) -> Self:
        """Check only the elements where the mask of a variable is true."""
        self.masks |= masks
        return self

    def gradient_check(self, wanted: bool) -> Self:
        """Whether to check gradients (the default)."""
        self.check_gradient = wanted
        return self

    def assert_config_valid(self) -> None:
        """Raise ConfigurationError when there is nothing to check."""
        if not self.check_gradient and not self.expectations and not self.check_saving:
            raise ConfigurationError(f"the test case checks nothing{self.test_name_err_msg()}")


class GradCheckUtil(GradCheckUtilNames):
    """Gradients of a graph against central differences, element by element."""

    @staticmethod
    def check_gradients(sd: SameDiff | TestCase, placeholder_values: Mapping[str, Any] | None = None, *skip_variables: Any,
                        eps: float = 1e-5, max_rel_error: float = 1e-5, min_abs_error: float = 1e-6,
                        grad_check_mask: Mapping[str, Any] | None = None, max_per_param: int | None = None) -> bool:
        """Return whether the gradients of all DOUBLE variables are right; the first wrong element is reported.

        Parameters
        ----------
        sd : SameDiff or TestCase
            With losses. Its variables come back as they were.
        placeholder_values : mapping
            Arrays by the names of placeholders.
        *skip_variables : names or variables
            Not to be checked.
        grad_check_mask : mapping
            Arrays of BOOL by variable: which elements to check.
        max_per_param : int, optional
            At most so many elements of a variable, evenly spread.

        Raises
        ------
        GradientError
            A floating variable is not DOUBLE, or there is none.
        """
        if isinstance(sd, TestCase):
            return GradCheckUtil.check_gradients(sd.sd, sd.placeholders, *sd.skipped, eps=sd.eps, max_rel_error=sd.max_rel_error,
                                                 min_abs_error=sd.min_abs_error, grad_check_mask=sd.masks)
        for line in _wrong(sd, placeholder_values or {}, set(sd.tables.names_in(skip_variables)), eps, max_rel_error, min_abs_error,
                           grad_check_mask or {}, max_per_param):
            report(line)
            return False
        return True


def _wrong(sd: SameDiff, feeds: Mapping[str, Any], skip: Collection[str], eps: float, max_rel: float, min_abs: float,
           masks: Mapping[str, Any], most: int | None) -> list[str]:
    names = [v.name() for v in sd.variables() if v.is_trainable() and v.dtype.is_floating and v.name() not in skip]
    narrow = [n for n in names if sd.variable(n).dtype is not DataType.DOUBLE]
    if narrow or not names:
        raise GradientError(f"differences need DOUBLE variables; not so: {', '.join(narrow)}" if narrow else "no variable to check")
    losses = sd.infer_loss_variables()

    def score() -> float:
        return sum(float(np.sum(a)) for a in sd.output(feeds, *losses).values())

    gradients = sd.calculate_gradients(feeds, *names)
    for name in names:
        start = np.array(sd.stored(name))
        chosen = np.flatnonzero(np.broadcast_to(masks.get(name, True), start.shape))
        if most is not None and len(chosen) > most:
            chosen = chosen[np.linspace(0, len(chosen) - 1, most).astype(int)]
        try:
            for i in chosen:
                scores = []
                for step in (eps, -eps):
                    moved = start.copy()
                    moved.flat[i] += step
                    sd.set_array(name, moved)
                    scores.append(score())
                expected, found = (scores[0] - scores[1]) / (2 * eps), float(gradients[name].flat[i])
                apart = abs(expected - found)
                if not (apart <= min_abs or apart / (abs(expected) + abs(found)) <= max_rel):
                    place = tuple(map(int, np.unravel_index(i, start.shape)))
                    return [f"gradient of {name}, element {place}: {found:.8g}, central difference {expected:.8g}"]
        finally:
            sd.set_array(name, start)
    return []


class OpValidation(JavaSpelling):
    """Checks of test cases, as in ND4J."""

    @staticmethod
    def validate(test_case: TestCase, exceptions_as_error_msg: bool = True) -> str | None:
        """Return None when outputs, saving and gradients are as expected, else a message.

        Parameters
        ----------
        test_case : TestCase
            A graph and what is expected of it.
        exceptions_as_error_msg : bool, default True
            Turn errors of dl4py into messages.
        """
        test_case.assert_config_valid()
        try:
            message = _failure(test_case)
        except DL4PyError as error:
            if not exceptions_as_error_msg:
                raise
            message = f"{type(error).__name__}: {error}"
        return None if message is None else message + test_case.test_name_err_msg()


def _failure(case: TestCase) -> str | None:
    graphs = [("", case.sd)]
    if case.check_saving:
        graphs.append((" after saving and loading", type(case.sd).from_flat_buffers(case.sd.as_flat_buffers())))
    for when, sd in graphs:
        values = sd.output(case.placeholders, *case.expectations) if case.expectations else {}
        for name, check in case.expectations.items():
            message = check(values[name])
            if message is not None:
                return f"variable {name!r}{when}: {message}"
    if case.check_gradient and not GradCheckUtil.check_gradients(case):
        return "gradient check failed"
    return None

