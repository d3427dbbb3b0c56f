"""A variable that gets another name has it everywhere: in the graph, its outputs and losses, what training knows, and in files."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff import Adam, Evaluation, SameDiff, TrainingConfig
from dl4py.samediff.data import DataSet

X, LABELS = np.ones((4, 3), np.float32), np.eye(2, dtype=np.float32)[[0, 1, 1, 1]]
NAMES = ("x", "labels", "x_mask", "labels_mask", "w", "y", "loss")


def built():
    sd = SameDiff.create()
    x, labels, x_mask, labels_mask = (sd.placeholder(n, "float32", -1, k) for n, k in zip(NAMES, (3, 2, 1, 1)))
    w = sd.var("w", np.ones((3, 2), np.float32) / 2)
    y = sd.nn.softmax(x * x_mask @ w).rename("y")
    sd.loss.softmax_cross_entropy("loss", labels * labels_mask, y, None)
    sd.set_loss_variables("loss")
    sd.set_outputs("y")
    sd.set_training_config(TrainingConfig(
        Adam(0.1), data_set_feature_mapping="x", data_set_label_mapping="labels", data_set_feature_mask_mapping="x_mask",
        data_set_label_mask_mapping="labels_mask", loss_variables="loss", train_evaluations={"y": [Evaluation()]},
        train_evaluation_labels={"y": 0}, validation_evaluations={"y": [Evaluation()]}, validation_evaluation_labels={"y": 0}))
    return sd


@pytest.mark.parametrize("name", NAMES)
def test_everywhere(name, tmp_path):
    sd = built()
    sd.rename_variable(name, "new")
    names = ["new" if n == name else n for n in NAMES]
    config = sd.get_training_config()
    assert [config.data_set_feature_mapping, config.data_set_label_mapping, config.data_set_feature_mask_mapping,
            config.data_set_label_mask_mapping] == [[n] for n in names[:4]]
    assert list(config.train_evaluations) == list(config.train_evaluation_labels) == [names[5]]
    assert list(config.validation_evaluations) == list(config.validation_evaluation_labels) == [names[5]]
    assert sd.outputs() == [names[5]] and sd.get_loss_variables() == config.loss_variables == [names[6]]
    path = tmp_path / "graph.sdz"
    sd.save(path)
    opened = SameDiff.load(path)
    assert opened.outputs() == [names[5]] and opened.get_loss_variables() == [names[6]]


@pytest.mark.parametrize("name", NAMES)
def test_training_goes_on_as_without(name):
    """The same steps, with the state of the updater."""
    ones = np.ones((4, 1), np.float32)
    batch, found = DataSet(X, LABELS, ones, ones), []
    for new in (name, "new"):
        sd = built()
        sd.fit(batch)
        sd.rename_variable(name, new)
        sd.fit(batch)
        found.append(sd.variable(new if name == "w" else "w").get_arr())
    np.testing.assert_array_equal(*found)
    assert not np.array_equal(found[0], built().variable("w").get_arr())
