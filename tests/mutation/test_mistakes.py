"""The tool that makes mistakes: each kind is made where it can be, in files and in running functions."""
from __future__ import annotations

import sys
import types
from pathlib import Path

import pytest
from concerned import AREAS, names_with
from in_place import changed_functions
from mistakes import mistakes_in
from reach import reaches

ROOT = Path(__file__).resolve().parents[2]


def made(text):
    return {m.made_in(text.encode()).decode() for m in mistakes_in(text.encode())}


@pytest.mark.parametrize(("text", "mistakes"), [
    ("a < b", {"a <= b"}), ("a is not b", {"a is b"}), ("a in (1,)", {"a not in (1,)", "a in (2,)"}), ("a - b", {"a + b"}),
    ("a ** b", {"a * b"}),
    ("a and b", {"a or b"}), ("not a", {"(a)"}), ("f(x, y)", {"f(y, x)"}), ("f(x, k=y)", {"f(x)"}), ("max(a)", {"min(a)"}),
    ("x if a else y", {"x if True else y", "x if False else y"}), ("a += b", {"pass"}), ("with lock:\n    a", {"if True:\n    a"}),
    ("'text' + a", set()), ("'é'; 1.5", {"'é'; 3.0"}), ("def f(a: 1 = None) -> 2: ...", set()), ("raise E(a + 1)", set())])
def test_kinds(text, mistakes):
    assert made(text) - {"pass"} == mistakes - {"pass"} and ("pass" in mistakes) <= ("pass" in made(text))


def test_a_running_function_is_changed(tmp_path):
    text = "def f(a):\n    return a + 1\n\ndef g(a):\n    return [f(b) for b in a]\n"
    file = tmp_path / "changed.py"
    module = types.ModuleType("changed")
    exec(compile(text, str(file), "exec", dont_inherit=True), vars(module))
    kept = module.f
    assert changed_functions(file, text.encode(), text.replace("a + 1", "a - 1").encode()) == 1
    assert module.g([1, 2]) == [0, 1] and kept(1) == 0
    assert not changed_functions(file, text.encode(), text.encode())


def test_what_compiled_code_reaches():
    from dl4py.samediff.cpu.kernels import pool, window
    assert reaches([pool.max_pool], pool.__name__) and reaches([pool.max_pool], window.__name__)
    assert not reaches([window.inside], pool.__name__) and not reaches([1, sys], pool.__name__)


def test_areas_have_sources_and_tests():
    for area in AREAS.values():
        assert list(ROOT.glob(area.sources)) and all((ROOT / t).exists() for t in (*area.tests, *area.by_op))
    assert {"maxpool2d", "avgpool2d", "pool"} <= set(names_with(ROOT / "samediff/ops/conv/pool.py", ROOT))
    assert "maxpool2d" in names_with(ROOT / "samediff/cpu/kernels/pool_pairs.py", ROOT)
