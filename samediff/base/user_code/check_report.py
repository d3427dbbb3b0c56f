"""Reports of what checks of ops, layers and other plug-ins found."""
from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Any, Self

from ...errors import ConfigurationError, DL4PyError, did_you_mean
from .process_state import changed_by, settings


@dataclass(frozen=True)
class Check:
    """One thing that was looked at.

    Parameters
    ----------
    name : str
        What was looked at.
    passed : bool
        Whether it was as it should be.
    detail : str
        What was found: a difference, a shape, or what is wrong.
    """

    name: str
    passed: bool
    detail: str = ""


class CheckFailure(Exception):
    """A check that failed, with what was found."""


#: Where a process tells what it begins to check, (subject, name), and what it found.
watched: list[Callable[[Any], None]] = []


@dataclass
class CheckReport:
    """The results of a check; ``str(report)`` is a readable list.

    Parameters
    ----------
    subject : str
        What was checked: ``"op 'tanh'"``, ``"layer LSTM"``.
    checks : list of Check
        What was looked at, in this order.
    settings : dict
        Of the process, as they were before anything ran.
    """

    subject: str
    checks: list[Check] = field(default_factory=list)
    settings: dict[str, Any] = field(default_factory=settings, repr=False, compare=False)

    @property
    def passed(self) -> bool:
        """True when nothing failed."""
        return all(c.passed for c in self.checks)

    @property
    def failures(self) -> list[Check]:
        """The checks that failed."""
        return [c for c in self.checks if not c.passed]

    def __str__(self) -> str:
        width = max((len(c.name) for c in self.checks), default=0)
        failed = len(self.failures)
        head = f"{failed} of {len(self.checks)} checks failed" if failed else f"all {len(self.checks)} checks passed"
        lines = [f"  {'ok  ' if c.passed else 'FAIL'}  {c.name:<{width}}  {c.detail}".rstrip() for c in self.checks]
        return "\n".join([f"{self.subject}: {head}", *lines])

    def raise_if_failed(self) -> None:
        """AssertionError with the whole report, for tests."""
        if not self.passed:
            raise AssertionError(str(self))

    raiseIfFailed = raise_if_failed

    def permit(self, allow: Collection[str]) -> Self:
        """Let checks of these names fail, because it is intended; ConfigurationError for names that no check has."""
        allow, names = [allow] if isinstance(allow, str) else allow, dict.fromkeys(c.name for c in self.checks)
        self.checks = [c if c.passed or c.name not in allow else Check(c.name, True, f"allowed: {c.detail}") for c in self.checks]
        for name in allow if self.passed else ():          # where something failed, others may not have been run
            if name not in names:
                raise ConfigurationError(f"allow: {self.subject} has no check {name!r}{did_you_mean(name, names)}; there are "
                                         f"{', '.join(map(repr, names))}")
        return self

    def run(self, name: str, check: Callable[[], str | None]) -> bool:
        """Add a check: it passes with the text that it returns, or fails with the exception that it raises."""
        for tell in watched:
            tell((self.subject, name))
        try:
            self.checks.append(Check(name, True, check() or ""))
        except Exception as error:  # whatever a plug-in does wrong belongs into the report
            text = str(error) if isinstance(error, (CheckFailure, DL4PyError, AssertionError)) else f"{type(error).__name__}: {error}"
            self.checks.append(Check(name, False, "; ".join([text, *getattr(error, "__notes__", [])])))
        for tell in watched:
            tell(self.checks[-1])
        return self.checks[-1].passed


def process_stays(report: CheckReport, call: Callable[[], Any]) -> None:
    """CheckFailure where a call changes what all code of the process shares."""
    changed = changed_by(call, report.settings)
    if changed:
        raise CheckFailure(f"it changes, for all other code of the process too, {changed}")


def require_instance(check: str, value: Any, base: type, example: str) -> None:
    """ConfigurationError unless a check was given an object of a class: often it is the class itself."""
    if isinstance(value, base):
        return
    if isinstance(value, type) and issubclass(value, base):
        raise ConfigurationError(f"{check} takes an object, such as {example}; got the class {value.__name__}: write {value.__name__}(...) "
                                 "with its options")
    raise ConfigurationError(f"{check} takes a {base.__name__}, such as {example}; got {type(value).__name__} {value!r:.60}")
