"""DL4J in a Java process: found through Maven, started once for all cases."""
from __future__ import annotations

import functools
import json
import os
import platform
import shutil
import subprocess
from pathlib import Path
from typing import Any

from tests.helpers.java_options import SHORT_LIVED

HERE = Path(__file__).parent

#: javacpp's names of the platforms that DL4J 1.0.0-M2.1 was built for.
PLATFORMS = {("Linux", "x86_64"): "linux-x86_64", ("Linux", "aarch64"): "linux-arm64", ("Darwin", "x86_64"): "macosx-x86_64",
             ("Darwin", "arm64"): "macosx-arm64", ("Windows", "AMD64"): "windows-x86_64"}

#: Its OpenBLAS crashes on CPUs that it does not know, and only one thread repeats its sums bit for bit.
ENVIRONMENT = {"OPENBLAS_CORETYPE": "HASWELL", "OMP_NUM_THREADS": "1"}


class Unavailable(Exception):
    """DL4J cannot be run here; the text says why."""


@functools.cache
def program(target: Path) -> str:
    """The class path of DL4J and of the compiled program."""
    for name in ("java", "mvn"):
        if shutil.which(name) is None:
            raise Unavailable(f"no {name!r} on this machine")
    system = PLATFORMS.get((platform.system(), platform.machine()))
    if system is None:
        raise Unavailable(f"DL4J was not built for {platform.system()} on {platform.machine()}")
    listed = target / "classpath"
    command = ["mvn", "-q", "-B", f"-Djavacpp.platform={system}", f"-Dinterop.target={target}", f"-Dmdep.outputFile={listed}",
               "dependency:build-classpath", "compile"]
    environment = {"MAVEN_OPTS": " ".join(SHORT_LIVED), **os.environ}
    for more in (["-o"], []):           # what was loaded once is asked of nobody again
        done = subprocess.run([*command, *more], cwd=HERE, env=environment, capture_output=True, text=True, timeout=600)
        if done.returncode == 0:
            break
    if not listed.exists():
        raise Unavailable(f"Maven cannot resolve DL4J:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    assert done.returncode == 0, f"the Java program does not compile:\n{done.stdout}{done.stderr}"
    return os.pathsep.join([str(target / "classes"), listed.read_text().strip()])


def run(target: Path, given: Path, found: Path) -> dict[str, dict[str, Any]]:
    """Let DL4J open what ``given/manifest.json`` lists; its results by name of case."""
    command = ["java", *SHORT_LIVED, "-Xmx2g", "-cp", program(target), "dl4py.interop.Main", str(given), str(found)]
    done = subprocess.run(command, cwd=found, env=os.environ | ENVIRONMENT, capture_output=True, text=True, timeout=900)
    results: dict[str, dict[str, Any]] = {}
    for line in (found / "results.jsonl").read_text().splitlines():
        one = json.loads(line)
        results[one["name"]] = one
    for one in results.values():
        if "done" not in one:
            one["error"] = f"the Java process ended here, status {done.returncode}:\n{done.stdout[-1500:]}{done.stderr[-1500:]}"
    return results
