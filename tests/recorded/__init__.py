"""Checks of cases recorded from DL4J 1.0.0-M2.1, by area, through public names alone: see ``check.py``."""

from . import evaluation, files, init, layers, ops, samediff, training

AREAS = {
    "layers": layers.check,
    "training": training.check,
    "init": init.check,
    "ops": ops.check,
    "files": files.check,
    "samediff": samediff.check,
    "evaluation": evaluation.check,
    "real": files.real,
    "bad": files.bad,
}
