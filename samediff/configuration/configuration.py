"""The one base of every configuration object: updaters, schedules, losses, activations, layers, vertices, networks.

Write a class with annotated fields and decorate it with its full Java name::

    @configuration("org.nd4j.linalg.learning.config.Adam")
    class Adam(IUpdater):
        learning_rate: float = 1e-3
        learning_rate_schedule: ISchedule | None = field(default=None, omit_none=True)    # left out of JSON when None

It becomes a frozen dataclass with ``Adam(1e-2)``, ``Adam(learning_rate=1e-2)``,
``Adam.Builder().learningRate(1e-2).build()``, ``==``, ``repr``, ``replace(...)``, ``get_learning_rate()`` and
DL4J's JSON and YAML both ways. JSON keys follow Jackson (``n_in`` is ``nin``); ``field(json="iupdater")`` names
another. Values are checked and converted by annotation: enums from names, tuples from lists, a configuration from
what its class method ``of`` accepts. ``validate`` runs last. ``option(function)`` adds an option that is no field.
Without a Java name (``@configuration``) a class is abstract and passes its fields on. User classes register alike.
"""
from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Collection, Mapping
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, ClassVar, Self, SupportsIndex, TypeAlias

from ..base.home import settle
from ..base.java.old_names import other_option
from ..base.java_names import ConfigurationNames
from ..base.javanames import squash, to_snake
from ..base.user_code.abstract_methods import check_written
from ..base.user_code.user_methods import ResultCheck, upgraded, watch
from ..errors import ConfigurationError, UnsupportedVersionError, did_you_mean
from ..text.document_text import read_text
from ..text.json_order import key_order
from .builder import Builder, BuilderAccess
from .builder import Builder as BuilderOf
from .classes import by_name, find_class, root
from .declaring import describe_fields
from .names import FieldName
from .own_constructor import with_own_constructor
from .values import FieldInfo, convert, encode, same, short, show, write_json, write_yaml

Reader: TypeAlias = "Callable[[type[Configuration], Mapping[str, Any]], Configuration]"
#: Reads documents of any class where classes that are not registered get a stand-in in place of an error; see :mod:`.missing_class`.
lenient_reader: ContextVar[Reader | None] = ContextVar("lenient_reader", default=None)
_VERSION = "dl4pyVersion"       # of the class of a plug-in, where it is not the first
_WITHOUT_MEANING = ("layerparams", "vertexparams")      # what Java's base classes of user layers and vertices write for themselves


class _Signature:
    """``inspect.signature`` of a configuration class, made when somebody asks."""

    def __get__(self, instance: object, owner: type[Configuration]) -> inspect.Signature:
        kind = inspect.Parameter.KEYWORD_ONLY if owner._kw_only else inspect.Parameter.POSITIONAL_OR_KEYWORD
        empty = inspect.Parameter.empty
        return inspect.Signature([
            inspect.Parameter(f.name, kind, default=empty if f.required else f.default(), annotation=f.annotation)
            for f in sorted(owner._fields.values(), key=lambda f: not f.required)])


class UnknownOptionError(ConfigurationError, AttributeError):
    """An option or field that the class does not have."""


