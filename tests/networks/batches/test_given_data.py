"""What networks are given: every form of a batch and of batches means the same, no batch is an error, nothing is dropped in silence."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.layers import AutoEncoder, DenseLayer, OutputLayer, VariationalAutoencoder
from dl4py.networks import ParallelWrapper
from dl4py.networks.early_stopping import (
    AutoencoderScoreCalculator,
    DataSetLossCalculator,
    EarlyStoppingConfiguration,
    EarlyStoppingTrainer,
    MaxEpochsTerminationCondition,
    VAEReconErrorScoreCalculator,
    VAEReconProbScoreCalculator,
)
from dl4py.samediff import DataSet, Evaluation, ListDataSetIterator, MultiDataSet, SameDiff
from dl4py.samediff.data import (
    CSVRecordReader,
    CSVSequenceRecordReader,
    DataSetIterator,
    NormalizerStandardize,
    SequenceRecordReaderDataSetIterator,
)
from dl4py.samediff.errors import ConfigurationError, DL4PyError, GraphError
from dl4py.samediff.evaluation import RegressionEvaluation
from dl4py.samediff.training import EvaluativeListener, Sgd, TrainingConfig
from tests.helpers.networkcheck import network

X = np.random.default_rng(3).normal(size=(6, 4))
Y = np.eye(3)[[0, 1, 2, 0, 1, 2]]
DATA = DataSet(X, Y)


class Loader:
    """Batches of anybody's: it can be iterated, and that is all."""

    def __init__(self, *batches):
        self.batches = batches

    def __iter__(self):
        return iter(self.batches)


class Empty(DataSetIterator):
    def has_next(self):
        return False

    def take(self, num):
        raise AssertionError

    def reset(self):
        pass


@pytest.fixture(params=[False, True], ids=["list", "graph"])
def net(request):
    made = network(DenseLayer(n_in=4, n_out=5), OutputLayer(n_in=5, n_out=3))
    return made.to_computation_graph() if request.param else made


def test_forms_of_batches_train_alike(net):
    other = net.clone()
    for form in [[DATA, DATA], (DATA, DATA), [(X, Y), (X, Y)], ((X, Y), (X, Y)), Loader(DATA, DATA), Loader((X, Y), [X, Y]),
                 iter([DATA, (X, Y)]),
                 ListDataSetIterator(DATA.as_list() * 2, 6), Loader(MultiDataSet([X], [Y]), DATA)]:
        net.fit(form)
        other.fit(DATA)
        other.fit(DATA)
        np.testing.assert_array_equal(net.params(), other.params())
    for form in [DATA, (X, Y), MultiDataSet([X], [Y])]:
        net.fit(form)
        other.fit(X, Y)
        np.testing.assert_array_equal(net.params(), other.params())
    assert net.get_iteration_count() == other.get_iteration_count()
    wrapper = ParallelWrapper(net, workers=1)
    wrapper.fit(Loader((X, Y), DATA))
    assert net.get_iteration_count() == other.get_iteration_count() + 2


def test_forms_of_batches_are_measured_alike(net):
    wanted = net.evaluate(DATA).stats()
    for form in [(X, Y), [DATA], [(X, Y)], Loader((X, Y)), MultiDataSet([X], [Y])]:
        assert net.evaluate(form).stats() == wanted
    assert net.score((X, Y)) == net.score(DATA) and net.f1_score(X, Y) == net.f1_score(DATA) == net.f1_score((X, Y))
    np.testing.assert_array_equal(net.score_examples([(X, Y), DATA]), np.tile(net.score_examples(DATA), 2))


class Pairs(DataSetIterator):
    """One batch, in any form."""

    def __init__(self, batch):
        self.given, self.k = batch, 0

    def has_next(self):
        return self.k < 1

    def take(self, num):
        self.k += 1
        return self.given

    def reset(self):
        self.k = 0


def test_outputs_of_iterators_of_any_batches(net):
    wanted = net.output(X)
    for form in (DATA, (X, Y), MultiDataSet([X], [Y])):
        np.testing.assert_array_equal(net.output(Pairs(form)), wanted)


def test_pretraining_takes_lists_of_arrays():
    found = []
    for form in ([X, X], (DATA, DATA), [DATA, DATA], [(X, Y), DATA], Loader(X, DATA)):
        coder = network(AutoEncoder(n_in=4, n_out=3), OutputLayer(n_in=3, n_out=3))
        coder.pretrain(form)
        found.append(coder.params())
    for params in found[1:]:
        np.testing.assert_array_equal(params, found[0])


def test_early_stopping_takes_any_batches():
    metric, found = RegressionEvaluation.Metric.MSE, []
    for form in (DATA, (X, Y), [(X, Y)], MultiDataSet([X], [Y]), Pairs((X, Y))):
        coder = network(AutoEncoder(n_in=4, n_out=3), OutputLayer(n_in=3, n_out=3))
        conf = EarlyStoppingConfiguration(score_calculator=DataSetLossCalculator(form),
                                          epoch_termination_conditions=[MaxEpochsTerminationCondition(2)])
        result = EarlyStoppingTrainer(conf, coder, form).fit()
        assert coder.get_iteration_count() == 2 and result.get_total_epochs() == 2
        found.append((result.get_best_model_score(), AutoencoderScoreCalculator(metric, form).calculate_score(coder)))
    assert len(set(found)) == 1


NOTHING = [Empty(), ListDataSetIterator([], 2), Loader(), iter([])]


