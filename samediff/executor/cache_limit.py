"""How large the folder of compiled kernels may grow."""
from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path

#: Megabytes that are kept unless ``DL4PY_CACHE_MB`` says otherwise.
MEGABYTES = 512

#: Seconds between two looks at the folder.
PAUSE = 24 * 3600

_STAMP = "tidied"


def tidy(folder: Path, now: float | None = None) -> int:
    """Remove what was used longest ago while there is too much; at most once a day.

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
        if now - stamp.stat().st_mtime < PAUSE:
            return 0
    except OSError:
        pass                            # never tidied
    try:
        stamp.touch()
        os.utime(stamp, (now, now))
        files = [(entry, entry.stat()) for entry in os.scandir(folder) if entry.is_file() and entry.name != _STAMP]
    except OSError:                     # a folder that cannot be written is not ours to tidy
        return 0
    total, limit = sum(s.st_size for _, s in files), _limit()
    removed = 0
    if total <= limit:
        return 0
    for entry, found in sorted(files, key=lambda item: max(item[1].st_atime, item[1].st_mtime)):
        if total <= limit * 3 // 4:
            break
        with contextlib.suppress(OSError):          # another process was quicker
            os.unlink(entry.path)
            total, removed = total - found.st_size, removed + 1
    return removed


def _limit() -> int:
    given = os.environ.get("DL4PY_CACHE_MB", "")
    return (int(given) if given.isdigit() else MEGABYTES) << 20
