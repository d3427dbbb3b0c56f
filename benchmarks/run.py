"""Compares dl4py with NumPy, JAX, PyTorch, ONNX Runtime and DL4J side by side and prints times and ratios.

    pip install -e ".[bench]" && python benchmarks/run.py [--only W1] [--systems dl4py,torch] [--rounds 12] [--json F] [--plot F]
    python benchmarks/run.py --device cuda:0        # the same on a GPU

Every system makes the same steps on the same varied batches from the same weights; slices of about 0.2 s are taken in turn, so that
a change of the machine's speed meets all alike. Minima are compared, scores are checked. Systems that are not
installed are left out, also of single workloads for which they need another package. Method and traps: docs/performance.md.
"""
from __future__ import annotations

import argparse
import importlib.util
import json
import platform
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from cold_start import COLD, cold_start
from measure import MODULES, ON, Apart, Here, busy, compare, device_name, machine_limits
from workloads import CPU, WORKLOADS, Place

from dl4py.samediff.device.devices import Device

BUSY = 0.15         # share of the processors taken by others above which a row is marked
LONG = ("torch_compile", "dl4j", "dl4j_1t")         # compile for minutes, or need Java
TINY = "W0,W6"                                      # what the emulator can do in a reasonable time


def asked(systems: str, place: Place) -> list[str]:
    """The systems of a command line that there are for a device; says which are not."""
    named, possible = systems.split(",") if systems not in ("", "all") else [], ON[place.kind]
    if without := [s for s in named or (() if place == CPU else MODULES) if s not in possible]:
        print(f"not on {place.device}: {', '.join(without)}")
    return [s for s in named or possible if s in possible and (named or place != CPU or systems == "all" or s not in LONG)]


def installed(names: Sequence[str], place: Place = CPU) -> dict[str, str]:
    """The systems that can be imported and find the device, with their names of it; says which do not."""
    found = {}
    for name in names:
        try:
            if place == CPU:
                importlib.import_module(MODULES[name])
            found[name] = "" if place == CPU else device_name(name, place)
        except ImportError as missing:
            print(f"{name} is left out: {missing}")
    return found


def processor() -> str:
    """What the machine calls itself."""
    info = Path("/proc/cpuinfo")
    names = [line.split(":")[1].strip() for line in info.read_text().splitlines() if line.startswith("model name")] if info.exists() else []
    return f"{names[0]}, {len(names)} CPUs" if names else platform.processor() or platform.machine()


def duration(seconds: float) -> str:
    """Three digits with a unit."""
    for unit, size in (("s", 1), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size or unit == "us":
            value = seconds / size
            return f"{value:.{max(0, 3 - len(str(int(value))))}f} {unit}"
    raise AssertionError


def line(found: dict[str, dict[str, Any]], systems: Sequence[str]) -> list[str]:
    """Cells of one row: the minimum of each system, behind a peer's how many times as long dl4py takes; first the best peer's."""
    ours = found.get("dl4py", {}).get("min")
    peers = [t["min"] for s, t in found.items() if not s.startswith("dl4py")]
    cells = [f"{ours / min(peers):.2f}" if ours and peers else "-"]
    for s in systems:
        ratio = f" ({ours / found[s]['min']:.2f})" if s in found and ours and s != "dl4py" else ""
        cells.append(duration(found[s]["min"]) + ratio if s in found else "-")
    return cells


def markdown(results: dict[str, dict[str, Any]], systems: Sequence[str]) -> str:
    """The table for docs/performance.md."""
    rows = [["", "best peer", *systems], ["---"] * (len(systems) + 2), *([name, *line(found, systems)] for name, found in results.items())]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in rows)


