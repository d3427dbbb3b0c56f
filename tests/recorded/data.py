"""Normalizers, pre-processors, data sets and iterators (part of area evaluation)."""

from __future__ import annotations

import re

import numpy as np

from .api import data_set, numbered
from .core import Case, Check, Intent, Unsupported, find, snake

IMAGE = ("image_scaler", "vgg16")


def check(case: Case, c: Check):
    group, name = case.key.split("/")[1], case.folder.name
    if group == "normalizers":
        return multi_normalizer(case, c) if "multi" in name else normalizer(case, c)
    if group == "preprocessors":
        return preprocessor(case, c)
    if group == "dataset":
        return dataset(case, c)
    if group == "iterators":
        return iterator(case, c)
    raise Unsupported(group)


def made(a: dict, prefix: str):
    """The DataSet of arrays prefix + features, labels, masks (copies, because normalizers change them)."""
    get = {k: None if a.get(prefix + k) is None else a[prefix + k].copy() for k in ("features", "labels", "features_mask", "labels_mask")}
    return data_set(*get.values())


def compare(c: Check, d, a: dict, prefix: str):
    for part in ("features", "labels", "features_mask", "labels_mask"):
        if prefix + part in a:
            got = getattr(d, "get_" + (part + "_array" if part.endswith("mask") else part))()
            c.close(prefix + part, got, a[prefix + part], rtol=2e-5)


def normalizer(case: Case, c: Check):
    a, info, name = case.arrays, case.info, case.folder.name
    if name == "standardize_unfitted":
        return c.raises(
            "transform before fit",
            lambda: find("NormalizerStandardize")().transform(data_set(np.ones((2, 2), np.float32), np.ones((2, 1), np.float32))),
        )
    if name == "standardize_given_stats":
        n = find("NormalizerStandardize")(a["given_mean"], a["given_std"])
        d = made(a, "in_")
        n.transform(d)
        return compare(c, d, a, "transformed_")
    kind = info["class"].rsplit(".", 1)[1]
    if name.startswith(IMAGE):
        n = find("VGG16ImagePreProcessor")() if name == "vgg16" else restored(case)
        if name.endswith("labels"):
            n.fit_label(True)
    else:
        n = fitted(case, kind)
        for stat in ("mean", "std", "min", "max", "label_mean", "label_std", "label_min", "label_max"):
            if stat in a:
                c.close(stat, getattr(n, "get_" + stat)(), a[stat], rtol=2e-5, shape=False)
    use(case, c, n, "")
    if case.has("normalizer.bin") and info.get("restored_equal") and not name.startswith(IMAGE):
        use(case, c, restored(case), "restored: ")
    return None


def fitted(case: Case, kind: str):
    info, a = case.info, case.arrays
    n = find(kind)(info["target_min"], info["target_max"]) if "target_min" in info else find(kind)()
    n.fit_label(bool(info["fit_label"]))
    batches = [made(a, f"in_{i}_") for i in range(2) if f"in_{i}_features" in a]
    n.fit(batches[0] if len(batches) == 1 else find("ExistingDataSetIterator")(batches))
    return n


def restored(case: Case):
    return find("NormalizerSerializer").get_default().restore(str(case.path("normalizer.bin")))


def use(case: Case, c: Check, n, what: str):
    a = case.arrays
    d = made(a, "in_0_")
    n.transform(d)
    mark = len(c.problems)
    compare(c, d, a, "transformed_")
    if "reverted_features" in a and "revert_error" not in case.info:
        n.revert(d)
        compare(c, d, a, "reverted_")
    c.problems[mark:] = [what + p for p in c.problems[mark:]]


def multi(a: dict, prefix: str):
    copies = {k: v.copy() for k, v in a.items()}
    part = {k: numbered(copies, prefix + k) for k in ("features", "labels", "features_mask", "labels_mask")}
    if part["features_mask"] is None and part["labels_mask"] is None:
        return find("MultiDataSet")(part["features"], part["labels"])
    return find("MultiDataSet")(*part.values())


def compare_multi(c: Check, d, a: dict, prefix: str):
    for k, want in a.items():
        found = re.fullmatch(re.escape(prefix) + r"(features|labels)_(\d+)", k)
        if found:
            got = d.get_features(int(found.group(2))) if found.group(1) == "features" else d.get_labels(int(found.group(2)))
            c.close(k, got, want, rtol=2e-5)


def multi_normalizer(case: Case, c: Check):
    """From DL4J's file; the fit itself is checked for the two classes without further options."""
    a, name = case.arrays, case.folder.name
    if not case.has("normalizer.bin"):
        if "in_features_0" not in a:
            raise Unsupported("no file")
        n = find("ImageMultiPreProcessingScaler")(*([0] if a["transformed_features_0"].min() >= 0 else [-1.0, 1.0, [0]]))
        d = multi(a, "in_")
        n.transform(d)
        return compare_multi(c, d, a, "transformed_")
    todo = [restored(case)]
    if name.startswith("multi_standardize") and "in_1_features_0" in a:
        todo.append(multi_fitted(case))
    for n in todo:
        d = multi(a, "in_0_")
        n.transform(d)
        compare_multi(c, d, a, "transformed_")
        if "reverted_features_0" in a:
            n.revert(d)
            compare_multi(c, d, a, "reverted_")
    return None


