"""A distribution to start a plug-in from."""
from __future__ import annotations

import keyword
import re
from os import PathLike
from pathlib import Path

from ...samediff.codecs.atomic_files import write_file
from ...samediff.errors import ConfigurationError
from ..ops.user_op import check_id
from .scaffold import layer_text, op_text

_PROJECT = '''[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"

[project]
name = "{distribution}"
version = "0.1.0"
description = "Ops and layers for dl4py"
readme = "README.md"
requires-python = ">=3.11"
dependencies = ["dl4py"]

[project.optional-dependencies]
test = ["pytest>=8"]

# What files and calls name is looked for here; vertices, activations, losses and updaters have groups of their own as well.
[project.entry-points."dl4py.ops"]
{name} = "{name}.ops"

[project.entry-points."dl4py.layers"]
{name} = "{name}.layers"

[tool.setuptools.packages.find]
where = ["src"]

[tool.setuptools.package-data]
{name} = ["py.typed"]

[tool.pytest.ini_options]
testpaths = ["tests"]
'''

_README = '''# {distribution}

Ops and layers for [dl4py](https://pypi.org/project/dl4py/).

```
pip install -e ".[test]"
python -m pytest
dl4py plugins
```

The names in files begin with `{name}.`; raise the `version` of an op or layer when its attributes change their meaning, and write
`upgrade` for files of the version before.

```python
import numpy as np
from dl4py.samediff import SameDiff

sd = SameDiff.create()
y = sd.{name}.swish("y", sd.var("x", np.ones(3)), beta=2.0)        # found by the entry point: nothing has to be imported
print(y.eval())
```
'''

_WORKFLOW = '''name: tests
on: [push, pull_request]
jobs:
  tests:
    runs-on: ubuntu-latest
    strategy:
      matrix:
        python: ["3.11", "3.13"]
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with:
          python-version: ${{{{ matrix.python }}}}
      - run: pip install -e ".[test]"
      - run: python -m pytest
'''

_INIT = '''"""Ops and layers for dl4py."""
from .layers import ScaledDense
from .ops import swish

__all__ = ["ScaledDense", "swish"]
'''

_TESTS = '''"""What dl4py's checks say of the plug-ins."""
import numpy as np

from dl4py.layers import InputType, OutputLayer, check_layer
from dl4py.networks import MultiLayerNetwork, NeuralNetConfiguration
from dl4py.udf import check_op
from {name} import ScaledDense, swish


def test_swish():
    x = np.random.default_rng(0).normal(size=(3, 4))
    check_op(swish, [x], {{"beta": 2.0}}, shapes=[[(5,)], [(1, 2, 3)]]).raise_if_failed()


def test_scaled_dense():
    check_layer(ScaledDense(n_out=5, scale=0.5), InputType.feed_forward(3)).raise_if_failed()


def test_in_a_network(tmp_path):
    conf = (NeuralNetConfiguration.Builder().seed(1).list(ScaledDense(n_out=5), OutputLayer(n_out=2))
            .set_input_type(InputType.feed_forward(3)).build())
    net = MultiLayerNetwork(conf).init()
    net.fit(np.ones((4, 3)), np.eye(2)[[0, 1, 0, 1]])
    net.save(tmp_path / "net.zip")
    assert MultiLayerNetwork.load(tmp_path / "net.zip") == net
'''


def new_plugin(name: str, folder: str | PathLike[str] = ".") -> Path:
    """Write an installable distribution with an op, a layer, their tests, a README and a CI file.

    Parameters
    ----------
    name : str
        Of the package, such as ``"acme_layers"``; names in files begin with it.
    folder : str or path
        Where the folder of the distribution is made.

    Returns
    -------
    Path
        The folder.

    Raises
    ------
    ConfigurationError
        The name cannot be that of a package, or the folder exists.
    """
    package = name.replace("-", "_")
    if not package.isidentifier() or keyword.iskeyword(package) or package != package.lower():
        raise ConfigurationError(f"{name!r} cannot be the name of a package; expected small letters, digits and _, such as 'acme_layers'")
    check_id(f"{package}.swish")
    target = Path(folder) / name
    if target.exists():
        raise ConfigurationError(f"{target} exists already")
    words = {"name": package, "distribution": re.sub(r"[_.]+", "-", name)}
    files = {"pyproject.toml": _PROJECT, "README.md": _README, ".github/workflows/tests.yml": _WORKFLOW, f"tests/test_{package}.py": _TESTS}
    texts = {path: text.format(**words) for path, text in files.items()}
    texts |= {f"src/{package}/{file}": text for file, text in (
        ("__init__.py", _INIT), ("py.typed", ""), ("ops.py", op_text(f"{package}.swish", False)),
        ("layers.py", layer_text(f"{package}.ScaledDense", False)))}
    for path, text in texts.items():
        (target / path).parent.mkdir(parents=True, exist_ok=True)
        write_file(target / path, text)
    return target
