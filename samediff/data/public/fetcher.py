"""Public data sets from the network: fetched once, checked, kept in a folder.

This is the only place that opens a connection. Archives are handed on as files; readers take the members that they know
by name out of them, so no path of an archive ever becomes a path on disk.
"""
from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import cast
from urllib.parse import urlsplit

from ...base.private_folder import home, make
from ...codecs.atomic_files import atomic_write
from ...codecs.regular_files import open_regular
from ...errors import DL4PyError, FileFormatError

__all__ = ["DownloadError", "data_folder"]

_CHUNK = 1 << 20
_TIMEOUT_SECONDS = 30.0


class DownloadError(DL4PyError, OSError):
    """A data set could not be fetched; the message says from where, and where to put the file by hand."""


@dataclass(frozen=True)
class Resource:
    """One file of a public data set.

    Parameters
    ----------
    file : str
        Folder and name within the cache.
    urls : tuple of str
        Addresses, tried one after the other; http or https.
    sha256 : str or None
        Checksum; None where nobody publishes one: then only the size limit and the format are checked.
    size : int
        Number of bytes; without a checksum the largest number that is accepted.
    """

    file: str
    urls: tuple[str, ...]
    sha256: str | None
    size: int


def _mnist(name: str, sha256: str, size: int) -> Resource:
    hosts = "https://ossci-datasets.s3.amazonaws.com/mnist/", "https://storage.googleapis.com/cvdf-datasets/mnist/"
    return Resource(f"mnist/{name}", tuple(host + name for host in hosts), sha256, size)


RESOURCES: dict[str, Resource] = {
    "mnist-train-images": _mnist("train-images-idx3-ubyte.gz",
                                 "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609", 9_912_422),
    "mnist-train-labels": _mnist("train-labels-idx1-ubyte.gz", "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c", 28_881),
    "mnist-test-images": _mnist("t10k-images-idx3-ubyte.gz", "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6", 1_648_877),
    "mnist-test-labels": _mnist("t10k-labels-idx1-ubyte.gz", "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6", 4_542),
    "emnist": Resource("emnist/gzip.zip", ("https://biometrics.nist.gov/cs_links/EMNIST/gzip.zip",),
                       "fb9bb67e33772a9cc0b895e4ecf36d2cf35be8b709693c3564cea2a019fcda8e", 561_753_746),
    "cifar10": Resource("cifar10/cifar-10-binary.tar.gz", ("https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz",),
                        "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd", 170_052_171),
    "lfw": Resource("lfw/lfw.tgz", ("https://ndownloader.figshare.com/files/5976018",),
                    "055f7d9c632d7370e6fb4afc7468d40f970c34a80d4c6f50ffec63f5a8d536c0", 180_566_744),
    "tiny-imagenet": Resource("tiny-imagenet/tiny-imagenet-200.zip", ("http://cs231n.stanford.edu/tiny-imagenet-200.zip",),
                              "6198c8ae015e2b3e007c7841da39ec069199b9aa3bfa943a462022fe5e43c821", 248_100_043),
    # no published checksum: 600 rows of 60 numbers are checked when the file is read
    "uci-sequence": Resource("uci-sequence/synthetic_control.data", (
        "https://archive.ics.uci.edu/ml/machine-learning-databases/synthetic_control-mld/synthetic_control.data",), None, 1 << 20),
}


def data_folder() -> Path:
    """The folder of fetched data sets: ``DL4PY_DATA``, or ``~/.cache/dl4py``.

    Raises
    ------
    DownloadError
        There is no home folder, and none is given.
    """
    given = os.environ.get("DL4PY_DATA")
    if given:
        return Path(given)
    at = home()
    if at is None:
        raise DownloadError("this user has no home folder for data sets: name a folder in DL4PY_DATA")
    return at / ".cache" / "dl4py"


def fetch(name: str) -> Path:
    """The file of a data set, fetched when it is not in the cache; checked every time.

    Parameters
    ----------
    name : str
        A key of ``RESOURCES``.

    Raises
    ------
    DownloadError
        No address answers; the message names the address and the place for a file fetched by hand.
    FileFormatError
        The file in the cache is not the one that was published.
    """
    wanted = RESOURCES[name]
    path = data_folder() / wanted.file
    if path.exists():
        _check_kept(path, wanted)
        return path
    failures = []
    for url in wanted.urls:
        try:
            _download(url, path, wanted)
            return path
        except (OSError, FileFormatError) as error:
            failures.append(f"{url}: {getattr(error, 'reason', None) or error}")
    raise DownloadError(f"cannot fetch the data set {name}: {'; '.join(failures)}. Fetch {wanted.urls[0]} by other means "
                        f"and put it at {path} (DL4PY_DATA chooses another folder)")


def _check_kept(path: Path, wanted: Resource) -> None:
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        checked = size == wanted.size and wanted.sha256 is not None
        digest = hashlib.file_digest(cast(BufferedReader, file), "sha256").hexdigest() if checked else ""
    try:
        _check(str(path), wanted, size, digest)
    except FileFormatError as error:
        raise FileFormatError(f"{error}: delete it to fetch it again") from None


def _download(url: str, path: Path, wanted: Resource) -> None:
    if urlsplit(url).scheme not in ("http", "https"):
        raise DownloadError("only http and https addresses are fetched")
    if not os.environ.get("DL4PY_DATA"):
        make(data_folder())         # compiled kernels lie there too, for the user alone
    path.parent.mkdir(parents=True, exist_ok=True)
    import urllib.request  # loads much that nothing else needs
    with atomic_write(path) as file, urllib.request.urlopen(url, timeout=_TIMEOUT_SECONDS) as answer:
        size, digest = 0, hashlib.sha256()
        while chunk := answer.read(_CHUNK):
            size += len(chunk)
            if size > wanted.size:
                raise FileFormatError(f"more than the {wanted.size} bytes that were expected")
            digest.update(chunk)
            file.write(chunk)
        _check(url, wanted, size, digest.hexdigest())


def _check(where: str, wanted: Resource, size: int, digest: str) -> None:
    if size > wanted.size or (wanted.sha256 is not None and size != wanted.size):
        raise FileFormatError(f"{where} has {size} bytes, expected {wanted.size}")
    if wanted.sha256 is not None and digest != wanted.sha256:
        raise FileFormatError(f"{where} has the SHA-256 {digest}, expected {wanted.sha256}")
