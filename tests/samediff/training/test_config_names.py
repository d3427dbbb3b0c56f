"""What a training configuration, an evaluation or a listener names must be there: refused when it begins, with the names that are."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.data import DataSet
from dl4py.samediff.errors import ConfigurationError, GraphError, UnknownNameError
from dl4py.samediff.evaluation import Evaluation, RegressionEvaluation
from dl4py.samediff.training import Listener, ListenerVariables, Sgd, TrainingConfig

X, Y = np.ones((4, 2), np.float32), np.ones((4, 1), np.float32)


def linear(set_losses=True):
    sd = SameDiff.create()
    x, y = sd.placeholder("x", DataType.FLOAT, -1, 2), sd.placeholder("y", DataType.FLOAT, -1, 1)
    z = x.mmul(sd.var("w", np.ones((2, 1), np.float32))).add("z", 0.0)
    ((z - y) ** 2).mean("loss")
    if set_losses:
        sd.set_loss_variables("loss")
    return sd


def builder():
    return TrainingConfig.builder().updater(Sgd(0.1)).dataSetFeatureMapping("x").dataSetLabelMapping("y")


WRONG = {
    "lossVariables": (lambda: builder().lossVariables("los"), "loss_variables names 'los'.*did you mean 'loss'.*it has .*z.*loss"),
    "minimize": (lambda: builder().minimize("loss", "unknown"), "loss_variables names 'unknown'"),
    "features": (lambda: builder().dataSetFeatureMapping("xx"), "data_set_feature_mapping names 'xx', and the graph has no placeholder.*x"),
    "features that are variables": (lambda: builder().dataSetFeatureMapping("w"), "data_set_feature_mapping names 'w'"),
    "labels": (lambda: builder().dataSetLabelMapping("z"), "data_set_label_mapping names 'z'"),
    "feature masks": (lambda: builder().dataSetFeatureMaskMapping("m"), "data_set_feature_mask_mapping names 'm'"),
    "label masks": (lambda: builder().dataSetLabelMaskMapping("m"), "data_set_label_mask_mapping names 'm'"),
    "train evaluation": (lambda: builder().trainEvaluation("out", 0, Evaluation()), "train_evaluations names 'out'"),
    "validation evaluation": (lambda: builder().validationEvaluation("out", 0, Evaluation()), "validation_evaluations names 'out'"),
    "label array": (lambda: builder().trainEvaluation("z", 1, RegressionEvaluation()), "label array 1.*names 1, counted from 0: y"),
}


@pytest.mark.parametrize("set_losses", [True, False])
@pytest.mark.parametrize("what", WRONG)
def test_names_that_a_graph_does_not_have_are_refused_when_training_begins(what, set_losses):
    make, said = WRONG[what]
    for fit in (lambda sd: sd.fit(X, Y), lambda sd: sd.fit(DataSet(X, Y), epochs=2), lambda sd: sd.initialize_training()):
        sd = linear(set_losses)
        sd.set_training_config(make().build())
        with pytest.raises(ConfigurationError, match=said):
            fit(sd)
        assert (sd.get_variable("w").get_arr() == 1).all() and sd.get_iteration_count() == 0


def test_another_configuration_is_looked_at_again():
    sd = linear()
    sd.set_training_config(builder().build())
    sd.fit(X, Y)
    sd.set_training_config(builder().dataSetLabelMapping("nope").build())
    with pytest.raises(ConfigurationError, match="'nope'"):
        sd.fit(X, Y)
    sd.set_training_config(builder().build())
    sd.fit(X, Y)


@pytest.mark.parametrize("loss", ["x", "w"])
def test_a_loss_is_a_result(loss):
    sd = linear()
    sd.set_training_config(builder().lossVariables(loss).build())
    with pytest.raises(GraphError, match="cannot be a loss"):
        sd.fit(X, Y)


@pytest.mark.parametrize("make", [
    lambda: builder().trainEvaluation("z", Evaluation()).build(), lambda: builder().trainEvaluation("z", -1, Evaluation()).build(),
    lambda: builder().trainEvaluation("z", 0, "accuracy").build(), lambda: builder().validationEvaluation("z", 0, Evaluation).build(),
    lambda: TrainingConfig(Sgd(0.1), train_evaluations={"z": ["f1"]}, train_evaluation_labels={"z": 0}),
    lambda: TrainingConfig(Sgd(0.1), train_evaluations={"z": [Evaluation()]}, train_evaluation_labels={"z": "y"})])
def test_evaluations_and_label_arrays_are_such(make):
    with pytest.raises(ConfigurationError, match="label array|evaluated by objects"):
        make()


def test_listeners_ask_for_what_there_is():
    class Asking(Listener):
        def required_variables(self, sd):
            return ListenerVariables.of("zz")
    sd = linear()
    sd.set_training_config(builder().build())
    for call in (lambda: sd.fit(X, Y, listeners=Asking()), lambda: sd.evaluate((X, Y), "z", RegressionEvaluation(), Asking()),
                 lambda: sd.output({"x": X}, "z", Asking())):
        with pytest.raises(UnknownNameError, match="a listener asks for 'zz' in .*did you mean 'z'"):
            call()


@pytest.mark.parametrize(("call", "said"), [
    (lambda sd: sd.evaluate((X, Y), "zz", RegressionEvaluation()), "'zz'"),
    (lambda sd: sd.evaluate((X, Y), "z", 3, RegressionEvaluation()), "label array 3 of 'z' is asked for, the data has 1"),
    (lambda sd: sd.evaluate((X, Y), "z", -1, RegressionEvaluation()), "whole number from 0; got -1"),
    (lambda sd: sd.evaluate((X, Y), "z", RegressionEvaluation(), label_index="y"), "whole number from 0; got 'y'"),
    (lambda sd: sd.evaluate((X, Y), {"z": RegressionEvaluation()}, {"loss": 0}), "named for 'loss', which is not evaluated; z is"),
    (lambda sd: sd.evaluate((X, Y), "z", "accuracy"), "evaluated by objects such as Evaluation"),
    (lambda sd: sd.evaluate().evaluate("z", RegressionEvaluation()).labelIndex("zz", 1).data([DataSet(X, Y)]).exec(), "named for 'zz'")])
def test_evaluations_name_what_there_is(call, said):
    sd = linear()
    sd.set_training_config(builder().build())
    with pytest.raises((ConfigurationError, UnknownNameError), match=said):
        call(sd)


def test_losses_that_those_of_the_graph_outdo_are_warned_of():
    sd = linear()
    sd.set_training_config(builder().loss_variables("z").build())
    with pytest.warns(UserWarning, match="loss_variables names z, and the graph's own .* loss. .*set_loss_variables\\('z'\\)") as heard:
        sd.fit(X, Y)
    assert heard[0].filename == __file__ and sd.get_loss_variables() == ["loss"]
    sd.set_training_config(builder().loss_variables("loss").build())
    sd.fit(X, Y)
