"""What single checks find: of each an op that is wrong in this way, and one that looks like it and is right."""
from __future__ import annotations

import re
import sys
import sysconfig
from types import SimpleNamespace

import numpy as np
import pytest

from dl4py.samediff import DataType
from dl4py.samediff.base.source_line import PACKAGES
from dl4py.samediff.codecs.file_args import FileArgs
from dl4py.samediff.errors import ConfigurationError, GraphError
from dl4py.samediff.graph import child_process
from dl4py.samediff.ir.op import OPS, Op, op
from dl4py.udf import UserDefinedCustomOp, UserOp, check_op, user_defined_op, user_op
from dl4py.udf.checks import runs
from dl4py.udf.checks.batching import batching_agrees

X = np.linspace(-1, 1, 6).reshape(2, 3)


@pytest.fixture(autouse=True)
def briefly(monkeypatch):
    """Few calls, in this process."""
    from dl4py.udf.checks import check
    monkeypatch.setattr(runs, "_SECONDS", 0.002)
    monkeypatch.setattr(check, "possible", lambda: False)


@pytest.fixture
def names():
    """Ids that are forgotten afterwards."""
    used = []
    yield lambda name: used.append(f"test_findings.{name}") or used[-1]
    for name in used:
        OPS.remove(name)


def found(made, *inputs, **options):
    return {c.name: c.detail for c in check_op(made, inputs or [X], **options).failures}


def told(made, name, *inputs, **options):
    report = check_op(made, inputs or [X], **options)
    assert report.passed, report
    return {c.name: c.detail for c in report.checks}[name]


# Attributes and files

@pytest.mark.parametrize(("body", "text"), [
    ({}, None), ({"signatures": ("x",)}, None),
    ({"signatures": ("x, scale",)}, "KeyError: 'scale'"),                           # names what is no attribute
    ({"__hash__": lambda self: hash([])}, "unhashable"),
    ({"__eq__": lambda self, other: self is other, "__hash__": object.__hash__}, "a copy is not equal to the op: an attribute has no ==")])
def test_attributes(names, body, text):
    made = user_op(names("attributes"))(type("Made", (UserOp,), {"compute": lambda self, xp, x: x * 2, **body}))
    detail = found(made, gradient=False).get("attributes are typed and hashable")
    assert detail is None if text is None else text in detail


@pytest.mark.parametrize("slots", [(), ("k",)])
def test_files(names, slots):
    @op(names("kept"), file=FileArgs(ints=slots))
    class Kept(Op):
        k: int = 1

        def infer(self, x):
            return x

        def compute(self, xp, x):
            return x * self.k
    failures = found(Kept(2), gradient=False)
    if slots:
        assert not failures
    else:
        assert failures == {"survives saving and loading": "Kept(k=2) came back as Kept(k=1)"}
    assert not found(Kept(1), gradient=False)


# Gradients that nobody promised

def java(names, **body):
    name = names("java").replace(".", "_")
    form = {"op_name": lambda self: name, "calculate_output_shape": lambda self, oc: [oc.input_array(0).shape],
            "exec": lambda self, i, o: [np.asarray(i[0]) * 2]}
    return user_defined_op(type("Made", (UserDefinedCustomOp,), form | body))


GRADIENTS = {
    "java with": (lambda names: java(names, do_diff=lambda self, g: [g[0] * 2]), "relative error below 1e-06"),
    "no numbers": (lambda names: user_op(names("f"))(lambda xp, x: x > 0), "none: there is no floating output"),
    "some numbers": (lambda names: user_op(names("f"))(lambda xp, x: (x > 0, x * 2)), "relative error below 1e-06"),
    "written": (lambda names: user_op(names("f"), grad=lambda i, o, g: [g[0] * 2])(lambda xp, x: np.asarray(x) * 2), "relative error"),
    "coded": (lambda names: user_op(names("f"), grad=lambda xp, i, o, g: [g[0] * 2])(lambda xp, x: np.asarray(x) * 2), "relative error"),
    "nodes": (lambda names: user_op(names("f"))(lambda xp, x: xp.sum(x, axis=0)), "relative error below"),
    "elementwise": (lambda names: user_op(names("f"))(lambda xp, x: x * 2), "relative error below")}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("kind", GRADIENTS)