def multi_fitted(case: Case):
    """Fitted from the two data sets."""
    a = case.arrays
    n = find("MultiNormalizerStandardize")()
    n.fit_label(bool(case.get("fit_label")))
    n.fit([multi(a, "in_0_"), multi(a, "in_1_")])
    return n


def preprocessor(case: Case, c: Check):
    a, name = case.arrays, case.folder.name
    if name.startswith("under_sampling"):
        raise Intent("draws from dl4py's own generator")
    p = make_preprocessor(case, name)
    d = made(a, "in_")
    p.pre_process(d)
    compare(c, d, a, "out_")


def make_preprocessor(case: Case, name: str):
    if name == "composite":
        return find("CompositeDataSetPreProcessor")(find("ImagePreProcessingScaler")(), find("ImageFlatteningDataSetPreProcessor")())
    if name.startswith("label_last"):
        return find("LabelLastTimeStepPreProcessor")()
    if name == "permute_custom":
        return find("PermuteDataSetPreProcessor")(0, 3, 1, 2)
    if name.startswith("permute_"):
        return find("PermuteDataSetPreProcessor")(find("PermuteDataSetPreProcessor").PermutationTypes.NCHWtoNHWC)
    if name.startswith("crop_and_resize"):
        cls = find("CropAndResizeDataSetPreProcessor")
        method = getattr(
            cls.ResizeMethod, next(m for m in ("Bilinear", "NearestNeighbor", "Bicubic") if m.lower() == name.rsplit("_", 1)[1])
        )
        return cls(*case.get("options").values(), method)
    return find({"image_flattening": "ImageFlatteningDataSetPreProcessor", "rgb_to_grayscale": "RGBtoGrayscaleDataSetPreProcessor"}[name])()


def dataset(case: Case, c: Check):
    a, name = case.arrays, case.folder.name
    if name.startswith("save_"):
        return saved(case, c)
    if name == "merge":
        return merged(case, c)
    if name == "split_shuffle":
        return split_shuffle(case, c)
    if "in_features" not in a:
        raise Unsupported(name)
    arguments = {
        "binarize_1_5": (1.5,),
        "multiply_by_3": (3.0,),
        "divide_by_2": (2,),
        "round_to_the_nearest_2": (2,),
        "scale_min_and_max": (0.0, 1.0),
        "squish_to_range": (-1.0, 1.0),
    }
    d = made(a, "in_")
    method = re.sub(r"_\d+(_\d+)?$", "", name)
    if "error" in case.info:
        return c.raises(method, lambda: getattr(d, method)(*arguments.get(name, ())), case.info["error"])
    getattr(d, method)(*arguments.get(name, ()))
    return compare(c, d, a, "out_")


def saved(case: Case, c: Check):
    a = case.arrays
    if case.has("multidataset.bin"):
        d = find("MultiDataSet")()
        d.load(str(case.path("multidataset.bin")))
        for k, want in a.items():
            found = re.fullmatch(r"(features|labels)_(\d+)", k)
            if found:
                c.close(k, (d.get_features if found.group(1) == "features" else d.get_labels)(int(found.group(2))), want, rtol=0.0)
        return
    d = find("DataSet")()
    d.load(str(case.path("dataset.bin")))
    compare(c, d, a, "")
    if case.get("loaded_label_names"):
        c.equal("label names", list(d.get_label_names_list()), case.get("loaded_label_names"))


def merged(case: Case, c: Check):
    a = case.arrays
    for key, parts in (("merged2_", ("a2_", "b2_")), ("merged3_", ("a3_", "b3_"))):
        if key + "features" in a and all(p + "features" in a for p in parts):
            d = find("DataSet").merge([made(a, p) for p in parts])
            if len(d.get_features()) == len(a[key + "features"]):
                compare(c, d, a, key)


def ids(n: int, width=2):
    x = np.array([[i + 0.1 * k for k in range(width)] for i in range(n)], np.float32)
    return data_set(x, np.eye(3, dtype=np.float32)[np.arange(n) % 3])


def examples(n: int) -> list:
    x = np.array([[i, i + 0.1] for i in range(n)], np.float32)
    return [data_set(x[i : i + 1], np.eye(3, dtype=np.float32)[i % 3][None]) for i in range(n)]


def chunks(n: int, b: int) -> list:
    x = np.array([[i, i + 0.1] for i in range(n)], np.float32)
    y = np.eye(3, dtype=np.float32)[np.arange(n) % 3]
    return [data_set(x[i : i + b], y[i : i + b]) for i in range(0, n, b)]


def walk(it, most=60) -> list:
    out = []
    while it.has_next() and len(out) < most:
        f = np.asarray(it.next().get_features())
        out.append([round(float(v), 1) for v in f.reshape(len(f), -1)[:, 0]])
    return out


