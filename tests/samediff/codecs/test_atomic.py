"""Files are replaced as a whole or not at all: errors, a full disk, a process that is killed."""
from __future__ import annotations

import os
import signal
import socket
import stat
import subprocess
import sys
import threading

import pytest

from dl4py.samediff.codecs.atomic_files import atomic_write, extend_file, remove_left_over, write_file
from dl4py.samediff.errors import FileFormatError, PathError

WRITER = """
import sys, time
from dl4py.samediff.codecs.atomic_files import atomic_write
with atomic_write(sys.argv[1]) as stream:
    stream.write(b"new" * 1000)
    stream.flush()
    print("half", flush=True)
    time.sleep(60)
"""
LIMITED = """
import resource, signal, sys
from dl4py.samediff.codecs.atomic_files import atomic_write
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    with atomic_write(sys.argv[1]) as stream:
        stream.write(b"x" * 5000)
except OSError as error:
    print(error.errno)
"""
GROWING = LIMITED.replace("atomic_write\n", "extend_file\n").replace("""    with atomic_write(sys.argv[1]) as stream:
        stream.write(b"x" * 5000)""", """    extend_file(sys.argv[1], b"y" * 5000, b"\\n")""")


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
    assert len(os.listdir(old.parent)) == 2
    write_file(old.with_name("other.zip"), b"another file")
    assert len(os.listdir(old.parent)) == 3     # what belongs to others stays
    write_file(old, b"new")
    assert old.read_bytes() == b"new"
    assert sorted(os.listdir(old.parent)) == ["model.zip", "other.zip"]


