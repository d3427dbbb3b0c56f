"""Making variables, constants and placeholders: sizes are sizes, values are values, the rest is refused where it stands."""
from __future__ import annotations

import inspect

import numpy as np
import pytest

import dl4py.samediff as samediff
from dl4py.layers import NormalDistribution
from dl4py.samediff import DataType, SameDiff, VariableType, XavierInitScheme
from dl4py.samediff.errors import DL4PyError

F, X = DataType.FLOAT, XavierInitScheme("c", 3, 4)
VARIABLE, CONSTANT, PLACEHOLDER = VariableType.VARIABLE, VariableType.CONSTANT, VariableType.PLACEHOLDER


@pytest.fixture
def sd():
    return SameDiff.create()


@pytest.mark.parametrize("dtype, args", [
    (F, (3, 4)), (F, ([3, 4],)), (F, ((3, 4),)), (F, (F, 3, 4)), (F, (F, [3, 4])), (F, (3, 4, F)), (F, ((3, 4), "float32")),
    (F, (np.int64(3), np.int32(4))), (DataType.DOUBLE, ("double", 3, 4)), (DataType.INT, (np.int32, (3, 4)))])
def test_whole_numbers_are_sizes(sd, dtype, args):
    made = sd.var("v", *args), sd.place_holder("x", *args), sd.zero("z", *args), sd.one("o", *args)
    assert [m.get_variable_type() for m in made] == [VARIABLE, PLACEHOLDER, CONSTANT, CONSTANT]
    for m in made:
        assert m.get_shape() == (3, 4) and m.dtype is dtype
    assert not made[0].get_arr().any() and not made[2].get_arr().any() and (made[3].get_arr() == 1).all()


def test_scalars_and_open_sizes(sd):
    assert sd.var("a", ()).get_shape() == sd.var("b", F).get_shape() == sd.var("alone").get_shape() == sd.zero("z").get_shape() == ()
    opened = sd.var("x", -1, 3)
    assert opened.is_place_holder() and opened.get_shape() == (-1, 3) and opened.dtype is F
    assert sd.place_holder("p", 10).get_shape() == (10,) and sd.placeHolder("q", 10, dtype="INT").dtype is DataType.INT
    assert sd.place_holder("u", None).get_shape() is sd.place_holder("v", F, shape=None).get_shape() is None
    unnamed = sd.var(F, 2)
    assert unnamed.get_shape() == (2,) and unnamed.get_variable_type() is VARIABLE


@pytest.mark.parametrize("value", [np.array([3, 4]), np.array(3.5), np.float32(3.5), [3.5, 4.0], [[3, 4], [5, 6]],
                                   [np.ones(2), np.ones(2)]], ids=repr)
def test_arrays_and_fractions_are_values(sd, value):
    np.testing.assert_array_equal(sd.var("v", value).get_arr(), np.asarray(value))
    np.testing.assert_array_equal(sd.constant("c", value).get_arr(), np.asarray(value))


def test_constants_take_one_value(sd):
    assert sd.constant("i", 3).get_arr() == 3 and sd.constant("f", F, 3).dtype is F and sd.constant(2.5).get_arr() == 2.5
    np.testing.assert_array_equal(sd.constant("c", (3, 4)).get_arr(), [3, 4])
    assert sd.constant("t", "text").dtype is DataType.UTF8


def test_scalars_are_constants(sd):
    for made in (sd.scalar("a", 2.0), sd.scalar("b", F, 2), sd.scalar("c", 2, F)):
        assert made.is_constant() and made.get_arr() == 2 and made.get_shape() == ()
        assert made.convert_to_variable().is_trainable()
    assert sd.scalar("d", 2).dtype is DataType.INT and sd.scalar(None, 2.5).dtype is F


REFUSED = {
    "var": [(), (None,), ("v", 3.0), ("v", 3, 4.0), ("v", True), ("v", 3, F, 4), ("v", F, F), ("v", np.ones(2), 3), ("v", np.ones(2), F),
            (3, 4), ([3, 4],), ("v", "hello"), ("v", 0, 2), ("v", -2), ("v", None), ("v", X), ("v", X, F), (X,),
            ("v", X, X, 3, 4), ("v", X, F, -1),
            ("v", CONSTANT, X, F, 3)],
    "constant": [(), ("b",), ("b", 3, 4), ("b", 3, 4, 5), (3, 4), ("b", F), ("b", None), (F, 2.0)],
    "scalar": [("s",), ("s", 2, 3), ("s", [2, 3]), ("s", np.ones(1)), ("s", F)],
    "zero": [("z", 2.5), (2, 3), ("z", F, -1)],
    "one": [("z", 2.5), (2, 3), ("z", F, 2, F)],
    "place_holder": [("x", 2.5), ("x", np.ones(3)), ("x", "FLOT", 3), (3, 4), ("x", True)],
}


@pytest.mark.parametrize("kind, args", [(kind, args) for kind, cases in REFUSED.items() for args in cases], ids=repr)
def test_what_has_no_meaning_is_refused_and_changes_nothing(sd, kind, args):
    with pytest.raises(DL4PyError) as error:
        getattr(sd, kind)(*args)
    assert sd.variable_names() == [] and len(str(error.value)) > 20


SCHEMES = [c for _, c in inspect.getmembers(samediff, inspect.isclass)
           if issubclass(c, samediff.WeightInitScheme) and c is not samediff.WeightInitScheme]


def _made(scheme):
    if scheme is samediff.NDArraySupplierInitScheme:
        return scheme(np.ones((3, 4)))
    if scheme is samediff.DistributionInitScheme:
        return scheme("c", NormalDistribution(0, 1))
    return scheme("c", 3, 4) if len(inspect.signature(scheme).parameters) > 2 else scheme("c")


@pytest.mark.parametrize("scheme", SCHEMES, ids=lambda c: c.__name__)
def test_every_scheme_needs_sizes(sd, scheme):
    made = _made(scheme)
    for args in ((made,), (made, F)):
        with pytest.raises(DL4PyError, match="sizes are missing"):
            sd.var("w", *args)
    sizes = (3, 3) if scheme.__name__ == "IdentityInitScheme" else (3, 4)
    for k, args in enumerate([(made, F, *sizes), (made, *sizes), (made, sizes), (sizes, made), (VARIABLE, made, F, *sizes)]):
        assert sd.var(f"w{k}", *args).get_shape() == sizes


def test_constants_say_what_changes_them(sd):
    c = sd.constant("c", np.arange(6.0).reshape(2, 3))
    array = c.get_arr()

    def item():
        array[0][1] = 3

    def in_place():
        c.get_arr().__iadd__(1)

    for act in (item, in_place, lambda: array.fill(3), lambda: np.exp(array, out=array), lambda: array.T.__setitem__(..., 1)):
        with pytest.raises(DL4PyError, match=r"constant 'c'.*set_array"):
            act()
    np.testing.assert_array_equal(c.eval(), np.arange(6.0).reshape(2, 3))
    assert (array + 1).flags.writeable and type(np.asarray(array)) is np.ndarray and array.sum() == 15 and "ReadOnly" not in repr(array)
    mine = array.copy()
    mine[0] = 7
    mine += 1
    np.testing.assert_array_equal(mine[0], [8, 8, 8])
    c.set_array(np.ones((2, 3)))
    np.testing.assert_array_equal(c.get_arr(), np.ones((2, 3)))
