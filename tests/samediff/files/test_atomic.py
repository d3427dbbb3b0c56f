"""Files are replaced as a whole or not at all: errors, a full disk, a process that is killed."""
from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import time

import pytest

from dl4py.samediff.files.atomic import atomic_write

WRITER = """
import sys, time
from dl4py.samediff.files.atomic import atomic_write
with atomic_write(sys.argv[1]) as stream:
    stream.write(b"new" * 1000)
    stream.flush()
    print("half", flush=True)
    time.sleep(60)
"""
LIMITED = """
import resource, signal, sys
from dl4py.samediff.files.atomic import atomic_write
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    with atomic_write(sys.argv[1]) as stream:
        stream.write(b"x" * 5000)
except OSError as error:
    print(error.errno)
"""


@pytest.fixture
def old(tmp_path):
    path = tmp_path / "model.zip"
    path.write_bytes(b"old")
    return path


def test_replaced_when_all_is_written(old):
    os.chmod(old, 0o640)
    with atomic_write(old) as stream:
        stream.write(b"new")
        assert old.read_bytes() == b"old"
    assert old.read_bytes() == b"new"
    assert stat.S_IMODE(old.stat().st_mode) == 0o640
    assert os.listdir(old.parent) == ["model.zip"]


def test_an_error_leaves_the_old_file(old):
    with pytest.raises(ZeroDivisionError), atomic_write(old) as stream:
        stream.write(b"half")
        raise ZeroDivisionError
    assert old.read_bytes() == b"old"
    assert os.listdir(old.parent) == ["model.zip"]


def test_links_stay_links(old, tmp_path):
    link = tmp_path / "link.zip"
    link.symlink_to(old)
    with atomic_write(link) as stream:
        stream.write(b"new")
    assert link.is_symlink()
    assert old.read_bytes() == b"new"


def test_no_folder(tmp_path):
    with pytest.raises(FileNotFoundError, match="no such folder"), atomic_write(tmp_path / "nowhere" / "x"):
        pass


@pytest.mark.skipif(not hasattr(signal, "SIGXFSZ"), reason="no limit on the size of files")
def test_a_full_disk_leaves_the_old_file(old):
    done = subprocess.run([sys.executable, "-c", LIMITED, str(old)], capture_output=True, text=True, check=True)
    assert done.stdout.strip()          # the number of the system's error
    assert old.read_bytes() == b"old"
    assert os.listdir(old.parent) == ["model.zip"]


def test_a_killed_process_leaves_the_old_file(old):
    with subprocess.Popen([sys.executable, "-c", WRITER, str(old)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "half\n"
        process.kill()
        process.wait()
    assert old.read_bytes() == b"old"
    begin = time.monotonic()
    with atomic_write(old) as stream:           # what the dead one left is in nobody's way
        stream.write(b"new")
    assert old.read_bytes() == b"new"
    assert time.monotonic() - begin < 10
