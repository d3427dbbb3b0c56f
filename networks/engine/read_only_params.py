"""Parameters as they are handed out."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...samediff.base.read_only import read_only
from ...samediff.base.user_code.users_arrays import users_array
from ...samediff.training.steps.step import FlatParameters

#: The error message for writes to a vector of parameters.
COPIED = ("params() gives a copy, and writing to it would not change the network: params().subi(update) does, as do "
          "set_params(params() - update) and the arrays of param_table()")


def params_of(flat: FlatParameters) -> Any:
    """A copy of all parameters, which methods of DL4J's arrays change together with the parameters themselves."""
    def change(act: Callable[[Any], Any]) -> Any:
        with flat.gate:
            act(users_array(flat.params))
            return flat.params
    with flat.gate:
        return read_only(flat.params.copy(), COPIED, change)


def read_only_params(copy: Any) -> Any:
    """A copy of parameters that refuses to be written to, as that would change nothing."""
    return read_only(copy, COPIED)