def test_gradients(names, kind):
    make, text = GRADIENTS[kind]
    made = make(names)
    for name in ("gradient", "second gradient"):
        assert told(made, name).startswith(text)
    asked = found(made, gradient=True)
    assert ("gradient" in asked and "second gradient" in asked) == text.startswith("none")


#: Ops that have no gradient and do not say so.
WITHOUT = {
    "java": (lambda names: java(names), "does not define do_diff"),
    "not followed": (lambda names: user_op(names("f"))(lambda xp, x: np.sort(np.asarray(x))), 'functions of xp.*declare gradient="none"'),
    "stateful": (lambda names: user_op(names("f"))(lambda xp, x, *, training: np.sort(np.asarray(x)) * (2 if training else 1)),
                 'declare gradient="none"')}


@pytest.mark.parametrize("kind", WITHOUT)
def test_a_gradient_that_there_is_none_of(names, kind):
    make, text = WITHOUT[kind]
    made = make(names)
    failures = found(made)
    assert list(failures) == ["gradient"]
    assert re.search(text, failures["gradient"])
    assert check_op(made, [X], allow={"gradient"}).passed
    assert check_op(made, [X], gradient=False).passed


def test_a_gradient_that_is_declared_not_to_be():
    @user_op("test_findings.without", gradient="none")
    def without(xp, x):
        return np.sort(np.asarray(x))
    assert check_op(without, [X]).passed


@pytest.mark.slow
def test_second_gradients_that_there_are_none_of(names):
    def kernel(x, y, g, out):
        for i in range(x.size):
            out.flat[i] = 3 * x.flat[i] ** 2 * g.flat[i]
    made = user_op(names("cubed"), numba_grad=kernel)(lambda xp, x: np.asarray(x) ** 3)
    assert told(made, "gradient").startswith("relative error")
    assert told(made, "second gradient").startswith("none: op 'test_findings.cubed' has no second gradient")
    assert list(found(made, gradient=True)) == ["second gradient"]


# What is given

@user_op("test_findings.scaled")
def scaled(xp, x, *, k: float = 1.0):
    if k > 5:
        raise ValueError("too large")
    return np.asarray(x) * k


@pytest.mark.sampled(5)
@pytest.mark.parametrize("given", [scaled, scaled.op_class, scaled.op_class(), scaled.op_class(k=3.0), "test_findings.scaled"])
def test_attributes_of_what_is_given(given):
    for attributes, right in ((None, True), ({}, True), ({"k": 2.0}, True), ({"k": 7.0}, False)):
        report = check_op(given, [X], attributes, gradient=False)
        assert report.passed == right and report.op_id == "test_findings.scaled"
    assert not check_op(scaled.op_class(k=7.0), [X], gradient=False).passed


def test_properties_of_the_java_form(names):
    seen = []
    made = java(names, k=1.0, exec=lambda self, i, o: [seen.append(self.k) or np.asarray(i[0]) * self.k],
                properties_for_function=lambda self: {"k": self.k},
                set_properties_for_function=lambda self, properties: setattr(self, "k", properties["k"]))
    changed = made()
    changed.k = 4.0
    for given, attributes, k in ((made, None, 1.0), (made(), {"k": 2.0}, 2.0), (changed, None, 4.0), (changed, {"k": 3.0}, 3.0),
                                 (made._adapter, {"k": 5.0}, 5.0)):
        seen.clear()
        assert check_op(given, [X], attributes, gradient=False).passed and seen[0] == k
    assert changed.k == 4.0


# Batches

@pytest.mark.parametrize(("rule", "text"), [
    (lambda mapped, x, y: x * y, None),
    (lambda mapped, x, y: x * y if all(mapped) else x * y + 1, "its batching, where inputs 0 hold the elements along axis 0"),
    (lambda mapped, x, y: x * y + (mapped == (False, True)), "its batching, where inputs 1 hold"),
    (lambda mapped, x, y: x * y + all(mapped), "its batching, where inputs 0, 1 hold"),
    (lambda mapped, x, y: (x * y)[:2], "first axis must hold the 3 elements")])
def test_batches(names, rule, text):
    made = user_op(names("batched"), batching=rule)(lambda xp, x, y: x * y).op_class()
    x, y = np.float64(4), np.float64(3)
    if text is None:
        assert batching_agrees(made, [x, y]) == "largest difference 0"
    else:
        with pytest.raises(runs.CheckFailure, match=text):
            batching_agrees(made, [x, y])


