"""What a machine offers."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.networks.commands import main
from dl4py.samediff.cuda.availability import cupy_for
from dl4py.samediff.errors import DeviceError


def test_devices_and_versions(capsys):
    assert main(["info"]) == 0
    rows = dict(line.split(":", 1) for line in capsys.readouterr().out.splitlines() if not line.startswith("cuda:"))
    assert rows["runs on"].strip() == "cpu"
    assert rows["numpy"].strip() == np.__version__
    assert "processors" in rows["cpu"] and rows["emulated"].strip()


def test_it_says_why_there_is_no_gpu(capsys):
    try:
        cupy_for(0)
    except DeviceError as error:
        main(["info"])
        assert str(error) in capsys.readouterr().out
    else:
        pytest.skip("there is a GPU")
