"""Runs of trainings as the page asks for them: read from storages as these grow."""
from __future__ import annotations

from pathlib import Path
from typing import Any

from ..base.locks import rlock
from ..errors import FileFormatError, UnknownNameError
from ..training.listeners.stats import FileStatsStorage, StatsStorage

#: Parts of records that are asked for one by one, histograms of one answer, and records of one answer.
HEAVY, MOST_HISTOGRAMS, MOST_RECORDS = ("run", "pictures", "embedding"), 60, 5000
KINDS = ("parameters", "gradients", "updates", "activations")


class Runs:
    """The runs of all storages, by number; each record is read once."""

    def __init__(self) -> None:
        self._lock = rlock()
        self._storages: list[StatsStorage] = []
        self._marks: dict[int, int] = {}
        self._folders: list[Path] = []
        self._tried: set[Path] = set()
        self._runs: dict[tuple[int, str], list[dict[str, Any]]] = {}
        self._numbers: dict[int, tuple[int, str]] = {}      # of runs that are shown, and of those that were

    def attach(self, storage: StatsStorage) -> None:
        """Show a storage."""
        with self._lock:
            if not self.has(storage):
                self._storages.append(storage)

    def detach(self, storage: StatsStorage) -> None:
        """Show a storage no longer."""
        with self._lock:
            self._storages = [s for s in self._storages if s is not storage]
            self._marks.pop(id(storage), None)
            self._runs = {key: records for key, records in self._runs.items() if key[0] != id(storage)}
            self._numbers = {n: key if key in self._runs else (0, "") for n, key in self._numbers.items()}

    def has(self, storage: StatsStorage) -> bool:
        """Whether a storage is shown."""
        return any(s is storage for s in self._storages)

    def storages(self) -> list[StatsStorage]:
        """All storages that are shown."""
        return list(self._storages)

    def watch(self, folder: Path) -> None:
        """Show every file of training statistics in a folder, also those that come later."""
        with self._lock:
            self._folders.append(folder)
            self._look()

    def _look(self) -> None:
        for path in sorted(p for folder in self._folders for p in folder.rglob("*.jsonl")):
            if path not in self._tried and path.is_file() and path.stat().st_size:
                self._tried.add(path)
                try:
                    self.attach(FileStatsStorage(path))
                except FileFormatError:     # of something else
                    continue

    def refresh(self) -> None:
        """Read what came since the last time."""
        with self._lock:
            self._look()
            for storage in self._storages:
                try:
                    found, self._marks[id(storage)] = storage.since(self._marks.get(id(storage), 0))
                except (OSError, FileFormatError):      # removed, or damaged: what was read of it stays
                    continue
                for record in found:
                    if isinstance(record.get("iteration"), int):
                        self._run(id(storage), str(record.get("session", ""))).append(record)

    def _run(self, owner: int, session: str) -> list[dict[str, Any]]:
        if (owner, session) not in self._runs:
            self._runs[owner, session] = []
            self._numbers[len(self._numbers)] = owner, session
        return self._runs[owner, session]

    def listed(self) -> list[dict[str, Any]]:
        """A line for each run, the oldest first."""
        self.refresh()
        with self._lock:
            return [{"id": number, "session": session, "source": self._source(owner), "records": len(records),
                     "model": next((r["run"].get("model") for r in records if isinstance(r.get("run"), dict)), None),
                     "began": records[0].get("time"), "last": records[-1].get("time"), "iteration": records[-1]["iteration"]}
                    for number, (owner, session) in self._numbers.items() if (records := self._runs.get((owner, session)))]

    def _source(self, owner: int) -> str:
        storage = next(s for s in self._storages if id(s) == owner)
        return storage.path.name if isinstance(storage, FileStatsStorage) else type(storage).__name__

    def of(self, number: int) -> list[dict[str, Any]]:
        """The records of a run."""
        self.refresh()
        with self._lock:
            found = self._runs.get(self._numbers.get(number, (0, "")))
            if found is None:
                raise UnknownNameError(f"there is no run {number}; there are {len(self._runs)}")
            return list(found)

    def records(self, number: int, since: int) -> dict[str, Any]:
        """Light records of a run from a place on, and the place to go on from."""
        found = self.of(number)
        part = found[max(since, 0):max(since, 0) + MOST_RECORDS]
        return {"records": [light(r) for r in part], "next": max(since, 0) + len(part)}

    def told(self, number: int) -> dict[str, Any]:
        """The facts of a run that its first record has."""
        return next((r["run"] for r in self.of(number) if isinstance(r.get("run"), dict)), {})

    def histograms(self, number: int, kind: str, name: str) -> list[dict[str, Any]]:
        """Histograms of an array over time, at most so many at equal distances."""
        if kind not in KINDS:
            raise UnknownNameError(f"histograms are of {', '.join(KINDS)}; {kind!r} was asked for")
        found = [{"iteration": r["iteration"], **h} for r in self.of(number) if isinstance(h := _at(r, kind, name, "histogram"), dict)]
        return _thinned(found, MOST_HISTOGRAMS)

    def latest(self, number: int, what: str, iteration: int | None = None) -> dict[str, Any]:
        """Iterations at which there is an evaluation, an embedding or pictures, and the last one, or that of an iteration."""
        if what not in ("evaluation", "embedding", "pictures"):
            raise UnknownNameError(f"there is no part {what!r} of records")
        found = {r["iteration"]: r[what] for r in self.of(number) if isinstance(r.get(what), dict)}
        chosen = iteration if iteration in found else next(reversed(found), None)
        return {"iterations": list(found), "iteration": chosen, "value": None if chosen is None else found[chosen]}


def light(record: dict[str, Any]) -> dict[str, Any]:
    """A record without what is large: histograms, curves, pictures.

    Examples
    --------
    >>> light({"iteration": 1, "run": {}, "updates": {"w": {"mean": 0.5, "histogram": {}}}, "evaluation": {"f1": 1.0, "roc": {}}})
    {'iteration': 1, 'updates': {'w': {'mean': 0.5}}, 'evaluation': {'f1': 1.0}}
    """
    made: dict[str, Any] = {}
    for key, value in record.items():
        if key in KINDS and isinstance(value, dict):
            made[key] = {n: {k: v for k, v in found.items() if k != "histogram"} for n, found in value.items() if isinstance(found, dict)}
        elif key == "evaluation" and isinstance(value, dict):
            made[key] = {k: v for k, v in value.items() if isinstance(v, (int, float))}
        elif key not in HEAVY:
            made[key] = value
    return made


def _at(record: Any, *path: str) -> Any:
    for key in path:
        record = record.get(key) if isinstance(record, dict) else None
    return record


def _thinned(found: list[Any], most: int) -> list[Any]:
    step = -(-len(found) // most)
    return found if step < 2 else [*found[::step], *([found[-1]] if (len(found) - 1) % step else [])]
