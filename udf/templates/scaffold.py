"""Files to start an op or a layer from."""
from __future__ import annotations

import re
from os import PathLike
from pathlib import Path

from ...samediff.codecs.atomic_files import write_file
from ...samediff.errors import ConfigurationError
from ..ops.user_op import check_id

_OP = '''"""The op {op_id}."""
from __future__ import annotations

{imports}


@user_op("{op_id}", version=1)
def {name}(xp, x, *, beta: float = 1.0):
    """x / (1 + exp(-beta x)), by a tanh, which never overflows.  Shapes: x (*S) floating -> (*S), same type."""
    # Positional parameters are inputs (default None: optional), those after * saved attributes. Use xp's functions:
    # elementwise code, reductions, products, reshaping and indexing are differentiated by themselves; for other code
    # pass grad=..., a function of (inputs, outputs, output_grads, *, beta) that builds a node per input.
    return x * (1 + xp.tanh(0.5 * beta * x)) / 2
'''

_OP_TEST = '''

def test_{name}():
    x = np.random.default_rng(0).normal(size=(3, 4))
    check_op({name}, [x], {{"beta": 2.0}}, shapes=[[(5,)], [(1, 2, 3)]]).raise_if_failed()


if __name__ == "__main__":
    print(check_op({name}, [np.linspace(-2.0, 2.0, 6)]))
'''

_LAYER = '''"""The layer {name}."""
from __future__ import annotations

{imports}


@layer("{layer_name}")
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

_LAYER_TEST = '''

def test_{snake}():
    check_layer({name}(n_out=5, scale=0.5), InputType.feed_forward(3)).raise_if_failed()
'''


def op_text(op_id: str, with_test: bool = True) -> str:
    """A module with an op."""
    imports = "import numpy as np\n\nfrom dl4py.udf import check_op, user_op" if with_test else "from dl4py.udf import user_op"
    return (_OP + _OP_TEST * with_test).format(op_id=op_id, name=op_id.rpartition(".")[2], imports=imports)


def layer_text(layer_name: str, with_test: bool = True) -> str:
    """A module with a layer of that name in files."""
    name = layer_name.rpartition(".")[2]
    imports = ", ".join(["FeedForwardLayer", *["InputType", "check_layer"] * with_test, "layer"])
    return (_LAYER + _LAYER_TEST * with_test).format(layer_name=layer_name, name=name, snake=_snake(name),
                                                     imports=f"from dl4py.layers import {imports}")


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).lower()


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
    return _write(op_text(op_id), name.lower(), path, overwrite)


def new_layer(name: str, path: str | PathLike[str], overwrite: bool = False) -> Path:
    """Write a file with a working layer class, its test and comments on what to change.

    Parameters
    ----------
    name : str
        Name of the class, such as ``"MyDense"``.
    path : str or path
        File to write, or a folder to write ``my_dense.py`` to.
    overwrite : bool
        Replace a file that exists.

    Raises
    ------
    ConfigurationError
        It is no name of a class, or the file exists.
    """
    if not name.isidentifier() or not name[0].isupper():
        raise ConfigurationError(f"{name!r} is no class name; expected something like 'MyDense'")
    return _write(layer_text(f"acme.{name}"), _snake(name), path, overwrite)


def _write(text: str, stem: str, path: str | PathLike[str], overwrite: bool) -> Path:
    target = Path(path)
    if target.is_dir() or not target.suffix:
        target = target / f"{stem}.py"
    if target.exists() and not overwrite:
        raise ConfigurationError(f"{target} exists already; pass overwrite=True to replace it")
    target.parent.mkdir(parents=True, exist_ok=True)
    write_file(target, text)
    return target
