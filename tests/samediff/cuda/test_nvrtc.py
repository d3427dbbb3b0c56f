"""Every CUDA text compiles for GPUs, with nothing but what the compiler has built in."""
from __future__ import annotations

import importlib
import pkgutil
import re
from importlib import resources

import pytest

from dl4py.samediff import cuda
from dl4py.samediff.cuda.sources import source
from tests.samediff.cuda.nvrtc import compiled, nvrtc

pytestmark = pytest.mark.skipif(nvrtc() is None, reason="needs NVIDIA's compiler: pip install nvidia-cuda-nvrtc-cu12")

_PREFIX = f"{cuda.__name__}."
FAMILIES = [module.name.removeprefix(_PREFIX) for module in pkgutil.walk_packages(cuda.__path__, _PREFIX)]


def texts_of(family):
    """The texts that a module offers."""
    offered = getattr(importlib.import_module(f"{cuda.__name__}.{family}"), "sample_kernels", None)
    return {} if offered is None else dict(offered())


@pytest.mark.sampled(33)
@pytest.mark.parametrize("architecture", ["compute_80", *(pytest.param(a, marks=pytest.mark.slow) for a in ("sm_80", "sm_90"))])
@pytest.mark.parametrize("family", [f for f in FAMILIES if texts_of(f)])
def test_texts_compile(family, architecture):
    said = {label: compiled(text, architecture) for label, text in texts_of(family).items()}
    assert not any(said.values()), "\n".join(f"{label}:\n{message}" for label, message in said.items() if message)


def test_every_file_of_kernels_is_offered():
    offered = "".join(text for family in FAMILIES for text in texts_of(family).values())
    files = [file.name for file in (resources.files(cuda) / "kernels").iterdir() if file.name.endswith(".cu")]
    names = {file: re.findall(r"__global__[^;{]*?void[^;{]*?(\w+)\(", source(file[:-3])) for file in files}
    assert files and not [file for file in files if not all(f"{name}(" in offered for name in names[file])]


@pytest.mark.parametrize("architecture", ["compute_80", "sm_80"])
def test_mistakes_are_found(architecture):
    head = 'extern "C" __global__ void f(float *y) '
    assert not compiled(head + "{ *y = expf(*y); }", architecture)
    assert "no_such_function" in compiled(head + "{ *y = no_such_function(); }", architecture)
    assert "math.h" in compiled("#include <math.h>\n" + head + "{ *y = 1; }", architecture)
