"""Arrays of every type and normalizers, as files of their own."""
from __future__ import annotations

import io
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dl4py.samediff import DataType
from dl4py.samediff.data import (
    DataSet,
    ImagePreProcessingScaler,
    MultiDataSet,
    MultiNormalizerMinMaxScaler,
    MultiNormalizerStandardize,
    NormalizerMinMaxScaler,
    NormalizerStandardize,
)
from dl4py.samediff.files import read_array, read_normalizer, write_array, write_normalizer
from tests.interop.cases import Case, Folder


@dataclass
class ArrayCase(Case):
    """An array, in some memory order."""

    array: Any = None
    order: Any = "c"

    def write(self, folder: Folder) -> dict[str, Any]:
        with open(folder.given / f"{self.id}.bin", "wb") as stream:
            write_array(stream, self.array, self.order)
        return {"kind": "array", "file": f"{self.id}.bin", "outputs": [folder.put(self.array)]}

    def check(self, folder: Folder, result: dict[str, Any]) -> None:
        self.note("as Java reads it", result["outputs"], 0)
        for ending in (".0", ".f"):
            again = read_array(io.BytesIO((folder.found / f"{self.id}{ending}").read_bytes()))
            assert again.dtype == self.array.dtype
            self.compare(f"read again{ending}", again, self.array, 0)


@dataclass
class NormalizerCase(Case):
    """A fitted normalizer, on another data set."""

    normalizer: Any = None
    data: Any = field(default_factory=list)
    labels: Any = field(default_factory=list)

    def write(self, folder: Folder) -> dict[str, Any]:
        with open(folder.given / f"{self.id}.normalizer", "wb") as stream:
            write_normalizer(stream, self.normalizer)
        entry = {"kind": "normalizer", "file": f"{self.id}.normalizer", "inputs": [folder.put(x) for x in self.data],
                 "labels": [folder.put(y) for y in self.labels]}
        features, labels = self._transformed(self.normalizer)
        return entry | {"outputs": [folder.put(x) for x in features], "labelOutputs": [folder.put(y) for y in labels]}

    def check(self, folder: Folder, result: dict[str, Any]) -> None:
        self.note("transformed", result["outputs"], 1e-6)
        with open(folder.found / f"{self.id}.normalizer", "rb") as stream:
            again = read_normalizer(stream)
        for mine, theirs in zip(self._transformed(again), self._transformed(self.normalizer)):
            for got, want in zip(mine, theirs):
                self.compare("with Java's file", got, want, 0)

    def _transformed(self, normalizer: Any) -> tuple[list[Any], list[Any]]:
        several = type(normalizer).__name__.startswith("Multi")
        given = [a.copy() for a in self.data], [a.copy() for a in self.labels]
        data: Any = MultiDataSet(*given) if several else DataSet(given[0][0], given[1][0])
        normalizer.pre_process(data)
        return ([*data.features], [*data.labels]) if several else ([data.features], [data.labels])


def file_cases() -> dict[str, Any]:
    """Functions that make the cases, by name."""
    rng = np.random.default_rng(8)
    made: dict[str, Any] = {}
    base = np.arange(-3, 9).reshape(2, 3, 2)
    for kind in ("FLOAT", "DOUBLE", "HALF", "INT", "LONG", "SHORT", "BYTE", "UBYTE", "BOOL"):
        array = (np.abs(base) if kind == "UBYTE" else base).astype(DataType[kind].numpy)
        made[f"array/{kind}"] = lambda n=f"array/{kind}", a=array: ArrayCase(n, array=a)
    for name, array in (("scalar", np.float32(3)), ("vector", np.arange(4.0)), ("row", np.ones((1, 5), np.float32)),
                        ("empty", np.zeros((0, 3), np.float32))):
        made[f"array/{name}"] = lambda n=f"array/{name}", a=array: ArrayCase(n, array=np.asarray(a))
    made["array/columns first"] = lambda: ArrayCase("array/columns first", array=base.astype(np.float32), order="f")
    made["array/permuted"] = lambda: ArrayCase("array/permuted", array=base.astype(np.float64).transpose(1, 0, 2), order="k")
    x, y = (rng.normal(size=s).astype(np.float32) * 3 + 1 for s in ((8, 4), (8, 2)))
    images = rng.integers(0, 256, (2, 3, 4, 4)).astype(np.float32)

    def fitted(normalizer: Any, labels: bool, *arrays: Any) -> Any:
        normalizer.fit_label(labels)
        normalizer.fit(MultiDataSet([*arrays[:-1]], [arrays[-1]]) if len(arrays) > 2 else DataSet(*arrays))
        return normalizer

    rows = {"standardize": (fitted(NormalizerStandardize(), False, x, y), [x + 1], [y]),
            "standardize labels": (fitted(NormalizerStandardize(), True, x, y), [x + 1], [y]),
            "range": (fitted(NormalizerMinMaxScaler(-1, 2), True, x, y), [x * 2], [y]),
            "images": (ImagePreProcessingScaler(-1, 1), [images], [y[:2]]),
            "several": (fitted(MultiNormalizerStandardize(), True, x, x[:, :2] * 2, y), [x, x[:, :2]], [y]),
            "several ranges": (fitted(MultiNormalizerMinMaxScaler(), False, x, x[:, :2] * 2, y), [x, x[:, :2]], [y])}
    for name, (normalizer, data, labels) in rows.items():
        made[f"normalizer/{name}"] = lambda n=f"normalizer/{name}", r=normalizer, d=data, la=labels: NormalizerCase(
            n, normalizer=r, data=d, labels=la)
    return made
