"""Iterators and preprocessors of users, in both spellings."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.layers import OutputLayer
from dl4py.samediff.data import DataSet, DataSetIterator, DataSetPreProcessor, MultiDataSet, MultiDataSetIterator, NoMoreDataError
from dl4py.samediff.errors import ConfigurationError, DataTypeError
from tests.helpers.networkcheck import network


def batch(k):
    return DataSet(np.full((2, 3), float(k)), np.eye(2)[[k % 2, 1 - k % 2]])


class InJava(DataSetIterator):
    def __init__(self, n=3):
        self.n, self.k = n, 0

    def hasNext(self):
        return self.k < self.n

    def next(self, num=None):
        self.k += 1
        return batch(self.k)

    def reset(self):
        self.k = 0

    def resetSupported(self):
        return True

    def inputColumns(self):
        return 3


class Base(DataSetIterator):
    n = 3
    k = 0
    hasNext, reset, inputColumns = InJava.hasNext, InJava.reset, InJava.inputColumns


class Plain(Base):
    def next(self):
        self.k += 1
        return batch(self.k)


class Sized(Base):
    def next(self, num):
        self.k += 1
        return batch(self.k)


class Loud(DataSetPreProcessor):
    def preProcess(self, data):
        data.set_features(data.get_features() * 10)


class Multi(MultiDataSetIterator):
    k = 0

    def hasNext(self):
        return self.k < 2

    def next(self, num=None):
        self.k += 1
        return MultiDataSet([np.ones((2, 3))], [np.eye(2)])

    def reset(self):
        self.k = 0


@pytest.mark.parametrize("kind", [InJava, Plain, Sized])
def test_next_in_place_of_take(kind):
    iterator = kind()
    assert [b.get_features()[0, 0] for b in iterator] == [1, 2, 3] == [b.get_features()[0, 0] for b in iterator]
    assert iterator.get_position() and iterator.input_columns() == 3 and not iterator.has_next()
    with pytest.raises(NoMoreDataError, match=f"{kind.__name__} has no further batch"):
        iterator.next()
    iterator.setPreProcessor(Loud())
    assert [b.get_features()[0, 0] for b in iterator] == [10, 20, 30]
    net = network(OutputLayer(n_in=3, n_out=2))
    net.fit(iterator)
    assert net.get_iteration_count() == 3


def test_several_inputs():
    net = network(OutputLayer(n_in=3, n_out=2))
    net.fit(Multi())
    assert net.get_iteration_count() == 2


def test_a_subclass_of_an_iterator_may_wrap_its_next():
    class Counting(InJava):
        seen = 0

        def next(self, num=None):
            self.seen += 1
            return super().next(num)

    iterator = Counting()
    assert len(list(iterator)) == 3 == iterator.seen


def test_methods_of_a_mix_in_count():
    class Counting:
        def next(self, num=None):
            self.k += 1
            return batch(self.k)

    class Mixed(Counting, Base):
        pass

    assert [b.get_features()[0, 0] for b in Mixed()] == [1, 2, 3]
    with pytest.raises(NoMoreDataError):
        mixed = Mixed()
        list(mixed.rest())
        mixed.next()


def test_what_is_missing_is_named_in_both_spellings():
    class Half(DataSetIterator):
        def reset(self):
            pass

    with pytest.raises(DataTypeError, match=r"Half cannot give batches yet: .* has_next\(\) \(hasNext in Java's spelling\), next\(\)"):
        Half()


def test_a_preprocessor_without_the_method_is_refused_at_once():
    class Loose:
        def process(self, data):
            pass

    with pytest.raises(ConfigurationError, match=r"has pre_process\(data\) \(preProcess in Java's spelling\); Loose has none$"):
        InJava().set_pre_processor(Loose())
    with pytest.raises(ConfigurationError, match=r"int has none$"):
        InJava().set_pre_processor(3)
    with pytest.raises(NotImplementedError, match="preProcess in Java's spelling"):
        DataSetPreProcessor().pre_process(batch(1))


def test_who_asks_for_so_many_behind_the_end_is_answered_by_the_sub_class():
    iterator = InJava(1)
    assert iterator.next().get_features().getDouble(0) == 1 and not iterator.hasNext()
    assert iterator.next(2).get_features().getDouble(0) == 2
