"""Who may register what, versions, plug-ins of other distributions."""
from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.errors import DL4PyError, RegistrationError
from dl4py.samediff.ir.op import OPS
from dl4py.udf import UserOp, user_op


def test_a_taken_id_names_both_owners():
    @user_op("test_reg.taken")
    def first(xp, x):
        return x

    with pytest.raises(RegistrationError) as caught:
        @user_op("test_reg.taken")
        def second(xp, x):
            return x * 2
    text = str(caught.value)
    assert text.count("test_registration.py:") == 2 and "first" in text and "second" in text
    assert OPS["test_reg.taken"] is first.op_class


def test_the_same_definition_may_run_again():
    def define(factor):
        @user_op("test_reg.again")
        def again(xp, x):
            return x * factor
        return again

    define(2)
    sd = SameDiff.create()
    y = define(3)(sd.var("x", np.ones(2)))
    np.testing.assert_array_equal(y.eval(), 3)
    np.testing.assert_array_equal(sd.test_reg.again(sd.variable("x")).eval(), 3)


def make(version, upgradable=True):
    @user_op("test_reg.versions", version=version)
    class Versions(UserOp):
        k: int = version

        def compute(self, xp, x):
            return x * self.k

        @classmethod
        def upgrade(cls, attributes, stored):
            return {**attributes, "k": 10 * stored}
    return Versions


def test_versions_in_files(tmp_path):
    def saved(version):
        sd = SameDiff.create()
        make(version)()("y", sd.placeholder("x", DataType.FLOAT, 2))
        sd.save(tmp_path / f"{version}.fb")

    saved(1)
    saved(2)
    saved(3)
    make(2)
    assert SameDiff.load(tmp_path / "2.fb").nodes()[0].op.k == 2
    assert SameDiff.load(tmp_path / "1.fb").nodes()[0].op.k == 10
    with pytest.raises(DL4PyError, match=r"version 3.*version 2"):
        SameDiff.load(tmp_path / "3.fb")


def test_a_file_with_an_op_that_nobody_registers_opens(tmp_path):
    @user_op("test_reg.gone")
    def gone(xp, x):
        return x + 1

    sd = SameDiff.create()
    x = sd.placeholder("x", DataType.FLOAT, 2)
    sd.math.tanh("other", x)
    gone("y", x)
    sd.save(tmp_path / "g.fb")
    OPS.remove("test_reg.gone")
    loaded = SameDiff.load(tmp_path / "g.fb")
    assert loaded.missing_ops() == ["test_reg.gone"]
    np.testing.assert_array_equal(loaded.output_single({"x": np.zeros(2)}, "other"), 0)
    with pytest.raises(DL4PyError, match=r"test_reg.gone"):
        loaded.output_single({"x": np.zeros(2)}, "y")


INSTALLED = {                # a distribution as an installer leaves it
    "dl4py_plugin_sample-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: dl4py-plugin-sample\nVersion: 1.0\n",
    "dl4py_plugin_sample-1.0.dist-info/entry_points.txt":
        "[dl4py.ops]\ngood = dl4py_plugin_sample.ops\nbroken = dl4py_plugin_sample.broken\n",
    "dl4py_plugin_sample/__init__.py": "",
    "dl4py_plugin_sample/broken.py": "raise RuntimeError('no such engine')\n",
    "dl4py_plugin_sample/ops.py": """
from dl4py.udf import user_op

@user_op("sample.twice")
def twice(xp, x):
    return 2 * x
""",
}
USE = """
import warnings
import numpy as np
from dl4py.samediff import SameDiff
import sys
assert "dl4py_plugin_sample.ops" not in sys.modules
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    sd = SameDiff.create()
    y = sd.sample.twice(sd.var("x", np.ones(2)))
    z = sd.op("sample.twice", y)
print(z.eval().tolist())
print([type(w.message).__name__ + ": " + str(w.message) for w in caught])
"""


def test_plug_ins_are_found_by_their_entry_points(tmp_path):
    for name, text in INSTALLED.items():
        file = tmp_path / "site" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    ran = subprocess.run([sys.executable, "-c", textwrap.dedent(USE)], capture_output=True, text=True, cwd=tmp_path,
                         env={**os.environ, "PYTHONPATH": str(tmp_path / "site")}, check=True)
    values, warned = ran.stdout.strip().splitlines()
    assert values == "[4.0, 4.0]"
    assert "PluginWarning" in warned and "'broken'" in warned and "dl4py-plugin-sample" in warned and "no such engine" in warned
