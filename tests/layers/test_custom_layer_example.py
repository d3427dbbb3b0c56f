"""The example of custom layers runs and learns."""
from __future__ import annotations

import importlib.util
import sys
from pathlib import Path


def test_the_example_learns(capsys, monkeypatch):
    spec = importlib.util.spec_from_file_location("example_custom_layer", Path(__file__).parents[2] / "examples" / "custom_layer.py")
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)
    before, after = module.main(epochs=20)
    assert after < before
    assert module.largest_gradient_error() < 1e-6
    assert "the same numbers: True" in capsys.readouterr().out
