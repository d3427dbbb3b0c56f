"""DL4J's arrays: NumPy's, with DL4J's methods."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..base.datatype import DataType
from ..base.java_names import INDArrayNames
from ..base.javanames import to_camel
from ..base.user_code.users_arrays import InDL4JForm, is_users_array
from ..expressions.arrays import as_array
from ..ir.translate_errors import refusing
from .array_class import ArrayType, is_array_class, is_pending
from .facts import Count, Facts, Sizes
from .memory import Memory
from .methods.arithmetic import Arithmetic
from .methods.comparing import Comparing
from .methods.elements import Elements
from .methods.parts import Parts
from .methods.products import Products
from .methods.reducing import Reducing
from .methods.shaping import Shaping
from .methods.text import TextMethods
from .numpy_calls import NumpyCalls, call

if TYPE_CHECKING:
    _Array = np.ndarray[Any, np.dtype[Any]]
else:
    _Array = np.ndarray

_sizes: Any = np.ndarray.shape  # NumPy's own attribute


@refusing("INDArray")
class INDArray(NumpyCalls, Arithmetic, Products, Comparing, Reducing, Shaping, Parts, Elements, Facts, Memory, TextMethods, INDArrayNames,  # type: ignore[misc]
               InDL4JForm, _Array, metaclass=ArrayType):
    """An array with DL4J's methods, in both spellings; NumPy's functions, operators and indices work as on any other.

    :meth:`of` makes one of anything that is an array or nested numbers. Methods follow DL4J (types, shapes, what shares memory), operators
    and functions of NumPy follow NumPy. What Java calls and NumPy has as a property is both: ``a.shape`` and ``a.shape()``.

    Examples
    --------
    >>> from dl4py.samediff import INDArray
    >>> a = INDArray.of([[1.0, 2.0], [3.0, 4.0]])
    >>> a.addRowVector(INDArray.of([10.0, 20.0])).tolist()
    [[11.0, 22.0], [13.0, 24.0]]
    >>> a.sumNumber(), a.shape(), a.std(0).tolist()
    (10.0, (2, 2), [1.4142135381698608, 1.4142135381698608])
    """

    __slots__ = ()

    @staticmethod
    def of(value: Any, data_type: Any = None) -> INDArray:
        """An array, which looks at the memory of ``value`` where it can.

        Parameters
        ----------
        value : array, number or nested lists of numbers
            Python's floats become FLOAT, whole numbers INT where they fit; arrays keep their type.
        data_type : DataType, optional
            Convert to this type.
        """
        dtype = None if data_type is None else DataType.of(data_type).numpy
        if isinstance(value, INDArray) and dtype in (None, value.dtype):
            return value
        if is_pending(value):
            return value if data_type is None else value.castTo(data_type)  # type: ignore[no-any-return]
        return as_array(value, dtype).view(INDArray)

    @property
    def shape(self) -> Any:
        """The sizes, as a tuple that can also be called."""
        return Sizes(_sizes.__get__(self))

    @shape.setter
    def shape(self, sizes: Any) -> None:
        _sizes.__set__(self, sizes)

    @property
    def size(self) -> Any:
        """The number of elements; ``size(i)`` is the size of a dimension."""
        return Count(_sizes.__get__(self))

    def any(self, *args: Any, **numpy: Any) -> Any:
        """True when an element is not 0; arguments are NumPy's."""
        return call(np.any, self, *args, **numpy) if args or numpy else bool(np.asarray(self).any())

    def all(self, *args: Any, **numpy: Any) -> Any:
        """True when no element is 0; arguments are NumPy's."""
        return call(np.all, self, *args, **numpy) if args or numpy else bool(np.asarray(self).all())


def _in_java(cls: type) -> None:
    """Give methods Java's spelling as attributes of the class: looking them up then costs what it costs for any method."""
    for owner in cls.__mro__[1:cls.__mro__.index(np.ndarray)]:
        for name, member in list(vars(owner).items()):
            if not name.startswith("_") and to_camel(name) != name and not hasattr(cls, to_camel(name)):
                setattr(cls, to_camel(name), member)


_in_java(INDArray)
is_array_class(INDArray)
is_users_array(INDArray)
