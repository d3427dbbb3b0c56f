"""Size limit of the folder of compiled kernels."""
from __future__ import annotations

import contextlib
import os
import re
import time
from pathlib import Path

#: Megabytes that are kept unless ``DL4PY_CACHE_MB`` says otherwise.
MEGABYTES = 512

#: Seconds between two looks at the folder.
PAUSE = 24 * 3600

_STAMP = "tidied"

#: Names of what this cache writes, now or in earlier versions: nothing else is removed.
_OURS = re.compile(r"[\w-]*[0-9a-f]{24}\.(o|so)|.+\.nb[ci]")

#: Names of unfinished files, which processes leave when they are killed while writing.
_LEFT = re.compile(r"\..+\.tmp|tmp\w{8}(\.tmp)?|.+\.nb[ci]\.tmp\.\w+")


def tidy(folder: Path, now: float | None = None) -> int:
    """Remove the least recently used files while the cache is too large, and leftovers of killed processes; at most once a day.

    Parameters
    ----------
    folder : where the files are
    now : seconds since the epoch, for tests

    Returns
    -------
    the number of files removed
    """
    now, stamp = time.time() if now is None else now, folder / _STAMP
    try:
        if now - stamp.lstat().st_mtime < PAUSE:
            return 0
    except OSError:
        pass                            # never tidied
    try:
        stamp.touch()
        os.utime(stamp, (now, now))
        with os.scandir(folder) as entries:
            files = [(entry, entry.stat(follow_symlinks=False)) for entry in entries if entry.is_file(follow_symlinks=False)]
    except OSError:                     # a folder that cannot be written is not ours to tidy
        return 0
    left = [entry for entry, found in files if _LEFT.fullmatch(entry.name) and now - found.st_mtime > PAUSE]
    ours = [(entry, found) for entry, found in files if _OURS.fullmatch(entry.name)]
    total, limit = sum(found.st_size for _, found in ours), _limit()
    goal = limit * 3 // 4 if total > limit else total
    for entry, found in sorted(ours, key=lambda item: max(item[1].st_atime, item[1].st_mtime)):
        if total <= goal:
            break
        left.append(entry)
        total -= found.st_size
    return sum(_removed(entry.path) for entry in left)


def _removed(file: str) -> bool:
    with contextlib.suppress(OSError):          # another process was quicker
        os.unlink(file)
        return True
    return False


def _limit() -> int:
    given = os.environ.get("DL4PY_CACHE_MB", "")
    return (int(given) if given.isdigit() else MEGABYTES) << 20
