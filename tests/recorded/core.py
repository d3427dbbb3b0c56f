"""Cases, how values are compared, and what runs a case."""

from __future__ import annotations

import fnmatch
import importlib
import itertools
import json
import re
import signal
import time
import warnings
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

MODULES = [
    "dl4py.samediff",
    "dl4py.layers",
    "dl4py.networks",
    "dl4py.udf",
    "dl4py.samediff.training",
    "dl4py.samediff.data",
    "dl4py.samediff.evaluation",
    "dl4py.samediff.files",
]
TOLERANCE = {"float64": 1e-9, "float16": 1e-2}  # everything else: by kind
KINDS = {"value": 1e-5, "score": 2e-5, "grad": 1e-4, "params": 1e-4, "loose": 1e-3}


class Intent(Exception):
    """The case is not asked of dl4py: DL4J is wrong there, or dl4py differs on purpose."""


class Unsupported(Exception):
    """There is no check for the case here."""


class Missing(Exception):
    """dl4py does not offer a name that the case needs."""


class Timeout(Exception):
    """The case ran longer than its limit."""


def find(name: str):
    """A class or function of dl4py by its DL4J name, from any of the public modules."""
    tried = []
    for module in MODULES:
        try:
            return getattr(importlib.import_module(module), name)
        except ModuleNotFoundError as error:
            if error.name and not error.name.startswith("dl4py"):
                raise
        except AttributeError as error:
            tried.append(str(error))
    raise Missing(f"name {name}")


def dl4py_error():
    return importlib.import_module("dl4py.samediff.errors").DL4PyError


def snake(name: str) -> str:
    """Java's camelCase as snake_case."""
    name = name.replace("ReLU", "Relu").replace("TBPTT", "Tbptt").replace("tBPTT", "tbptt")
    name = re.sub(r"(?<=[a-z0-9])([A-Z]+)", r"_\1", name)
    name = re.sub(r"([A-Z])([A-Z][a-z])", r"\1_\2", name)
    return name.lower()


def number(v):
    """A number of case.json, where NaN and infinities are text."""
    return float(v) if isinstance(v, str) else v


def plain(x) -> np.ndarray:
    """NumPy copy of an array from any device."""
    if hasattr(x, "get") and hasattr(x, "device") and not isinstance(x, np.ndarray):
        x = x.get()
    return np.asarray(x)


