"""Class methods that users write without ``@classmethod`` are refused where the class is declared."""
from __future__ import annotations

import pytest

from dl4py.layers import FeedForwardLayer, layer
from dl4py.samediff.configuration.declaring import configuration
from dl4py.samediff.errors import RegistrationError
from dl4py.samediff.evaluation import BaseEvaluation
from dl4py.samediff.training import Schedule
from dl4py.udf import UserOp, user_op


def op_with(upgrade):
    body = {"compute": lambda self, xp, x: x * 2, "upgrade": upgrade, "__module__": __name__}
    return user_op(f"test_class_methods.op{id(upgrade)}", version=2)(type("Op", (UserOp,), body))


def layer_with(upgrade):
    return layer(f"test_class_methods.Layer{id(upgrade)}")(type("Kind", (FeedForwardLayer,), {"version": 2, "upgrade": upgrade}))


def schedule_with(upgrade):
    body = {"version": 2, "upgrade": upgrade, "value_at": lambda self, i, e: 0.1}
    return configuration(f"test_class_methods.Schedule{id(upgrade)}")(type("Rate", (Schedule,), body))


def evaluation_with(restore):
    return type("Score", (BaseEvaluation,), {"restore": restore, "__module__": __name__}, name=f"test_class_methods.Score{id(restore)}")


@pytest.mark.parametrize(("make", "name"), [(op_with, "upgrade"), (layer_with, "upgrade"), (schedule_with, "upgrade"),
                                            (evaluation_with, "restore")], ids=lambda m: getattr(m, "__name__", ""))
def test_without_the_decorator(make, name):
    def written(cls, document, version=1):
        return document
    with pytest.raises(RegistrationError, match=rf"{name} is called on the class: write @classmethod above it"):
        make(written)
    make(classmethod(written))
    make(staticmethod(lambda document, version=1: document))
