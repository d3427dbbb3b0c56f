"""Files of a folder or a pattern."""
from __future__ import annotations

from pathlib import Path

from ...codecs.regular_files import check_regular


class FileSplit:
    """The files of a reader: one file, or all files of a folder in the order of their names.

    Parameters
    ----------
    path : str or Path
        A file, or a folder with those inside of it.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    def locations(self) -> list[Path]:
        """The files."""
        if self.path.is_dir():
            return sorted(p for p in self.path.rglob("*") if p.is_file())
        return [self.path]

    def regular(self) -> list[Path]:
        """The files; FileNotFoundError when one is missing, PathError for what is no regular file."""
        files = self.locations()
        missing = [str(f) for f in files if not f.exists()]
        if missing:
            raise FileNotFoundError(f"no such file: {', '.join(missing)}")
        for file in files:
            check_regular(file.stat(), str(file), "read")
        return files

    @staticmethod
    def files_of(split: FileSplit | str | Path) -> list[Path]:
        """The files of a split or path; FileNotFoundError when there is none."""
        files = (split if isinstance(split, FileSplit) else FileSplit(split)).regular()
        if not files:
            raise FileNotFoundError(f"no file in the folder {split}")
        return files

    def __str__(self) -> str:
        return str(self.path)