def size_of(info: dict) -> int:
    """Number of examples behind an iterator case: the recorder used 10 with batches of 4, or 13 with batches of 5."""
    seen = [v for key in ("pass_1", "pass_2_after_reset") for p in info.get(key, []) for v in p]
    return 13 if max(seen, default=0) > 9 else 10


def iterator(case: Case, c: Check):
    info, name = case.info, case.folder.name
    if name.startswith(("random_", "sampling", "kfold")):
        raise Intent("draws random numbers or a time seed")
    if name in ("doubles", "floats", "indarray"):
        raise Intent("DL4J loses the last, smaller batch here")
    if "properties" not in info or "error" in info:
        raise Unsupported(name)
    total = size_of(info)
    if name in ("early_termination", "benchmark"):
        total = 13 if len(info["pass_1"][0]) == 5 else 10
    makers, b = iterators(total), {10: 4, 13: 5}[total]
    if name not in makers:
        raise Unsupported(name)
    it = makers[name](b)
    for key, want in info["properties"].items():
        if isinstance(want, (int, bool)) and key not in ("asyncSupported", "resetSupported") and not name.startswith("existing"):
            c.equal(key, getattr(it, snake(key))(), want)
    c.equal("first pass", walk(it), info["pass_1"])
    c.equal("has_next after the pass", bool(it.has_next()), info["has_next_after_pass"])
    if "reset_error" in info:
        return
    for key in ("pass_2_after_reset", "pass_3_after_partial_and_reset"):
        it.reset()
        if "partial" in key:
            it.next()
            it.reset()
        if key in info:
            c.equal(key.replace("_", " "), walk(it), info[key])
    if "next_5" in info:
        it.reset()
        f = np.asarray(it.next(5).get_features())
        c.equal("next(5)", [round(float(v), 1) for v in f.reshape(len(f), -1)[:, 0]], info["next_5"])
        c.equal("rest", walk(it), info["rest_after_next_5"])


def iterators(n: int) -> dict:
    """Makers by case name; each takes the batch size."""

    def base(b):
        return find("ListDataSetIterator")(examples(n), b)

    def split():
        return find("DataSetIteratorSplitter")(base(2), n // 2, 0.6)

    def test_part(_):
        s = split()
        walk(s.get_train_iterator(), 50)
        return s.get_test_iterator()

    return {
        "list": base,
        "list_default_batch": lambda b: find("ListDataSetIterator")(examples(n)),
        "existing": lambda b: find("ExistingDataSetIterator")(chunks(n, b)),
        "view": lambda b: find("ViewIterator")(ids(n), b),
        "early_termination": lambda b: find("EarlyTerminationDataSetIterator")(base(b), 2),
        "multiple_epochs": lambda b: find("MultipleEpochsIterator")(3, base(b)),
        "multiple_epochs_dataset": lambda b: find("MultipleEpochsIterator")(2, ids(n)),
        "async": lambda b: find("AsyncDataSetIterator")(base(b), 2),
        "async_shield": lambda b: find("AsyncShieldDataSetIterator")(base(b)),
        "reconstruction": lambda b: find("ReconstructionDataSetIterator")(base(b)),
        "test_dataset_iterator": lambda b: find("TestDataSetIterator")(ids(n), b),
        "batch_by": lambda b: find("ListDataSetIterator")(ids(n).batch_by(b), 1),
        "benchmark": lambda b: find("BenchmarkDataSetIterator")(chunks(n, b)[0], 3),
        "splitter_train": lambda b: split().get_train_iterator(),
        "splitter_test": test_part,
    }


def split_shuffle(case: Case, c: Check):
    info = case.info
    n, seed = info["n"], info["seed"]
    b = {10: 4, 13: 5}.get(n, 4)

    def first(d):
        f = np.asarray(d.get_features())
        return [round(float(v), 1) for v in f.reshape(len(f), -1)[:, 0]]

    half = ids(n).split_test_and_train(len(info["split_n"][0]))
    c.equal("split_test_and_train(n)", [first(half.get_train()), first(half.get_test())], info["split_n"])
    part = ids(n).split_test_and_train(0.65)
    c.equal("split_test_and_train(0.65)", [first(part.get_train()), first(part.get_test())], info["split_0_65"])
    d = ids(n)
    for key in ("shuffle", "shuffle_twice"):
        d.shuffle(seed)
        c.equal(key, first(d), info[key])
    c.equal("filter_by", first(ids(n).filter_by([0, 2])), info["filter_by_0_2"])
    c.equal("get_range", first(ids(n).get_range(2, 5)), info["get_range_2_5"])
    c.equal("label_counts", {str(k): float(v) for k, v in dict(ids(n).label_counts()).items()}, info["label_counts"])
    c.equal("batch_by", [first(x) for x in ids(n).batch_by(b)], info["batch_by"])
    c.equal(
        "counts",
        (ids(n).num_examples(), ids(n).num_inputs(), ids(n).num_outcomes()),
        (info["num_examples"], info["num_inputs"], info["num_outcomes"]),
    )
