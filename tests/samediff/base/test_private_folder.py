"""Folders that only the user may write."""
from __future__ import annotations

import os
import socket
import stat
import threading

import pytest

from dl4py.samediff.base import private_folder
from dl4py.samediff.base.private_folder import PrivateFolder, UntrustedFolderError, home, make

pytestmark = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="users have no numbers here")
as_root = pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() != 0, reason="only root may give files to other users")
NOBODY = 65534


@pytest.fixture(params=[0o000, 0o022, 0o777], ids=oct)
def umask(request):
    old = os.umask(request.param)
    yield
    os.umask(old)


def mode(path):
    return stat.S_IMODE(os.lstat(path).st_mode)


def test_folders_and_files_are_for_the_user_alone(tmp_path, umask):
    folder = PrivateFolder(tmp_path / "a" / "b")
    folder.write("file", b"content")
    assert [mode(tmp_path / p) for p in ("a", "a/b", "a/b/file")] == [0o700, 0o700, 0o600]
    assert folder.read("file") == b"content" and os.listdir(folder.path) == ["file"]


@pytest.mark.parametrize("rights", [0o777, 0o775, 0o770, 0o702, 0o1777])
def test_a_folder_that_others_may_write(tmp_path, rights):
    PrivateFolder(tmp_path / "a")
    os.chmod(tmp_path / "a", rights)
    with pytest.raises(UntrustedFolderError, match=rf"others may write to .*a \(mode {rights:04o}\)"):
        PrivateFolder(tmp_path / "a")


def test_a_folder_that_others_may_read(tmp_path):
    (tmp_path / "a").mkdir(mode=0o755)
    PrivateFolder(tmp_path / "a").write("file", b"1")
    assert PrivateFolder(tmp_path / "a").read("file") == b"1"


@pytest.mark.parametrize("below", ["b", "b/c"])
@pytest.mark.parametrize("there", [False, True])
def test_a_folder_that_others_may_exchange(tmp_path, below, there):
    above = tmp_path / "a"
    above.mkdir()
    if there:
        make(above / below)
    above.chmod(0o777)
    with pytest.raises(UntrustedFolderError, match=r"others may write to .*/a \("):
        PrivateFolder(above / below)
    assert (above / below).exists() == there        # nothing is made there
    above.chmod(0o1777)                             # where nobody renames what belongs to others
    PrivateFolder(above / below)


def test_a_link_leads_to_a_folder_that_is_looked_at(tmp_path):
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    os.symlink("open", tmp_path / "link")
    with pytest.raises(UntrustedFolderError, match="/open "):
        PrivateFolder(tmp_path / "link")
    with pytest.raises(UntrustedFolderError, match="/open "):
        PrivateFolder(tmp_path / "link" / "below")
    (tmp_path / "open").chmod(0o700)
    assert PrivateFolder(tmp_path / "link").path == tmp_path / "open"


def test_another_user(tmp_path, monkeypatch):
    folder = PrivateFolder(tmp_path / "a")
    folder.write("file", b"1")
    user = os.geteuid()
    monkeypatch.setattr(private_folder.os, "geteuid", lambda: 54321)
    with pytest.raises(UntrustedFolderError, match=f"belongs to user {user}, and this process to user 54321"):
        PrivateFolder(tmp_path / "a")
    with pytest.raises(UntrustedFolderError, match="file belongs"):
        folder.read("file")


@as_root
@pytest.mark.parametrize("given", ["a", "a/b", "a/b/file"])
def test_root_trusts_only_what_is_its_own(tmp_path, given):
    folder = PrivateFolder(tmp_path / "a" / "b")
    folder.write("file", b"1")
    os.chown(tmp_path / given, NOBODY, NOBODY)
    with pytest.raises(UntrustedFolderError, match=f"{given} belongs to user {NOBODY}, and this process to user 0"):
        PrivateFolder(tmp_path / "a" / "b").read("file")


@pytest.mark.parametrize("rights", [0o620, 0o602, 0o666])
def test_a_file_that_others_may_write(tmp_path, rights):
    folder = PrivateFolder(tmp_path)
    folder.write("file", b"1")
    (tmp_path / "file").chmod(rights)
    with pytest.raises(UntrustedFolderError, match="file"):
        folder.read("file")
    folder.write("file", b"2")                      # another file in its place
    assert folder.read("file") == b"2" and mode(tmp_path / "file") == 0o600


def _socket(path):
    with socket.socket(socket.AF_UNIX) as made:
        here = os.getcwd()
        os.chdir(path.parent)                       # a path of any length
        try:
            made.bind(path.name)
        finally:
            os.chdir(here)


def _device(path):
    try:
        os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(1, 5))      # zeros without end
    except PermissionError:
        pytest.skip("only root may make devices")


SPECIAL = {"pipe": os.mkfifo, "folder": os.mkdir, "socket": _socket, "device": _device, "link": lambda path: os.symlink("other", path),
           "dangling": lambda path: os.symlink("gone", path), "circle": lambda path: os.symlink(path.name, path)}


@pytest.mark.parametrize("kind", SPECIAL)
def test_only_regular_files_are_files(tmp_path, kind):
    folder = PrivateFolder(tmp_path)
    folder.write("other", b"1")
    SPECIAL[kind](tmp_path / "file")
    found = []
    reader = threading.Thread(target=lambda: found.append(folder.read("file")), daemon=True)
    reader.start()
    reader.join(60)
    assert found == [None]                          # neither waits nor follows
    before = os.lstat(tmp_path / "file")
    folder.write("file", b"2")
    assert os.path.samestat(os.lstat(tmp_path / "file"), before) and folder.read("other") == b"1"
    assert sorted(os.listdir(tmp_path)) == ["file", "other"]


def test_a_folder_that_cannot_be_had(tmp_path):
    (tmp_path / "file").touch()
    for path in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(OSError):
            PrivateFolder(path)


def test_a_missing_file(tmp_path):
    folder = PrivateFolder(tmp_path)
    assert folder.read("file") is None and folder.modified("file") == 0
    folder.write("file", b"")
    assert folder.read("file") == b"" and folder.modified("file") == os.stat(tmp_path / "file").st_mtime


def test_what_cannot_be_written_is_not_kept(tmp_path, monkeypatch):
    folder = PrivateFolder(tmp_path)

    def full(*_):
        raise OSError("no space left")
    monkeypatch.setattr(private_folder.os, "replace", full)
    folder.write("file", b"1")
    assert os.listdir(tmp_path) == []


def test_the_home_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert home() == tmp_path
    monkeypatch.setenv("HOME", "somewhere")
    assert home() is None

    def unknown(_):
        raise RuntimeError("Could not determine home directory.")
    monkeypatch.setattr(private_folder.Path, "home", classmethod(unknown))
    assert home() is None