@pytest.mark.parametrize("refused", [(), ((True, False),), ((True, False), (False, True))])
def test_batches_that_are_refused(names, refused):
    def rule(mapped, x, y, m=None):
        if mapped[:2] in refused:
            raise GraphError("not this way")
        return x * y
    made = user_op(names("refusing"), batching=rule)(lambda xp, x, y, m=None: x * y).op_class()
    wanted = "largest difference 0" + (f", {len(refused)} ways refused" if refused else "")
    assert batching_agrees(made, [np.float32(4), np.float32(3), None]) == wanted


@pytest.mark.parametrize("example", [np.arange(3), np.arange(3.0), np.array([True, False])])
def test_elements_of_batches_differ(names, example):
    def rule(mapped, x):
        return np.stack([x[0]] * len(x))
    made = user_op(names("first"), batching=rule)(lambda xp, x: x).op_class()
    with pytest.raises(runs.CheckFailure, match="largest difference"):
        batching_agrees(made, [example])


# What is intended

def test_checks_that_may_fail(names):
    made = user_op(names("slope"), grad=lambda i, o, g: [g[0] * 3])(lambda xp, x: np.asarray(x) * 2)
    assert list(found(made)) == ["gradient"] and not found(made, allow={"gradient"}) and not found(made, allow="gradient")
    with pytest.raises(ConfigurationError, match="has no check 'gradients'; there are 'attributes are typed"):
        check_op(scaled, [X], gradient=False, allow={"gradients", "strided inputs"})


# Where a child ended

def test_where_checks_run_in_copies(monkeypatch):
    for platform, kind, wanted in (("linux", "cpu", True), ("linux", "emulated", True), ("linux", "cuda", False), ("darwin", "cpu", False)):
        monkeypatch.setattr(child_process.sys, "platform", platform)
        monkeypatch.setattr(child_process, "current_device", lambda kind=kind: SimpleNamespace(kind=kind))
        assert child_process.possible() is wanted


OWN = f'  File "{__file__}", line 4 in f\n'


@pytest.mark.parametrize(("lines", "place"), [
    ("", ""), (OWN, f" at {__file__}:4"), (OWN + OWN.replace("line 4", "line 5"), f" at {__file__}:4"),
    (f'  File "{child_process.__file__}", line 3 in g\n{OWN}', ""),
    (f'{OWN}  File "{child_process.__file__}", line 3 in g\n', f" at {__file__}:4"),
    *((f'  File "{folder}/x.py", line 3 in g\n{OWN}', f" at {__file__}:4")
      for folder in (sys.prefix, sys.base_prefix, sysconfig.get_path("stdlib"), *(p.rstrip("/") for p in PACKAGES), "/a/site-packages/b")),
    (f'  File "<string>", line 3 in g\n{OWN}', f" at {__file__}:4"), ('  File "/a/b.py", line 12 in g', " at /a/b.py:12"),
    ('  File "<dl4py-1>", line 3 in g\n  File "<frozen runpy>", line 4 in h\n', ""),
    ('  File "<dl4py-1>", line 3 in g\n  File "<string>", line 12 in g\n  File "<string>", line 13 in g', " at <string>:12")])
def test_the_innermost_line_that_is_the_users(lines, place):
    assert child_process._place(lines).startswith(place) and bool(child_process._place(lines)) == bool(place)


@pytest.mark.parametrize(("status", "text"), [
    (0, "exit status 0"), (3, "exit status 3"), (-11, "SIGSEGV, Segmentation fault"), (-40, "signal 40, "), (-6, "SIGABRT, Aborted")])
def test_how_a_child_ended(status, text):
    assert child_process._ended(status).startswith(f"the process ended: {text}")


def test_types_of_files_are_those_of_the_first_input_that_is_there(names):
    seen = []

    class Told(FileArgs):
        def encode(self, op_fields, op_name="", input_dtype=DataType.FLOAT):
            seen.append(input_dtype)
            return super().encode(op_fields, op_name, input_dtype)

    @op(names("typed"), inputs="*xs", file=Told())
    class Typed(Op):
        def infer(self, *xs):
            return xs[-1]

        def compute(self, xp, *xs):
            return xs[-1] * 1
    for inputs, wanted in (([X], DataType.DOUBLE), ([None, np.arange(3), X], DataType.LONG), ([np.float32(1), X], DataType.FLOAT)):
        seen.clear()
        assert not found(Typed(), *inputs, gradient=False) and seen[0] is wanted