def plot(results: dict[str, dict[str, Any]], systems: Sequence[str], path: Path) -> None:
    """Times relative to dl4py: a bar upwards is a slower system."""
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    rows = {name: found for name, found in results.items() if "dl4py" in found}
    peers = [s for s in systems if s != "dl4py"]
    figure, axes = plt.subplots(figsize=(max(6, 1.0 * len(rows)), 4.5), layout="constrained")
    for i, s in enumerate(peers):
        places = [(k, found[s]["min"] / found["dl4py"]["min"]) for k, found in enumerate(rows.values()) if s in found]
        if places:
            axes.bar([k + (i + 0.5) / len(peers) * 0.8 - 0.4 for k, _ in places], [r - 1 for _, r in places], 0.8 / len(peers), 1, label=s)
    axes.axhline(1, color="black", linewidth=1)
    axes.set(yscale="log", ylabel="time / time of dl4py", xticks=range(len(rows)))
    axes.set_xticklabels(rows, rotation=60, ha="right")
    axes.legend(ncols=4)
    figure.savefig(path)


def options() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="names of workloads or their beginnings, such as W1 or W2_infer, with commas between")
    parser.add_argument("--systems", default="", help=f"with commas between, or 'all': {', '.join(MODULES)}")
    parser.add_argument("--device", default="cpu", help="cpu, cuda:0, ..., or emulated")
    parser.add_argument("--on-device", action="store_true", help="batches of the other systems lie on the GPU, and their results stay")
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--isolate", action=argparse.BooleanOptionalAction, default=True, help="a process for each system (the default)")
    parser.add_argument("--json", type=Path, help="also write all figures to this file")
    parser.add_argument("--markdown", type=Path, help="also write the table as Markdown to this file")
    parser.add_argument("--plot", type=Path, help="also draw the ratios into this file")
    return parser.parse_args()


def chosen(name: str, only: str) -> bool:
    """Whether a workload is asked for: by its name, a beginning of it up to "_", or not at all."""
    return not only or any(name == o or name.startswith(o + "_") for o in only.split(","))


def main() -> None:
    """Run the workloads and print the table."""
    args = options()
    place = Place(str(Device.of(args.device)), args.on_device)
    if place.on_device and not place.is_gpu:
        raise SystemExit(f"--on-device is for GPUs, not for {place.device}")
    names = installed(asked(args.systems, place), place)
    systems = list(names)
    if args.plot and importlib.util.find_spec("matplotlib") is None:
        raise SystemExit("--plot needs matplotlib: pip install matplotlib")
    if not systems:
        raise SystemExit(f"nothing to measure on {place.device}")
    limits = machine_limits() if place == CPU else {}
    machine = ", ".join([*filter(None, [next(filter(None, names.values()), "")]), processor()])
    print(f"{machine}: " + ", ".join(f"{v:.0f} {k}" for k, v in limits.items()) if limits else f"{place.device}: {machine}")
    if place.is_gpu:
        print(f"batches {'of dl4py lie on the host, those of others on the device' if place.on_device else 'lie on the host'}; "
              f"products are {'' if place.tf32 else 'not '}rounded to TF32")
    print("shortest time of one step; in brackets: dl4py's time divided by it")
    print(f"{'':67}" + "".join(f"{s:>17}" for s in ["best peer", *systems]))
    results: dict[str, dict[str, Any]] = {}

    loads: dict[str, float] = {}

    def show(name: str, title: str, run: Callable[[], dict[str, dict[str, Any]]]) -> None:
        before = busy()
        results[name] = run()
        loads[name] = max(before, busy())
        mark = f"  ! {loads[name]:.0%} of the processors taken by others" if loads[name] > BUSY else ""
        print(f"{name:14}{title:53}" + "".join(f"{c:>17}" for c in line(results[name], systems)) + mark, flush=True)
        if args.json:
            head = {"machine": machine, "device": place.device, "on_device": place.on_device, "limits": limits, "busy": loads}
            args.json.write_text(json.dumps(head | {"workloads": results}, indent=1))
    only = args.only or TINY * (place.kind == "emulated")
    for w in WORKLOADS:
        if chosen(w.name, only):
            show(w.name, w.title, partial(compare, w, systems, args.rounds, Apart if args.isolate else Here, place))
    for name, title, kept in COLD:
        if chosen(name, only):
            show(name, title, partial(cold_start, name, systems, min(args.rounds, 3), kept, place))
    if args.markdown:
        args.markdown.write_text(f"{machine}\n\n{markdown(results, systems)}\n")
    if args.plot:
        plot(results, systems, args.plot)


if __name__ == "__main__":
    main()
