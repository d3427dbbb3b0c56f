"""Profiles as flame graphs and on the roofline of the machine."""
from __future__ import annotations

import re

import pytest

from dl4py.samediff.executor.profile import Profile, StepProfile
from dl4py.samediff.plans.machine_peak import MachinePeak
from dl4py.samediff.plans.way import Way

STEPS = (StepProfile(0, "a", "matmul", Way.NATIVE, "one", "forward", 3e-6, 100, 6000),
         StepProfile(1, "b", "<add>", Way.NATIVE, "one", "forward", 1e-6, 100, 100),
         StepProfile(2, "c", "gather", Way.NATIVE, "", "backward", 4e-6, 50, None))


def test_widths_are_shares_of_the_time(tmp_path):
    text = Profile("fit & more", STEPS).to_html(tmp_path / "flame.html")
    assert (tmp_path / "flame.html").read_text(encoding="utf-8") == text
    found = re.findall(r'width:([\d.]+)%"><div class="name" title="([^:]*): ([\d.,]+) µs', text)
    assert [(name, float(width), us) for width, name, us in found] == [
        ("all", 100, "8.0"), ("forward", 50, "4.0"), ("one", 100, "4.0"), ("matmul", 75, "3.0"), ("a", 100, "3.0"),
        ("&lt;add&gt;", 25, "1.0"),
        ("b", 100, "1.0"), ("backward", 50, "4.0"), ("(none)", 100, "4.0"), ("gather", 100, "4.0"), ("c", 100, "4.0")]
    assert "<add>" not in text and "<title>fit &amp; more</title>" in text


def test_steps_stand_below_the_roofline(monkeypatch, tmp_path):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(Profile, "limits", property(lambda self: MachinePeak(1e11, 1e10)))
    axes, = Profile("fit", STEPS).plot_roofline(tmp_path / "roof.png").axes
    low, knee, high = axes.lines[0].get_xydata().tolist()
    assert knee == [10, 100] and high[1] == 100 and low[1] == pytest.approx(low[0] * 10)
    assert axes.collections[0].get_offsets().tolist() == [[60, pytest.approx(2)], [1, pytest.approx(0.1)]]
    assert {t.get_text() for t in axes.texts} == {"one matmul", "one <add>"} and (tmp_path / "roof.png").exists()
