"""Files to start an op or a layer from."""
from __future__ import annotations

import re
from os import PathLike
from pathlib import Path

from ..samediff.codecs.atomic import write_file
from ..samediff.errors import ConfigurationError
from .user_op import check_id

_OP = '''"""The op {op_id}."""
from __future__ import annotations

import numpy as np

from dl4py.udf import check_op, user_op


@user_op("{op_id}", version=1)
def {name}(xp, x, *, beta: float = 1.0):
    """x / (1 + exp(-beta x)).  Shapes: x (*S) floating -> (*S), same type."""
    # Positional parameters are inputs (default None: optional), those after * saved attributes. Use xp's functions:
    # elementwise code, reductions, products, reshaping and indexing are differentiated by themselves; for other code
    # pass grad=..., a function of (inputs, outputs, output_grads, *, beta) that builds a node per input.
    return x / (1 + xp.exp(-beta * x))


def test_{name}():
    x = np.random.default_rng(0).normal(size=(3, 4))
    check_op({name}, [x], {{"beta": 2.0}}, shapes=[[(5,)], [(1, 2, 3)]]).raise_if_failed()


if __name__ == "__main__":
    print(check_op({name}, [np.linspace(-2.0, 2.0, 6)]))
'''

_LAYER = '''"""The layer {name}."""
from __future__ import annotations

from dl4py.layers import FeedForwardLayer, layer


@layer("acme.{name}")
class {name}(FeedForwardLayer):
    """tanh(scale * (x @ W + b)).  Shapes: x (batch, n_in) -> (batch, n_out)."""

    weight_names = ("W",)
    bias_names = ("b",)
    scale: float = 1.0                # annotated fields are options, saved with the network

    def define_parameters(self, params):
        params.weight("W", (self.n_in, self.n_out), fan_in=self.n_in, fan_out=self.n_out)
        params.bias("b", (1, self.n_out))

    def define_layer(self, sd, x, params, mask):
        return sd.nn.tanh((x.mmul(params["W"]) + params["b"]) * self.scale)
'''


def new_op(op_id: str, path: str | PathLike[str], overwrite: bool = False) -> Path:
    """Write a file with a working op, its test and comments on what to change.

    Parameters
    ----------
    op_id : str
        Dotted id, such as ``"acme.swish"``.
    path : str or path
        File to write, or a folder to write ``swish.py`` to.
    overwrite : bool
        Replace a file that exists.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    RegistrationError
        The id is not dotted.
    ConfigurationError
        The file exists.
    """
    check_id(op_id)
    name = op_id.rpartition(".")[2]
    return _write(_OP.format(op_id=op_id, name=name), name.lower(), path, overwrite)


def new_layer(name: str, path: str | PathLike[str], overwrite: bool = False) -> Path:
    """Write a file with a working layer class; parameters and errors as in :func:`new_op`, ``name`` being a class name."""
    if not name.isidentifier() or not name[0].isupper():
        raise ConfigurationError(f"{name!r} is no class name; expected something like 'MyDense'")
    snake = re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).lower()
    return _write(_LAYER.format(name=name), snake, path, overwrite)


def _write(text: str, stem: str, path: str | PathLike[str], overwrite: bool) -> Path:
    target = Path(path)
    if target.is_dir() or not target.suffix:
        target = target / f"{stem}.py"
    if target.exists() and not overwrite:
        raise ConfigurationError(f"{target} exists already; pass overwrite=True to replace it")
    target.parent.mkdir(parents=True, exist_ok=True)
    write_file(target, text)
    return target
