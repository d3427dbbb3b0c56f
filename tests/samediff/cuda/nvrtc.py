"""NVIDIA's compiler of CUDA texts, called directly: it needs neither a GPU nor CuPy."""
from __future__ import annotations

import ctypes
import functools
import importlib.util
import os
from pathlib import Path

from dl4py.samediff.cuda.drivers.gpu import OPTIONS
from dl4py.samediff.cuda.sources import text_of


@functools.cache
def nvrtc():
    """The library, of the wheel or of the file that ``DL4PY_NVRTC`` names; None where there is none."""
    found = importlib.util.find_spec("nvidia")
    folders = [Path(place) for place in (found.submodule_search_locations or () if found else ())]
    files = [file for folder in folders for pattern in ("*/lib/libnvrtc.so.*", "*/bin/nvrtc64_*.dll")
             for file in sorted(folder.glob(pattern)) if "alt" not in file.name]
    for file in (os.environ.get("DL4PY_NVRTC"), *files):
        if file:
            return ctypes.CDLL(str(file))
    return None


def compiled(text, architecture):
    """What the compiler says of a text behind the prelude; nothing when it is well.

    ``sm_80`` is machine code of that GPU; ``compute_80`` ends before it and leaves out what takes time, which finds most mistakes.
    """
    library, program, size = nvrtc(), ctypes.c_void_p(), ctypes.c_size_t()
    library.nvrtcCreateProgram(ctypes.byref(program), (text_of("prelude.cuh") + "#line 1\n" + text).encode(), b"text.cu", 0, None, None)
    options = [option.encode() for option in (*OPTIONS, f"--gpu-architecture={architecture}",
                                                 *(("--device-debug",) if architecture.startswith("compute") else ()))]
    failed = library.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options))
    library.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    library.nvrtcGetProgramLog(program, log)
    library.nvrtcDestroyProgram(ctypes.byref(program))
    return log.value.decode() or f"error {failed}" if failed else ""
