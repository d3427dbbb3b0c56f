"""Which losses count: those given to the graph, those that its configuration names, those that mark themselves."""
from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.errors import GradientError, UnknownNameError
from dl4py.samediff.training import Sgd, TrainingConfig

X, Y = np.ones((4, 2)), np.ones((4, 1))


def two_losses():
    """A graph of two weights, each with a loss of its own, which are ops of ``sd.loss``."""
    sd = SameDiff.create()
    x, y = sd.placeholder("x", DataType.DOUBLE, -1, 2), sd.placeholder("y", DataType.DOUBLE, -1, 1)
    for name, loss in (("v", sd.loss.mean_squared_error), ("w", sd.loss.absolute_difference)):
        loss(f"{name}_loss", y, x.mmul(sd.var(name, np.ones((2, 1)))), None)
    return sd


def config(*losses):
    made = TrainingConfig.builder().updater(Sgd(0.1)).data_set_feature_mapping("x").data_set_label_mapping("y")
    return (made.loss_variables(*losses) if losses else made).build()


def moved(sd):
    """The weights that a step changes."""
    before = {n: sd.stored(n).copy() for n in "vw"}
    sd.fit(X, Y)
    return {n for n in "vw" if (sd.stored(n) != before[n]).any()}


def test_losses_that_mark_themselves_are_summed():
    sd = two_losses()
    sd.set_training_config(config())
    assert sd.get_loss_variables() == ["v_loss", "w_loss"] and moved(sd) == {"v", "w"}


@pytest.mark.parametrize("named", ["v", "w"])
def test_those_that_a_configuration_names_are_minimized_alone(named):
    sd, feeds = two_losses(), {"x": X, "y": Y}
    both = sd.calculate_gradients(feeds, "v", "w")              # of the time before
    sd.set_training_config(config(f"{named}_loss"))
    assert sd.get_loss_variables() == [f"{named}_loss"] and f"loss: {named}_loss\n" in sd.summary()
    assert sd.calculate_gradients(feeds, named)[named].tolist() == both[named].tolist()
    with pytest.raises(GradientError, match="does not depend"):
        sd.calculate_gradients(feeds, *{"v", "w"} - {named})
    assert sd.score(X, Y) == sd.output(feeds, f"{named}_loss")[f"{named}_loss"]
    assert moved(sd) == {named}
    sd.set_training_config(config())
    assert moved(sd) == {"v", "w"}


@pytest.mark.parametrize("give", [
    lambda sd: sd.set_loss_variables("v_loss", "w_loss"), lambda sd: sd.variable("w_loss").mark_as_loss(),
], ids=["set", "marked"])
def test_those_given_to_the_graph_outdo_them(give):
    sd = two_losses()
    give(sd)
    sd.set_training_config(config("v_loss"))
    with pytest.warns(UserWarning, match="the graph's own loss variables count"):
        assert moved(sd) == {"v", "w"}
    sd.set_loss_variables()                                     # none are given any more
    assert sd.get_loss_variables() == ["v_loss"]


def test_other_names_in_the_same_configuration_are_noticed():
    sd, made = two_losses(), config("v_loss")
    sd.set_training_config(made)
    assert moved(sd) == {"v"}
    made.loss_variables = ["w_loss"]
    assert moved(sd) == {"w"}
    assert set(sd.calculate_gradients({"x": X, "y": Y}, "w")) == {"w"}


def test_files_keep_those_that_count():
    sd = two_losses()
    sd.set_training_config(config("w_loss"))
    read = SameDiff.from_flat_buffers(sd.as_flat_buffers(True))
    assert read.get_loss_variables() == ["w_loss"] and moved(read) == {"w"}


@pytest.mark.parametrize("copied", [SameDiff.dup, copy.deepcopy, lambda sd: pickle.loads(pickle.dumps(sd))],
                         ids=["dup", "deepcopy", "pickle"])
def test_copies_are_asked_as_the_graph_is(copied):
    sd = two_losses()
    sd.set_training_config(config("w_loss"))
    made = copied(sd)
    made.set_training_config(config("v_loss"))
    assert moved(made) == {"v"}
    made.set_training_config(config())
    assert made.get_loss_variables() == ["v_loss", "w_loss"]


def test_losses_of_branches_are_none_of_the_graph():
    sd = two_losses()
    sd.set_training_config(config("v_loss"))
    sd.if_cond(sd.constant(True), lambda g: g.variable("v").sum().mark_as_loss(), lambda g: g.variable("w").sum())
    assert sd.get_loss_variables() == ["v_loss"]


def test_a_named_loss_that_is_not_there_is_an_error():
    sd = two_losses()
    sd.set_training_config(config("u_loss"))
    with pytest.raises(UnknownNameError, match="u_loss"):
        sd.calculate_gradients({"x": X, "y": Y}, "v")
