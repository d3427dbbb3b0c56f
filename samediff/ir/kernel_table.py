"""The kernels of a back end by the class of their op."""
from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Generic, TypeVar
from weakref import WeakKeyDictionary

from .op import Copies, Op, SweepOf

Rule = Callable[..., Any]
RuleType = TypeVar("RuleType", bound=Rule)
K = TypeVar("K")      # a back end's type of kernels

#: The package whose ops say of themselves what all of them compute.
_OWN = ("dl4py",)


def _is_meant(parent: type[Op], cls: type[Op], packages: Iterable[str]) -> bool:
    """Whether a rule for a parent is for what ``cls`` computes: who wrote it knew the parent and the classes of these packages."""
    if cls.compute is parent.compute:
        return True
    author = next(c for c in cls.__mro__ if "compute" in vars(c))
    ours = [any(f"{c.__module__}.".startswith(f"{p}.") for p in packages) for c in (parent, author)]
    return ours[1] or (not ours[0] and parent.compute is Op.compute)


class KernelTable(Generic[K]):
    """Functions ``rule(op, *specs)`` that make the kernel of an op for static inputs, or None where there is none.

    A class without a rule takes that of its parent, unless it says otherwise what it computes. Ops of other distributions may say
    theirs themselves, as a method with the name of the back end. Modules with rules are imported when one of their ops is first asked for.

    Where no rule makes a kernel, the op has that of another op (:meth:`.Op.kernel_op`), of a sweep (:meth:`.Op.as_sweep`) or of copies
    (:meth:`.Op.copies`), if it says so.

    Parameters
    ----------
    name : str
        Name of the back end, and of the method of ops.
    folders : mapping, optional
        Packages of ops and those with their rules, as for :meth:`add_folder`.
    copied : callable, optional
        ``copied(copies, inputs)`` makes the kernel of any op with so many inputs that only moves elements.
    swept : callable, optional
        ``swept(sweep, specs)`` makes the kernel of any op that is a sweep over inputs of these specs (None: left out), or gives None.

    Examples
    --------
    >>> from dl4py.samediff.ir.kernel_table import KernelTable
    >>> from dl4py.samediff.ops.elementwise.activations import Relu
    >>> table = KernelTable("toy")
    >>> @table.register(Relu)
    ... def relu(op, x):
    ...     return f"relu of {x}"
    >>> table.kernel(Relu(), "x")
    'relu of x'
    """

    def __init__(self, name: str, folders: Mapping[str, str] | None = None, copied: Callable[[Copies, int], K] | None = None,
                 swept: Callable[[SweepOf, Sequence[Any]], K | None] | None = None) -> None:
        self.name = name
        self._copied, self._swept = copied, swept
        self._rules: dict[type[Op], Rule] = {}
        self._folders = dict(folders or {})
        self._imported: set[str] = set()
        self._found: WeakKeyDictionary[type[Op], Rule | None] = WeakKeyDictionary()

    def add_folder(self, ops: str, rules: str) -> None:
        """Rules for the ops of a package stand in modules of the same names in another package; the innermost package counts."""
        self._folders[ops] = rules
        self._found = WeakKeyDictionary()

    def register(self, *classes: type[Op]) -> Callable[[RuleType], RuleType]:
        """Decorate the rule of these classes; a later one takes the place of an earlier one."""
        def registered(rule: RuleType) -> RuleType:
            self._rules.update(dict.fromkeys(classes, rule))
            self._found = WeakKeyDictionary()
            return rule
        return registered

    def find(self, cls: type[Op]) -> Rule | None:
        """The rule of a class or of its nearest parent."""
        found = self._found             # a rule registered meanwhile replaces it: what was found before goes with the old one
        if cls in found:
            return found[cls]
        rule = found[cls] = self._search(cls)
        return rule

    def has(self, cls: type[Op]) -> bool:
        """Whether a kernel was written for a class; a class that can do without says so itself (``has_cpu()``, ``has_cuda()``)."""
        own = getattr(cls, f"has_{self.name}", None)
        if own is not None:
            return bool(own())
        return self.find(cls) is not None or self._says(cls, "kernel_op") or self._sweeps(cls) or self._moves(cls)

    def kernel(self, op: Op, *specs: Any) -> K | None:
        """The kernel of an op for inputs of these static specs (None: left out); None: ``compute`` is run."""
        rule = self.find(type(op))
        made: K | None = None if rule is None else rule(op, *specs)
        return self._declared(op, specs) if made is None else made

    def _declared(self, op: Op, specs: Sequence[Any]) -> K | None:
        """The kernel of an op by what its class says of it."""
        cls = type(op)
        if self._says(cls, "kernel_op"):
            other = op.kernel_op(*specs)
            return None if other is None else self.kernel(other, *specs)
        if self._swept is not None and self._sweeps(cls):
            sweep = op.as_sweep(*specs) if all(s is None or s.is_static for s in specs) else None
            return None if sweep is None else self._swept(sweep, specs)
        if self._copied is not None and self._moves(cls):
            served = all(s is not None and s.is_static and s.dtype.is_numeric for s in specs)
            copies = op.copies(*specs) if served else None
            return None if copies is None else self._copied(copies, len(specs))
        return None

    def _says(self, cls: type[Op], method: str) -> bool:
        """Whether an op class has a method that is for what it computes."""
        author = next(c for c in cls.__mro__ if method in vars(c))
        return author is not Op and _is_meant(author, cls, _OWN)

    def _sweeps(self, cls: type[Op]) -> bool:
        return self._swept is not None and self._says(cls, "as_sweep")

    def _moves(self, cls: type[Op]) -> bool:
        """Whether an op class declares what it copies, itself or by the parent that defines its ``compute``."""
        author = next(c for c in cls.__mro__ if "copies" in vars(c) or "compute" in vars(c))
        return self._copied is not None and "copies" in vars(author) and author is not Op

    def _search(self, cls: type[Op]) -> Rule | None:
        for parent in cls.__mro__:
            self._import_rules(parent.__module__)
            found = self._rules.get(parent) or parent.__dict__.get(self.name)
            if found is not None and _is_meant(parent, cls, self._folders):
                return found  # type: ignore[no-any-return]
        return None

    def _import_rules(self, module: str | None) -> None:        # code made by exec has none
        ops = max((p for p in self._folders if module is not None and module.startswith(f"{p}.")), key=len, default=None)
        if ops is None or module is None or module in self._imported:
            return
        name = self._folders[ops] + module.removeprefix(ops)
        try:
            importlib.import_module(name)
        except ModuleNotFoundError as error:        # there is no module of that name; another that it needs is an error
            if error.name is None or not f"{name}.".startswith(f"{error.name}."):
                raise
        self._imported.add(module)