class Check:
    """Collects what differs; a case passes when nothing does."""

    def __init__(self):
        self.problems: list[str] = []
        self.compared = 0
        self.stumbled = ""

    def fail(self, what: str, text: str):
        self.problems.append(f"{what}: {text}")

    def equal(self, what: str, got, want):
        self.compared += 1
        if isinstance(want, float) and isinstance(got, (int, float)) and np.isnan(want) and np.isnan(got):
            return
        if got != want:
            self.fail(what, f"got {short(got)}, expected {short(want)}")

    def text(self, what: str, got, want: str):
        self.compared += 1
        got = str(got)
        if got.replace("\r\n", "\n") != want.replace("\r\n", "\n"):
            a, b = got.splitlines(), want.splitlines()
            for i in range(max(len(a), len(b))):
                x, y = (a[i] if i < len(a) else "<nothing>"), (b[i] if i < len(b) else "<nothing>")
                if x != y:
                    self.fail(what, f"line {i + 1}: got {short(x)}, expected {short(y)}")
                    return
            self.fail(what, "line ends differ")

    def printed(self, what: str, got, want: str):
        """Text whose numbers may differ in the last printed digit."""
        self.compared += 1
        pattern = r"-?\d+\.\d+(?:[eE]-?\d+)?"
        got = str(got).replace("\r\n", "\n")
        a, b = re.findall(pattern, got), re.findall(pattern, want)
        same = len(a) == len(b) and all(
            x == y or abs(float(x) - float(y)) <= 1.01 * 10.0 ** -len(re.split("[eE]", y)[0].split(".")[1]) for x, y in zip(a, b)
        )
        self.compared -= 1
        self.text(what, re.sub(pattern, "#", got) if same else got, re.sub(pattern, "#", want) if same else want)

    def close(self, what: str, got, want, kind: str = "value", shape=True, rtol=None, atol=0.0, elementwise=False, dtype=True):
        """Arrays or numbers equal within the tolerance of the kind, relative to the largest entry."""
        self.compared += 1
        if got is None:
            return self.fail(what, "got None")
        is_number = isinstance(want, (int, float, str)) and not isinstance(want, bool)
        want = np.asarray(number(want) if is_number else want)
        got = plain(got)
        if shape is True and got.shape != want.shape:
            return self.fail(what, f"shape {got.shape}, expected {want.shape}")
        if shape is not True and got.size != want.size:
            return self.fail(what, f"{got.size} entries, expected {want.size}")
        got = got.reshape(want.shape)
        if str(got.dtype) == "bfloat16":  # which stands in the records as float32
            got = got.astype(np.float32)
        if dtype and not is_number and got.dtype != want.dtype:
            self.fail(what, f"type {got.dtype}, expected {want.dtype}")
        if want.dtype.kind not in "fc":
            wrong = got != want
            if np.any(wrong):
                self.fail(what, f"{int(np.sum(wrong))} of {want.size} entries differ, first {first(got, wrong)} for {first(want, wrong)}")
            return None
        limit = rtol if rtol is not None else KINDS[kind]
        if rtol is None and not is_number:
            limit = TOLERANCE.get(str(want.dtype), limit)
        g, w = got.astype(np.float64), want.astype(np.float64)
        finite = np.isfinite(w)
        odd = (~finite) & ~((g == w) | (np.isnan(g) & np.isnan(w)))
        odd |= finite & ~np.isfinite(g)
        if np.any(odd):
            return self.fail(what, f"{int(odd.sum())} entries not finite alike, first got {first(got, odd)} for {first(want, odd)}")
        scale = np.abs(w) if elementwise else np.maximum(np.max(np.abs(w[finite]), initial=0.0), 1e-3)
        with np.errstate(all="ignore"):
            bad = finite & (np.abs(g - w) > limit * scale + atol + (1e-30 if elementwise else 0))
            if np.any(bad):
                off = np.where(finite, np.abs(g - w), 0)
                i = np.unravel_index(int(np.argmax(off / np.where(scale > 0, scale, 1))), off.shape) if off.ndim else ()
                self.fail(
                    what,
                    f"{int(bad.sum())} of {w.size} entries off, worst {g[i]:.8g} for {w[i]:.8g} "
                    f"({off[i] / max(float(np.max(scale)), 1e-300):.1e} of the scale, allowed {limit:.0e})",
                )
        return None

    def bits(self, what: str, got, want):
        """Bit-equal arrays."""
        self.compared += 1
        got = plain(got)
        if got.size != want.size or got.dtype != want.dtype:
            return self.fail(what, f"{got.dtype}[{got.size}], expected {want.dtype}[{want.size}]")
        got = got.reshape(want.shape)
        same = (got == want) | ((got != got) & (want != want))
        if not np.all(same):
            off = np.abs(got.astype(np.float64) - want.astype(np.float64))
            self.fail(
                what,
                f"{int((~same).sum())} of {want.size} entries not bit-equal, first {first(got, ~same)} for {first(want, ~same)}, "
                f"largest difference {np.nanmax(off):.2e}",
            )
        return None

    def raises(self, what: str, call, error: dict | None = None):
        """The call must raise a typed error where DL4J raises on purpose; where DL4J stumbles, nothing is asked."""
        if error is not None and stumbles(error):
            self.stumbled = f"DL4J stumbles: {error.get('class')}"
            return
        self.compared += 1
        try:
            call()
        except dl4py_error():
            return
        except (Missing, Timeout):
            raise
        except Exception as got:
            if is_missing(got):
                raise
            self.fail(what, f"raised {type(got).__name__} instead of a DL4PyError: {str(got)[:120]}")
            return
        self.fail(what, f"no error; DL4J: {(error or {}).get('class', '')} {str((error or {}).get('message'))[:120]}")


ACCIDENTS = (
    "NullPointer",
    "ArrayIndexOutOfBounds",
    "IndexOutOfBounds",
    "ClassCast",
    "NegativeArraySize",
    "Arithmetic",
    "NumberFormat",
    "crash",
    "hang",
    "NoSuchMethod",
    "NoClassDef",
    "StackOverflow",
    "OutOfMemory",
    "UnsupportedOperation",
    "BufferUnderflow",
    "ConcurrentModification",
    "UnsatisfiedLink",
    "InvocationTarget",
    "NoSuchElement",
    "ND4JOpProfiler",
)
STUMBLE_TEXT = (
    "was closed",
    "workspace",
    "Axis array",
    "Op with name",
    "Could not find array",
    "Could not find descriptor",
    "execution failed",
    "Op validation failed",
    "not yet implemented",
    "ot implemented",
    "Unknown datatype",
    "stream is closed",
    "Unable to duplicate",
    "Cannot invoke",
    "No gradient",
    "differentiation not",
    "doDiff",
)


def stumbles(error: dict) -> bool:
    """True when the recorded exception is an accident of DL4J and not a check of the user's input."""
    text = json.dumps(error)
    name = str(error.get("class", "")).rsplit(".", 1)[-1]
    return any(a in name for a in ACCIDENTS) or any(t in text for t in STUMBLE_TEXT)


