"""Versions of user ops, and files whose properties the registered class lacks."""
from __future__ import annotations

from typing import ClassVar

import numpy as np
import pytest

from dl4py.samediff import SameDiff
from dl4py.samediff.errors import FileFormatError, RegistrationError, UnsupportedVersionError
from dl4py.samediff.ir.op import OPS
from dl4py.udf import UserOp, user_op

X = np.ones(2, np.float32)


@pytest.fixture
def registered():
    names: list[str] = []

    def register(name, body, version=None):
        if name in names:
            OPS.remove(name)
        names.append(name)
        made = type("Made", (UserOp,), {"compute": lambda self, xp, x: x * 1, "__module__": __name__, **body})
        return user_op(name, version=version)(made)

    yield register
    for name in set(names):
        OPS.remove(name)


def saved(op_class, **attributes):
    sd = SameDiff.create()
    op_class(**attributes)(sd.var("x", X), name="y")
    return sd.as_flat_buffers()


def test_a_saved_property_that_the_class_lacks_is_refused(registered):
    data = saved(registered("test_ver.swish", {"__annotations__": {"beta": float}, "beta": 1.0}), beta=1.7)
    registered("test_ver.swish", {"__annotations__": {"gamma": float}, "gamma": 1.0})
    with pytest.raises(FileFormatError, match=r"node .*'beta'.*'test_ver.swish'.*its properties: gamma.*upgrade"):
        SameDiff.from_flat_buffers(data)

    @classmethod
    def upgrade(cls, attributes, version):
        return {"gamma": attributes["beta"]}

    registered("test_ver.swish", {"__annotations__": {"gamma": float}, "gamma": 1.0, "upgrade": upgrade}, version=2)
    (node,) = SameDiff.from_flat_buffers(data).nodes()
    assert node.op.gamma == 1.7


def test_the_version_may_stand_in_the_class(registered):
    newer = registered("test_ver.v", {"version": 2})
    assert newer.version == 2
    data = saved(newer)
    assert registered("test_ver.v", {"__annotations__": {"version": ClassVar[int]}, "version": 1}).version == 1
    with pytest.raises(UnsupportedVersionError, match="version 2"):
        SameDiff.from_flat_buffers(data)


def test_two_versions_or_none_that_is_positive_are_refused(registered):
    with pytest.raises(RegistrationError, match="user_op says version 3, the class says 2"):
        user_op("test_ver.two", version=3)(type("Two", (UserOp,), {"compute": lambda self, xp, x: x, "version": 2}))
    with pytest.raises(RegistrationError, match="positive int"):
        user_op("test_ver.zero")(type("Zero", (UserOp,), {"compute": lambda self, xp, x: x, "version": 0}))


def test_upgrade_sees_attributes_only(registered):
    data = saved(registered("test_ver.up", {"__annotations__": {"beta": float}, "beta": 1.0}), beta=1.7)
    seen = []

    @classmethod
    def upgrade(cls, attributes, version):
        seen.append((attributes, version))
        return {"beta": attributes["beta"]}
    registered("test_ver.up", {"__annotations__": {"beta": float}, "beta": 1.0, "upgrade": upgrade}, version=2)
    SameDiff.from_flat_buffers(data)
    assert seen == [({"beta": 1.7}, 1)]