@pytest.mark.parametrize("data", NOTHING, ids=lambda d: type(d).__name__)
def test_data_without_batches_is_refused(net, data):
    before, counts = net.params().copy(), (net.get_iteration_count(), net.get_epoch_count())
    normalizer = NormalizerStandardize()
    calls = [lambda: net.fit(data), lambda: net.evaluate(data), lambda: net.evaluate_roc_multi_class(data),
             lambda: net.score_examples(data),
             lambda: net.do_evaluation(data, Evaluation()), lambda: net.evaluate_regression(data), lambda: normalizer.fit(data),
             lambda: ParallelWrapper(net, workers=2).fit(data), lambda: DataSetLossCalculator(data).calculate_score(net),
             lambda: EvaluativeListener(data, 1)._invoke(EvaluativeListener(data, 1).invocation_type, net)]
    for call in calls:
        with pytest.raises(ConfigurationError, match="no batch"):
            call()
    if hasattr(data, "has_next"):
        with pytest.raises(ConfigurationError, match="no batch"):
            net.output(data)
    np.testing.assert_array_equal(net.params(), before)
    assert (net.get_iteration_count(), net.get_epoch_count()) == counts and not normalizer.is_fit()


@pytest.mark.parametrize("data", NOTHING, ids=lambda d: type(d).__name__)
def test_layers_are_not_pretrained_on_nothing(data):
    coder = network(AutoEncoder(n_in=4, n_out=3), OutputLayer(n_in=3, n_out=3))
    varying = network(VariationalAutoencoder(n_in=4, n_out=2, encoder_layer_sizes=(3,), decoder_layer_sizes=(3,)),
                      OutputLayer(n_in=2, n_out=3))
    metric = RegressionEvaluation.Metric.MSE
    for call in [lambda: coder.pretrain(data), lambda: coder.pretrain_layer(0, data),
                 lambda: AutoencoderScoreCalculator(metric, data).calculate_score(coder),
                 lambda: VAEReconErrorScoreCalculator(metric, data).calculate_score(varying),
                 lambda: VAEReconProbScoreCalculator(data, 2, True).calculate_score(varying)]:
        with pytest.raises(ConfigurationError, match="no batch"):
            call()
    assert coder.get_layer(0).get_iteration_count() == 0


@pytest.mark.parametrize("data", [[], *NOTHING], ids=lambda d: type(d).__name__)
def test_graphs_refuse_data_without_batches(data):
    sd = SameDiff.create()
    x, y, w = sd.placeholder("x", -1, 4), sd.placeholder("y", -1, 3), sd.var("w", np.ones((4, 3), np.float32))
    sd.loss.mean_squared_error("loss", y, x.mmul("z", w), None)
    sd.set_training_config(TrainingConfig(updater=Sgd(0.1), data_set_feature_mapping=["x"], data_set_label_mapping=["y"]))
    for call in [lambda: sd.fit(data, 1), lambda: sd.evaluate(data, "z", Evaluation()), lambda: sd.output(data, "z"),
                 lambda: sd.fit([DATA], 1, validation_data=data)]:
        with pytest.raises(ConfigurationError, match="no batch"):
            call()


@pytest.mark.parametrize("args, options, said", [
    ((X, Y), {"epoch": 2}, "option 'epoch'; did you mean 'epochs'.*options epochs, batch_size, check_finite"),
    ((X, Y), {"batchsize": 2}, "did you mean 'batch_size'"), ((X, Y), {"validation_steps": 1}, "'validation_steps': Early"),
    ((DATA,), {"epoch": 2}, "did you mean 'epochs'"), (([DATA],), {"epoch": 2}, "did you mean 'epochs'"),
    (([DATA],), {"batch_size": 2}, "decides on its batches itself"),
    (([DATA], 2, 3), {}, "no further argument"), ((DATA, 3), {}, "no further argument"), (([DATA], 2), {"epochs": 3}, "given twice"),
    ((), {}, "got nothing"), ((None,), {}, "got nothing"), ((Loader(3),), {}, "gives a int; expected data sets"),
    ((Loader(X),), {}, "gives a ndarray; expected data sets"), (([DATA], 0), {}, "above 0"), (([DATA], True), {}, "above 0")],
    ids=range(15))
def test_what_fit_does_not_know_is_said(net, args, options, said):
    before, counts = net.params().copy(), (net.get_iteration_count(), net.get_epoch_count())
    with pytest.raises((GraphError, ConfigurationError), match=said):
        net.fit(*args, **options)
    np.testing.assert_array_equal(net.params(), before)
    assert (net.get_iteration_count(), net.get_epoch_count()) == counts


def test_measuring_says_what_it_needs(net):
    for call, said in [(lambda: net.score(X), r"DataSet\(x, y\)"), (lambda: net.evaluate(DataSet(X, None)), "no labels"),
                       (lambda: net.evaluate(X), r"DataSet\(x, y\)")]:
        with pytest.raises(DL4PyError, match=said):
            call()


def test_readers_that_were_not_initialized():
    for call in [CSVRecordReader().has_next, CSVRecordReader().next, CSVRecordReader().table,
                 lambda: SequenceRecordReaderDataSetIterator(CSVSequenceRecordReader(), 2, 3, 0),
                 lambda: SequenceRecordReaderDataSetIterator(CSVSequenceRecordReader(), CSVSequenceRecordReader(), 2, 3),
                 lambda: CSVSequenceRecordReader().sequence(0)]:
        with pytest.raises(ConfigurationError, match=r"call initialize\(path\) first"):
            call()


def test_a_folder_without_files_has_no_series(tmp_path):
    for reader in (CSVRecordReader(), CSVSequenceRecordReader()):
        with pytest.raises(FileNotFoundError):
            reader.initialize(tmp_path)