def is_missing(error: BaseException) -> bool:
    """An AttributeError or ImportError whose cause is a name that dl4py does not have (yet)."""
    if isinstance(error, (ImportError, NotImplementedError, Missing)):
        return True
    return isinstance(error, AttributeError) or type(error).__name__ in ("UnknownName", "UnknownNameError", "MissingOpError")


def first(a, mask):
    a, mask = np.asarray(a), np.asarray(mask)
    return a.reshape(-1)[int(np.argmax(mask.reshape(-1)))] if a.size else None


def short(v, n=110) -> str:
    s = repr(v)
    return s if len(s) <= n else s[:n] + "…"


@dataclass
class Case:
    """One folder: case.json as .info, arrays.npz as .arrays (read at first use), other files through .path/.read."""

    folder: Path
    area: str
    info: dict = field(default_factory=dict)
    _arrays: dict | None = None

    @property
    def name(self) -> str:
        return str(self.folder)

    @property
    def group(self) -> str:
        return self.key.split("/")[1] if self.key.count("/") > 1 else ""

    @property
    def arrays(self) -> dict[str, np.ndarray]:
        if self._arrays is None:
            f = self.folder / "arrays.npz"
            self._arrays = {}
            if f.exists():
                with np.load(f, allow_pickle=False) as z:
                    self._arrays = {k: z[k] for k in z.files}
        return self._arrays

    def path(self, name: str) -> Path:
        return self.folder / name

    def has(self, name: str) -> bool:
        return (self.folder / name).exists()

    def read(self, name: str) -> str:
        return (self.folder / name).read_text(encoding="utf-8")

    def get(self, key, default=None):
        return self.info.get(key, default)


def cases(root: Path, areas: list[str], patterns: list[str], every: int = 1) -> list[Case]:
    """The cases of areas whose names match one of the patterns, of each area one of so many."""
    found = []
    for area in areas or sorted(p.name for p in root.iterdir() if p.is_dir()):
        for case in itertools.islice(folders(root, area), 0, None, every):
            names = (case.key, case.key.split("/", 1)[1])
            if not patterns or any(fnmatch.fnmatch(n, p) for n in names for p in patterns):
                found.append(case)
    return found


def folders(root: Path, area: str):
    found = sorted((root / area).rglob("case.json"))
    for f in found:
        case = Case(f.parent, area)
        case.key = str(f.parent.relative_to(root))
        yield case
    index = root / area / "index.yaml"  # one file per case
    if index.exists() and not found:
        import yaml

        doc = yaml.load(index.read_text(encoding="utf-8"), getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        items = doc.get("files") or [item for group in doc["ops"].values() for item in group]
        for item in items:
            case = Case(index.parent, area, item)
            case.key = f"{area}/{item.get('file') or item['id']}"
            yield case


@dataclass
class Result:
    key: str
    area: str
    status: str  # passed | failed | missing | intent | unsupported
    text: str = ""
    seconds: float = 0.0
    compared: int = 0


def alarm(*_):
    raise Timeout


def run_case(case: Case, checker, limit: float) -> Result:
    start, check = time.perf_counter(), Check()
    status, text = "passed", ""
    old = signal.signal(signal.SIGALRM, alarm)
    signal.setitimer(signal.ITIMER_REAL, limit)
    try:
        if not case.info:
            case.info = json.loads((case.folder / "case.json").read_text(encoding="utf-8"))
        if case.get("dl4j_bug"):
            raise Intent(str(case.get("dl4j_bug")))
        if checker is None:
            raise Unsupported(f"no checker for area {case.area}")
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            checker(case, check)
    except Intent as e:
        status, text = "intent", str(e)
    except Unsupported as e:
        status, text = "unsupported", str(e)
    except Timeout:
        status, text = "failed", f"took longer than {limit:g} s"
    except Exception as e:
        status = "missing" if is_missing(e) else "failed"
        text = f"{type(e).__name__}: {(str(e).splitlines() or [''])[0][:200]}"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
    if check.problems:
        more = f" (+{len(check.problems) - 1} more)" if len(check.problems) > 1 else ""
        extra = f"; then {text}" if status in ("failed", "missing") and text else ""
        status, text = "failed", check.problems[0] + more + extra
    elif status == "passed" and not check.compared:
        status, text = ("intent", check.stumbled) if check.stumbled else ("unsupported", "nothing to compare")
    return Result(case.key, case.area, status, text, time.perf_counter() - start, check.compared)


def drawn_close(c: Check, what: str, got, want):
    """Drawn parameters: native builds of DL4J differ in the last digits of normal and scaled uniform numbers (up to 1e-6)."""
    part = want[want != 0]
    c.close(what, got, want, rtol=0.0, atol=4e-6 * max(float(np.std(part)), 1e-3) if part.size else 0.0)