def test_the_file_of_a_writer_that_lives_stays(old):
    with subprocess.Popen([sys.executable, "-c", WRITER, str(old)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "half\n"
        write_file(old, "of another")
        assert len(os.listdir(old.parent)) == 2
        process.kill()
        process.wait()
    with atomic_write(old) as first:
        first.write(b"outer")
        write_file(old, b"inner")       # also one of this process
    assert old.read_bytes() == b"outer"
    assert os.listdir(old.parent) == ["model.zip"]


def test_only_our_own_left_overs_are_removed(old):
    kept = [".model.zip.tmp", ".model.zip.0123456789ab", "model.zip.0123456789ab.tmp", ".model.zip.0123456789AB.tmp",
            ".model.zip.0123456789abc.tmp", ".other.zip.0123456789ab.tmp", ".model_zip.0123456789ab.tmp"]
    for name in [*kept, ".model.zip.0123456789ab.tmp"]:
        (old.parent / name).write_bytes(b"x")
    (old.parent / ".model.zip.aaaaaaaaaaaa.tmp").mkdir()
    os.mkfifo(old.parent / ".model.zip.bbbbbbbbbbbb.tmp")
    (old.parent / ".model.zip.cccccccccccc.tmp").symlink_to(old)
    write_file(old, b"new")
    kept += [f".model.zip.{c * 12}.tmp" for c in "abc"]
    assert sorted(os.listdir(old.parent)) == sorted([*kept, "model.zip"])
    remove_left_over(old.parent, lambda name: name == "other.zip")
    assert not (old.parent / ".other.zip.0123456789ab.tmp").exists()


@pytest.mark.parametrize("name", ["x" * 250, "\N{SNOWMAN}" * 80, "\N{SNOWMAN}", "a\nb", "-rf", "a.tmp", " "])
def test_names_of_all_kinds_and_lengths(tmp_path, name):
    write_file(tmp_path / name, b"1")
    write_file(tmp_path / name, "2")
    assert (tmp_path / name).read_bytes() == b"2"
    assert os.listdir(tmp_path) == [name]


def test_what_is_no_regular_file_stays(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("fifo")
    (tmp_path / "circle").symlink_to("circle")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "socket"))
        before = {n: os.lstat(tmp_path / n).st_mode for n in os.listdir(tmp_path)}
        for name in before:
            with pytest.raises(PathError, match="only regular files are replaced"):
                write_file(tmp_path / name, b"new")
        assert {n: os.lstat(tmp_path / n).st_mode for n in os.listdir(tmp_path)} == before


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root makes devices")
@pytest.mark.parametrize("kind", [stat.S_IFCHR, stat.S_IFBLK])
def test_devices_stay(tmp_path, kind):
    try:
        os.mknod(tmp_path / "device", 0o600 | kind, os.makedev(1, 3))
    except PermissionError as error:
        pytest.skip(f"no devices can be made here: {error}")
    (tmp_path / "link").symlink_to("device")
    for name in ("device", "link"):
        with pytest.raises(PathError, match="is a device"):
            write_file(tmp_path / name, b"new")
    assert stat.S_IFMT(os.lstat(tmp_path / "device").st_mode) == kind
    assert sorted(os.listdir(tmp_path)) == ["device", "link"]


def test_what_comes_while_the_file_is_written_stays(tmp_path):
    with pytest.raises(PathError, match="FIFO"), atomic_write(tmp_path / "a") as stream:
        stream.write(b"new")
        os.mkfifo(tmp_path / "a")
    assert os.listdir(tmp_path) == ["a"]
    assert stat.S_ISFIFO(os.lstat(tmp_path / "a").st_mode)


def test_nobody_else_reads_the_new_content_of_a_file_that_is_closed_to_them(old):
    os.chmod(old, 0o600)
    with atomic_write(old):
        (temporary,) = [n for n in os.listdir(old.parent) if n.endswith(".tmp")]
        assert stat.S_IMODE(os.stat(old.parent / temporary).st_mode) == 0o600


def test_files_that_grow(tmp_path):
    path = tmp_path / "lines"
    write_file(path, b"head\n")
    extend_file(path, b"\none", b"\n")
    assert path.read_bytes() == b"head\none\n"
    with path.open("ab") as stream:
        stream.write(b"half" * 5000)        # of a process that was killed
    extend_file(path, b"\ntwo", b"\n")
    assert path.read_bytes() == b"head\none\ntwo\n"
    with pytest.raises(FileFormatError, match="expected the end"):
        extend_file(path, b"x", b"]}")
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(PathError):
        extend_file(tmp_path / "fifo", b"x", b"\n")


@pytest.mark.skipif(not hasattr(signal, "SIGXFSZ"), reason="no limit on the size of files")
def test_a_full_disk_leaves_what_a_file_had(old):
    old.write_bytes(b"x" * 900 + b"\n")
    done = subprocess.run([sys.executable, "-c", GROWING, str(old)], capture_output=True, text=True, check=True)
    assert done.stdout.strip()
    assert old.read_bytes() == b"x" * 900 + b"\n"


def test_who_extends_waits_for_another_process(tmp_path):
    fcntl = pytest.importorskip("fcntl")
    path = tmp_path / "lines"
    path.write_bytes(b"a\n")
    with open(path, "rb") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        thread = threading.Thread(target=extend_file, args=(path, b"\nb", b"\n"))
        thread.start()
        thread.join(0.1)
        assert thread.is_alive() and path.read_bytes() == b"a\n"
    thread.join()
    assert path.read_bytes() == b"a\nb\n"


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="no links to open files")
def test_what_a_process_has_open(tmp_path):
    """A pipe and a deleted file have no place; a file that still has one is replaced."""
    read, write = os.pipe()
    with open(tmp_path / "gone", "wb") as gone, open(tmp_path / "there", "wb") as there:
        os.remove(tmp_path / "gone")
        for descriptor, said in ((write, "FIFO"), (gone.fileno(), "no place in a folder")):
            with pytest.raises(PathError, match=said):
                write_file(f"/proc/self/fd/{descriptor}", b"new")
        write_file(f"/proc/self/fd/{there.fileno()}", b"new")
    os.close(read)
    os.close(write)
    assert [(p.name, p.read_bytes()) for p in tmp_path.iterdir()] == [("there", b"new")]