@root
class Configuration(ConfigurationNames):
    """Base of all configuration objects; see the module's docstring."""

    java_name: ClassVar[str] = ""
    json_tag: ClassVar[str] = "@class"
    json_first: ClassVar[tuple[str, ...]] = ()  # keys that Java writes first, of this very class: see text/json_order.py
    __signature__: ClassVar[Any] = _Signature()
    _fields: ClassVar[dict[str, FieldInfo]] = {}
    _options: ClassVar[dict[str, Callable[..., None]]] = {}
    _spellings: ClassVar[dict[str, str]] = {}
    _kw_only: ClassVar[bool] = False
    _open: ClassVar[bool] = False               # whether attributes may be set: of a copy that is being changed
    result_checks: ClassVar[Mapping[str, ResultCheck]] = {}     # what is looked at in results of methods that users write
    removed: ClassVar[Mapping[str, str]] = {}   # options of DL4J's older versions, squashed, and what is written instead
    _extra: dict[str, Any]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        settle(cls)
        watch(cls, cls.result_checks)
        if "__init__" in vars(cls) and not cls.__module__.startswith("dl4py."):
            with_own_constructor(cls, describe_fields)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        cls = type(self)
        self._fill(cls._bind(args, kwargs), {})
        self.validate_new()

    def _put(self, **values: Any) -> None:
        """Set fields as they are while the object is made, as :meth:`validate` may: afterwards it is frozen."""
        self.__dict__.update(values)

    def fill_defaults(self) -> None:
        """Begin an object with the default of every field."""
        if not any(info.required for info in type(self)._fields.values()):
            self._fill({}, {})

    def _fill(self, values: dict[str, Any], extra: dict[str, Any]) -> None:
        cls, state = type(self), self.__dict__
        check_written(cls)  # type: ignore[arg-type]  # classes are hashable
        state["_extra"] = extra
        for name, info in cls._fields.items():
            if name in values:
                if values[name] is None and not info.optional():
                    raise ConfigurationError(f"{cls.__name__}.{name}: None is not among the values that it takes; leave it out for the "
                                             "default")
                state[name] = convert(values[name], info.hint(), f"{cls.__name__}.{name}")
            elif info.required:
                raise ConfigurationError(f"{cls.__name__} needs {name}; given: {', '.join(values) or 'nothing'}")
            else:
                state[name] = info.default()
        self.validate()

    @classmethod
    def _bind(cls, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        if len(args) > (0 if cls._kw_only else len(cls._fields)):
            allowed = "keywords only" if cls._kw_only else f"at most {len(cls._fields)} positional arguments"
            raise ConfigurationError(f"{cls.__name__}{cls.__signature__} takes {allowed}; got {len(args)} positional")
        values = dict(zip(cls._fields, args))
        for key, value in kwargs.items():
            name = cls.find_option(key)
            if name in cls._options:
                if value is not None:
                    cls._options[name](values, value)
            elif name in values and args:
                raise ConfigurationError(f"{cls.__name__} got {name} twice")
            else:
                values[name] = value
        return values

    @classmethod
    def find_option(cls, name: str) -> str:
        """Return the canonical name of an option in any spelling; unknown ones raise and say what was meant."""
        found = name if name in cls._fields else cls._spellings.get(squash(name))
        if found is None:
            raise cls.unknown_option(name, cls.__name__, [*cls._fields, *cls._options])
        return found

    @classmethod
    def unknown_option(cls, name: str, owner: str, known: Collection[str]) -> UnknownOptionError:
        """The error for a name that is none of the options that ``owner`` takes."""
        old = cls.removed.get(squash(name.removeprefix("set")))
        hint = f"; {old}" if old else other_option(name, known) or did_you_mean(to_snake(name), known)
        return UnknownOptionError(f"{owner} has no option {name!r}{hint or '; its options: ' + ', '.join(sorted(known))}")

    @classmethod
    def of(cls, value: Any) -> Self:
        """Return the configuration that ``value`` stands for: itself, or what its JSON document describes."""
        if isinstance(value, cls):
            return value
        if isinstance(value, Mapping):
            return cls.from_document(value)
        hint = ""
        if isinstance(value, type):
            made = f"it is a class, {value.__name__}(...) makes an object"
            hint = f": {made if issubclass(value, cls) else f'derive it from {cls.__name__}'}"
        elif callable(value) or type(value).__module__ not in ("builtins", "numpy"):
            hint = f": one of your own is an object of a class derived from {cls.__name__}"
        raise ConfigurationError(f"expected {cls.__name__}; got {short(value)} of type {type(value).__name__}{hint}")

    def validate(self) -> None:
        """Check the values; override to raise :class:`ConfigurationError` for wrong ones."""

    def validate_new(self) -> None:
        """Raise ConfigurationError for what DL4J's builders refuse, though its files may hold it; override to add checks."""

    @classmethod
    def builder_arguments(cls, *args: Any) -> dict[str, Any]:
        """Return the options that the builder's positional arguments stand for; by default those of the constructor."""
        if len(args) > len(cls._fields):
            most = len(cls._fields)
            raise ConfigurationError(f"{cls.__name__}.Builder takes at most {most} arguments; got {len(args)}")
        return dict(zip(cls._fields, args))

    if not TYPE_CHECKING:       # java_names.pyi says what each class has
        Builder = BuilderAccess(Builder)

        @classmethod
        def builder(cls, *args: Any, **options: Any) -> BuilderOf[Self]:
            """Return a new ``Builder``."""
            return cls.Builder(*args, **options)

    def __reduce_ex__(self, protocol: SupportsIndex) -> Any:
        return by_name(self) or super().__reduce_ex__(protocol)

    def replace(self, **changes: Any) -> Self:
        """Return a copy with some fields or options changed."""
        cls = type(self)
        values = {name: getattr(self, name) for name in cls._fields}
        for key, value in changes.items():
            name = cls.find_option(key)
            if name in cls._options:
                cls._options[name](values, value)
            else:
                values[name] = value
        copy = cls.__new__(cls)
        copy._fill(values, dict(self._extra))
        return copy

    def changed(self, change: Callable[[Self], Any]) -> Self:
        """Apply ``change`` to a copy, and return the copy with the attributes that it set, or the object that it
        returned.
        """
        copy = self.replace()
        copy._put(_open=True)
        result = change(copy)
        found = result if isinstance(result, type(self)) else copy
        found.__dict__.pop("_open", None)
        return found

    def clone(self) -> Self:
        """Return the object itself: it cannot change."""
        return self

    def __setattr__(self, name: str, value: Any) -> None:
        kind = type(self).__name__
        if self._open:
            name = name if name in type(self)._fields else type(self)._spellings.get(squash(name), name)
            info = type(self)._fields.get(name)
            self.__dict__[name] = convert(value, info.hint(), f"{kind}.{name}") if info else value
            return
        raise dataclasses.FrozenInstanceError(f"{kind} cannot be changed; use replace({name}=...) for a changed copy")

    def __delattr__(self, name: str) -> None:
        raise dataclasses.FrozenInstanceError(f"{type(self).__name__} cannot be changed")

    if not TYPE_CHECKING:       # else no misspelt name would be noticed
        def __getattr__(self, name: str) -> Any:
            if not name.startswith("_"):
                cls, snake = type(self), to_snake(name)
                member = getattr(cls, snake, None)
                if isinstance(member, FieldName) or (snake != name and callable(member)):      # a method of its own before a getter
                    return getattr(self, snake)
                found = cls._spellings.get(squash(name))
                if found in cls._fields:
                    return getattr(self, found)
                prefix, _, rest = snake.partition("_")
                found = cls._spellings.get(squash(rest))
                if rest and prefix in ("get", "is", "set") and found in cls._fields:
                    if prefix == "set":  # Java changes the object; here the changed copy is the result
                        return lambda value: self.replace(**{found: value})
                    return lambda: getattr(self, found)
            return super().__getattr__(name)

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return all(same(getattr(self, n), getattr(other, n)) for n in type(self)._fields)

    def __hash__(self) -> int:
        return hash((type(self), repr(self)))

    def __repr__(self) -> str:
        values = [(f, getattr(self, n)) for n, f in type(self)._fields.items()]
        shown = [f"{f.name}={show(value)}" for f, value in values if f.required or not same(value, f.default())]
        return f"{type(self).__name__}({', '.join(shown)})"

    # JSON and YAML

    def to_document(self) -> dict[str, Any]:
        """Return the JSON document as a dictionary, keys in Jackson's order."""
        cls = type(self)
        if cls.json_tag and not vars(cls).get("java_name"):
            raise ConfigurationError(f"{cls.__module__}.{cls.__qualname__} has no name that a file could keep: decorate "
                                     f'the class with one, such as @layer("org.acme.{cls.__name__}"), for other kinds @vertex, @loss, '
                                     "@configuration")
        document = dict(self._extra)
        for name, info in cls._fields.items():
            value = getattr(self, name)
            if info.saved and not (info.omit_none and value is None):
                document[info.json] = encode(value)
        if cls.class_version() > 1:
            document[_VERSION] = cls.class_version()
        tag = {cls.json_tag: cls.java_name} if cls.json_tag else {}
        return tag | {key: document[key] for key in key_order(vars(cls).get("json_first", ()), document)}

    @classmethod
    def from_document(cls, document: Any) -> Self:
        """Return the object of a JSON document; the class that it names must be registered and fit ``cls``."""
        if not isinstance(document, Mapping):
            raise ConfigurationError(f"expected a JSON object for {cls.__name__}; got {short(document)}")
        read = lenient_reader.get()
        if read is None or not cls.json_tag:
            return cls._read(document)
        return read(cls, document)  # type: ignore[return-value]  # an instance of both

    @classmethod
    def _read(cls, document: Mapping[str, Any]) -> Self:
        found = cls._class_of(document)
        values, extra = {}, {}
        for key, value in found._today(document).items():
            name = found._spellings.get(squash(key))
            if key == found.json_tag:
                continue
            if name in found._fields and found._fields[name].saved and name not in values:
                values[name] = value
            else:
                extra[key] = value
        found._refuse_lost(document, extra)
        for name in [n for n, v in values.items() if v is None and not found._fields[n].optional()]:
            del values[name]
        self = found.__new__(found)
        self._fill(values, extra)
        return self

    @classmethod
    def upgrade(cls, document: dict[str, Any], *args: Any, **kwargs: Any) -> dict[str, Any]:
        """Return the document of an older version in today's form; override where a class's JSON has changed.

        A class of a plug-in with a ``version`` may take it as a second argument, ``upgrade(cls, document, version)``: it is then called
        for older versions only.
        """
        return document

    @classmethod
    def class_version(cls) -> int:
        """The version of a class of a plug-in, ``version = 2`` in its body; 1 where it says none."""
        found = getattr(cls, "version", 1)
        return found if type(found) is int and "version" not in cls._fields else 1

    @classmethod
    def _today(cls, document: Mapping[str, Any]) -> Mapping[str, Any]:
        """The document in the form of the registered class."""
        old, mine = dict(document), cls.class_version()
        stored = old.pop(_VERSION, 1) if _VERSION not in map(str, cls._fields) else 1
        if not isinstance(stored, int) or stored > mine:
            raise UnsupportedVersionError(f"{cls.__name__}: the file was saved by version {stored} of the class; registered is version "
                                          f"{mine}. Update the package that defines it")
        by_version = sum(p.kind is p.POSITIONAL_OR_KEYWORD for p in inspect.signature(cls.upgrade).parameters.values()) == 2
        if by_version and stored == mine:
            return old
        return upgraded(cls.__name__, cls.upgrade, old, *[stored] * by_version)

    @classmethod
    def _refuse_lost(cls, document: Mapping[str, Any], extra: Mapping[str, Any]) -> None:
        """ConfigurationError for options that the class of a plug-in no longer has: without them it would do something else."""
        lost = [str(key) for key in extra if squash(str(key)) not in _WITHOUT_MEANING]
        part = any(issubclass(c, Configuration) and c is not Configuration and c.__module__.startswith("dl4py.") for c in cls.__mro__)
        if not lost or not part or cls.__module__.startswith("dl4py."):
            return
        name = document.get("layerName")
        known = sorted(info.json for info in cls._fields.values() if info.saved)
        raise ConfigurationError(f"{cls.__name__}{f' {name!r}' if name else ''}: the file holds the option {lost[0]!r}, which the "
                                 f"registered class {cls.__module__}.{cls.__qualname__} lacks{did_you_mean(lost[0], known)}; its options: "
                                 f"{', '.join(known) or 'none'}. Register the class as it was when saved, or give it a class method "
                                 "upgrade(cls, document) that returns the document in today's form, or version = 2 and "
                                 "upgrade(cls, document, version)")

    @classmethod
    def _class_of(cls, document: Mapping[str, Any]) -> type[Self]:
        name = document.get(cls.json_tag) if cls.json_tag else None
        if name is None:
            if cls.java_name or not cls.json_tag:
                return cls
            keys = ", ".join(map(str, document)) or "nothing"
            raise ConfigurationError(f"a JSON object for {cls.__name__} needs {cls.json_tag!r}; it has {keys}")
        found = find_class(str(name), cls.__name__)
        if not issubclass(found, cls):
            raise ConfigurationError(f"expected a {cls.__name__}; the JSON names {name}")
        return found

    def to_json(self) -> str:
        """Return DL4J's JSON text."""
        return write_json(self.to_document())

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Return the object of a JSON text.

        Raises
        ------
        FileFormatError
            The text is not JSON.
        MissingOpError
            It names a class that is not registered.
        ConfigurationError
            A value does not fit its field.
        """
        return cls.from_document(read_text(text, "JSON"))

    def to_yaml(self) -> str:
        """Return DL4J's YAML text."""
        return write_yaml(self.to_document())

    @classmethod
    def from_yaml(cls, text: str) -> Self:
        """Return the object of a YAML text; errors as :meth:`from_json`."""
        return cls.from_document(read_text(text, "YAML"))
