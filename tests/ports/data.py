"""Small files of the kinds that public programs of DL4J read, made from what ships and from formulas."""
from __future__ import annotations

import gzip
import struct
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from dl4py.samediff.data.public import fetcher

EXAMPLES = Path(__file__).parents[2] / "examples" / "data"
_KINDS = ("setosa", "versicolor", "virginica")


def write_lines(path: Path, lines: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(str(line) for line in lines) + "\n")


def iris(folder: Path) -> Path:
    """Measures and the number of the class."""
    rows = (line.split(",") for line in (EXAMPLES / "iris.csv").read_text().split()[1:])
    write_lines(folder / "iris.txt", (",".join([*row[:-1], str(_KINDS.index(row[-1]))]) for row in rows))
    return folder


def two_classes(folder: Path) -> Path:
    """Classes that a line separates, and two crescents."""
    rng = np.random.default_rng(0)
    for part, count in (("train", 200), ("eval", 60)):
        c = np.arange(count) % 2
        x = rng.uniform(0, 0.4, (count, 2)) + c[:, None] * 0.5
        write_lines(folder / f"linear_data_{part}.csv", (f"{k},{a:.5f},{b:.5f}" for k, (a, b) in zip(c, x)))
        angle = rng.uniform(0, np.pi, count)
        moon = np.stack([np.cos(angle) * (1 - 2 * c) + c, np.sin(angle) * (1 - 2 * c) + 0.5 * c], 1) + rng.normal(0, 0.1, (count, 2))
        write_lines(folder / f"moon_data_{part}.csv", (f"{k},{a:.5f},{b:.5f}" for k, (a, b) in zip(c, moon)))
    write_lines(folder / "CSVPlotData.csv", (f"{x},{3 * x + 2 + rng.normal():.4f}" for x in np.linspace(0, 50, 40)))
    return folder


def digits(part: str, count: int) -> tuple[Any, Any]:
    """Pictures and classes."""
    shipped = np.load(EXAMPLES / "mnist_digits.npz")
    return shipped[f"{part}_images"][:count], shipped[f"{part}_labels"][:count]


def mnist(folder: Path, monkeypatch: Any) -> Path:
    """The files of MnistDataSetIterator, where it looks for them."""
    monkeypatch.setenv("DL4PY_DATA", str(folder))
    for part, count in (("train", 256), ("test", 64)):
        for kind, array in zip(("images", "labels"), digits(part, count)):
            known = fetcher.RESOURCES[f"mnist-{part}-{kind}"]
            monkeypatch.setitem(fetcher.RESOURCES, f"mnist-{part}-{kind}", fetcher.Resource(known.file, (), None, known.size))
            head = struct.pack(f">HBB{array.ndim}I", 0, 8, array.ndim, *array.shape)
            (folder / known.file).parent.mkdir(exist_ok=True)
            (folder / known.file).write_bytes(gzip.compress(head + array.astype(np.uint8).tobytes(), 1))
    return folder


def pictures(folder: Path) -> Path:
    """PNG files in a folder for each class."""
    for part, count in (("train", 108), ("test", 40)):
        for k, (image, label) in enumerate(zip(*digits(part, count))):
            at = folder / "mnist_png" / ("training" if part == "train" else "testing") / str(label)
            at.mkdir(parents=True, exist_ok=True)
            Image.fromarray(image).save(at / f"{k}.png")
    return folder


def objects(folder: Path) -> Path:
    """Pictures and the objects in them, as Pascal VOC has them."""
    for name in ("JPEGImages", "Annotations"):
        (folder / name).mkdir()
    for k, (kind, left) in enumerate([("cat", 3), ("dog", 20), ("cat", 30), ("dog", 8)]):
        pixels = np.full((40, 60, 3), 30, np.uint8)
        pixels[8:28, left:left + 24] = (220, 180, 90) if kind == "cat" else (60, 90, 220)
        Image.fromarray(pixels).save(folder / "JPEGImages" / f"{k}.jpg")
        box = f"<xmin>{left}</xmin><ymin>8</ymin><xmax>{left + 24}</xmax><ymax>28</ymax>"
        (folder / "Annotations" / f"{k}.xml").write_text(
            f"<annotation><object><name>{kind}</name><bndbox>{box}</bndbox></object></annotation>")
    return folder


def sequences(folder: Path) -> Path:
    """Sequences of three shapes, one file each, and files with their classes."""
    rng = np.random.default_rng(1)
    for part, count in (("train", 45), ("test", 15)):
        for k in range(count):
            steps = np.arange(20)
            series = (np.sin(steps), steps / 10, 2 - steps / 10)[k % 3] + rng.normal(0, 0.1, 20)
            write_lines(folder / part / "features" / f"{k}.csv", (f"{x:.4f}" for x in series))
            write_lines(folder / part / "labels" / f"{k}.csv", [k % 3])
    return folder


def advertisements(folder: Path) -> Path:
    """Series of different lengths with a header and two columns before them; the last ones of the test are odd."""
    rng = np.random.default_rng(2)
    for name, count in (("ads", 32), ("test", 12)):
        rows = []
        for k in range(count):
            series = np.sin(np.arange(8 + k % 3)) + rng.normal(0, 0.05, 8 + k % 3) + (5 if name == "test" and k >= 10 else 0)
            rows.append(f'"{k}","ad",' + ",".join(f'"{x:.3f}"' for x in series))
        write_lines(folder / f"{name}.csv", ['"id","kind","series"', *rows])
    return folder


def customers(folder: Path) -> Path:
    """Customers of a bank with and without the column that says who left."""
    rng = np.random.default_rng(3)
    rows = []
    for k in range(160):
        active, land, sex = rng.integers(2), ("France", "Germany", "Spain")[k % 3], ("Male", "Female")[k % 2]
        rows.append(f"{k},{1000 + k},Name,{rng.integers(400, 800)},{land},{sex},{rng.integers(20, 80)},{k % 9},{rng.uniform(0, 1e5):.2f},"
                    f"{1 + k % 3},{k % 2},{active},{rng.uniform(1e4, 1e5):.2f},{1 - active}")
    head = ("RowNumber,CustomerId,Surname,CreditScore,Geography,Gender,Age,Tenure,Balance,NumOfProducts,HasCrCard,IsActiveMember,"
            "EstimatedSalary,Exited")
    write_lines(folder / "Churn_Modelling.csv", [head, *rows])
    write_lines(folder / "customers.csv", [line.rpartition(",")[0] for line in (head, *rows[:10])])
    return folder


def passengers(folder: Path) -> Path:
    """A growing number of passengers, and that of the next month."""
    for part, first, last in (("train", 100, 130), ("test", 130, 142)):
        write_lines(folder / f"passengers_{part}_0.csv", (f"{x};{x + 1}" for x in range(first, last)))
    return folder
