"""A distribution as ``dl4py new-plugin`` writes it: its tests, its entry points, and what others break."""
from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib

import pytest

from dl4py.samediff.errors import ConfigurationError
from dl4py.udf import new_plugin


def install(folder, site):
    """What an installer leaves of a distribution."""
    project = tomllib.loads((folder / "pyproject.toml").read_text())
    name, version = project["project"]["name"], project["project"]["version"]
    shutil.copytree(folder / "src", site, dirs_exist_ok=True)
    info = site / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    groups = project["project"]["entry-points"].items()
    (info / "entry_points.txt").write_text("".join(f"[{g}]\n" + "".join(f"{k} = {v}\n" for k, v in points.items()) for g, points in groups))


def ran(site, *command):
    path = os.pathsep.join(filter(None, [str(site), os.environ.get("PYTHONPATH")]))
    found = subprocess.run([sys.executable, *command], capture_output=True, text=True, cwd=site,
                           env={**os.environ, "PYTHONPATH": path, "PYTHONWARNINGS": "default"}, check=False)
    assert found.returncode == 0, found.stdout + found.stderr
    return found.stdout + found.stderr


@pytest.mark.slow
def test_its_tests_pass_and_it_is_listed(tmp_path):
    folder = new_plugin("acme-parts", tmp_path)
    install(folder, tmp_path / "site")
    assert "3 passed" in ran(tmp_path / "site", "-m", "pytest", "-q", "-p", "no:cacheprovider", str(folder))
    listed = ran(tmp_path / "site", "-m", "dl4py", "plugins")
    for text in ("acme-parts 0.1.0", str(tmp_path / "site"), "dl4py.layers:acme_parts = acme_parts.layers", "acme_parts.swish (version 1)",
                 "acme_parts.ScaledDense (version 1)"):
        assert text in listed
    assert "BROKEN" not in listed


USE = """
import numpy as np
from dl4py.samediff import SameDiff
sd = SameDiff.create()
x = sd.var("x", np.ones(2))
print(sd.beta.after("y", x).eval().tolist(), sd.alpha.shared("z", x).eval().tolist())
try:
    sd.gamma.any("w", x)
except AttributeError as error:
    print(error)
"""


@pytest.mark.slow
def test_a_taken_name_and_a_broken_module_cost_only_themselves(tmp_path):
    """Two distributions have one name; a third cannot be imported; ops of the second stand in a module of layers. All are elsewhere."""
    site, sources = tmp_path / "site", tmp_path / "sources"
    sources.mkdir()
    for name, group, code in (
            ("alpha", "ops", "@user_op('alpha.shared')\ndef shared(xp, x):\n    return x * 2\n"),
            ("beta", "layers", "@user_op('alpha.shared')\ndef shared(xp, x):\n    return x * 3\n\n"
                               "@user_op('beta.after')\ndef after(xp, x):\n    return x * 5\n"),
            ("gamma", "layers", "raise RuntimeError('no such engine')\n")):
        info = site / f"{name}-1.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[dl4py.{group}]\n{name} = {name}\n")
        (sources / f"{name}.py").write_text("from dl4py.udf import user_op\n\n" + code)
    (site / "sitecustomize.py").write_text(f"import sys\nsys.path.append({str(sources)!r})\n")
    used = ran(site, "-c", USE)
    assert "[5.0, 5.0] [2.0, 2.0]" in used and "'alpha.shared' is registered already" in used and "The first one stays" in used
    assert "no op, method or namespace 'gamma'. The plug-in 'gamma' (gamma) of distribution 'gamma' could not be loaded" in used
    listed = ran(site, "-m", "dl4py", "plugins")
    assert "BROKEN: plug-in 'gamma'" in listed and "no such engine" in listed
    assert "BROKEN: op 'alpha.shared' is registered already" in listed
    assert "beta.after (version 1)" in listed and f"beta 1.0  ({sources})" in listed


@pytest.mark.parametrize("name", ["Acme", "1st", "class", "a b", "math"])
def test_names_that_cannot_be(name, tmp_path):
    with pytest.raises(Exception, match="cannot be the name of a package|is a namespace of dl4py"):
        new_plugin(name, tmp_path)
    assert not list(tmp_path.iterdir())


def test_what_exists_stays(tmp_path):
    new_plugin("acme", tmp_path)
    with pytest.raises(ConfigurationError, match="exists already"):
        new_plugin("acme", tmp_path)
