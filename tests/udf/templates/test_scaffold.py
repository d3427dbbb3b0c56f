"""Files to start an op or a layer from: where they are written, under which names, and what they hold."""
from __future__ import annotations

import ast
import tomllib

import pytest

from dl4py.samediff.errors import ConfigurationError, RegistrationError
from dl4py.udf import new_layer, new_op, new_plugin


def names_in(path):
    """The functions and classes that a file defines, and what it imports."""
    body = ast.parse(path.read_text()).body
    return ([n.name for n in body if isinstance(n, (ast.FunctionDef, ast.ClassDef))],
            [a.name for n in body if isinstance(n, (ast.Import, ast.ImportFrom)) for a in n.names])


@pytest.mark.parametrize(("given", "made"), [
    ("", "bend.py"), ("mine.py", "mine.py"), ("folder", "folder/bend.py"), ("a/b/mine.py", "a/b/mine.py"), ("a/b", "a/b/bend.py"),
    ("dotted.d", "dotted.d/bend.py"), ("text.txt", "text.txt")])
@pytest.mark.parametrize("write", [lambda p, **o: new_op("acme.Bend", p, **o), lambda p, **o: new_layer("Bend", p, **o)])
def test_where_it_is_written(tmp_path, write, given, made):
    (tmp_path / "dotted.d").mkdir()
    assert write(tmp_path / given) == tmp_path / made and write(str(tmp_path / given), overwrite=True) == tmp_path / made
    text = (tmp_path / made).read_text()
    (tmp_path / made).write_text("")
    with pytest.raises(ConfigurationError, match=r"bend.py exists already|exists already; pass overwrite=True"):
        write(tmp_path / given)
    assert (tmp_path / made).read_text() == ""
    write(tmp_path / given, overwrite=True)
    assert (tmp_path / made).read_text() == text


@pytest.mark.parametrize(("name", "stem"), [
    ("MyDense", "my_dense"), ("X", "x"), ("LSTM", "lstm"), ("Conv2D", "conv2_d"), ("RNNCell", "rnncell"), ("Scaled_Dense", "scaled_dense")])
def test_names_of_layers(tmp_path, name, stem):
    path = new_layer(name, tmp_path)
    assert path.name == f"{stem}.py"
    assert names_in(path) == ([name, f"test_{stem}"], ["annotations", "FeedForwardLayer", "InputType", "check_layer", "layer"])
    assert f'@layer("acme.{name}")\nclass {name}(FeedForwardLayer):' in path.read_text()


@pytest.mark.parametrize("name", ["dense", "1A", "My Dense", "_Dense", "acme.Dense", "ä"])
def test_names_that_no_layer_has(tmp_path, name):
    with pytest.raises(ConfigurationError, match="is no class name; expected something like 'MyDense'"):
        new_layer(name, tmp_path)
    assert not list(tmp_path.iterdir())


def test_names_of_ops(tmp_path):
    path = new_op("acme.parts.Bend", tmp_path)
    assert path == tmp_path / "bend.py" and '@user_op("acme.parts.Bend", version=1)\ndef Bend(xp' in path.read_text()
    assert names_in(path) == (["Bend", "test_Bend"], ["annotations", "numpy", "check_op", "user_op"])
    with pytest.raises(RegistrationError, match="is a namespace of dl4py"):
        new_op("nn.bend", tmp_path / "other.py")
    assert [p.name for p in tmp_path.iterdir()] == ["bend.py"]


@pytest.mark.parametrize(("name", "package", "distribution"), [
    ("acme", "acme", "acme"), ("acme_parts", "acme_parts", "acme-parts"), ("acme-parts", "acme_parts", "acme-parts"),
    ("a__b", "a__b", "a-b")])
def test_what_a_distribution_holds(tmp_path, name, package, distribution):
    folder = new_plugin(name, tmp_path / "new")
    assert folder == tmp_path / "new" / name
    assert {str(f.relative_to(folder)) for f in folder.rglob("*") if f.is_file()} == {
        "pyproject.toml", "README.md", ".github/workflows/tests.yml", f"tests/test_{package}.py",
        *(f"src/{package}/{n}" for n in ("__init__.py", "py.typed", "ops.py", "layers.py"))}
    project = tomllib.loads((folder / "pyproject.toml").read_text())
    assert project["project"]["name"] == distribution
    assert project["project"]["entry-points"] == {"dl4py.ops": {package: f"{package}.ops"}, "dl4py.layers": {package: f"{package}.layers"}}
    assert names_in(folder / "src" / package / "ops.py") == (["swish"], ["annotations", "user_op"])
    assert names_in(folder / "src" / package / "layers.py") == (["ScaledDense"], ["annotations", "FeedForwardLayer", "layer"])
    assert f'@user_op("{package}.swish"' in (folder / "src" / package / "ops.py").read_text()
    assert f'@layer("{package}.ScaledDense")' in (folder / "src" / package / "layers.py").read_text()
    assert (folder / "src" / package / "py.typed").read_text() == ""
    assert "${{ matrix.python }}" in (folder / ".github/workflows/tests.yml").read_text()
