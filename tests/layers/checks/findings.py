"""Objects that are wrong in one way, and what checks say of them."""
from __future__ import annotations

import itertools

from dl4py.samediff.configuration.declaring import configuration

numbers = itertools.count()


def made(base, fields=(), **body):
    """A new class of configurations; ``fields`` are annotated with the type of their default."""
    name = f"Found{next(numbers)}"
    annotations = {n: type(body[n]) for n in fields}
    cls = type(name, (base,), {"__module__": __name__, "__doc__": "Wrong.", "__annotations__": annotations, **body})
    return configuration(f"test_findings.{name}")(cls)


def found(report):
    """What the checks say that failed."""
    return {c.name: c.detail for c in report.failures}


def only(report, name, text, also=()):
    """The check of that name fails, and tells the text; without a name none fails."""
    assert list(found(report)) == [*([name] if name else []), *also], report
    assert not name or text in found(report)[name], report


def hiding(base, value):
    """A constructor that keeps a member which JSON does not have."""
    def init(self, **options):
        base.__init__(self, **options)
        object.__setattr__(self, "_value", value)
    return init
