"""The data types that factories take where none is given, and what else DL4J's environment tells."""
from __future__ import annotations

from typing import Any

from ..arrays.default_type import default_type, set_default_type
from ..base.datatype import DataType
from ..base.javanames import JavaSpelling
from ..device.devices import current_device
from ..errors import DataTypeError, GraphError
from ..ir.translate_errors import refusing
from .arguments import Layout


class StandIn(JavaSpelling):
    """A part of DL4J's environment that manages what Python and NumPy manage here: its harmless methods do nothing."""

    def __init__(self, name: str, advice: str) -> None:
        self._name, self._advice = name, advice

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if name in _HARMLESS:
            return lambda *args, **kwargs: None
        raise GraphError(f"{self._name}.{name} does not exist here: {self._advice}")

    def __repr__(self) -> str:
        return f"<stand-in for {self._name}: {self._advice}>"


_HARMLESS = frozenset({
    "invokeGc", "invokeGcOccasionally", "setAutoGcWindow", "togglePeriodicGc", "setOccasionalGcFrequency", "purgeCaches", "collect",
    "destroyAllWorkspacesForCurrentThread", "destroyWorkspace", "commit", "enableDebugMode", "enableVerboseMode", "setProfilingMode",
    "setProfilingConfig", "allowMultiGPU", "allowCrossDeviceAccess", "setMaximumDeviceCache", "setMaximumHostCache", "setVerbose",
    "setDebug", "setMaxThreads", "unsafeSetAffinity", "attachThreadToDevice", "printConfiguration"})

_MEMORY = "memory belongs to Python and NumPy; nothing has to be released or configured"
_DEVICE = "dl4py.samediff.device chooses the device of a thread, the process or a network"
_PARTS = {
    "memory_manager": ("Nd4j.getMemoryManager()", _MEMORY), "workspace_manager": ("Nd4j.getWorkspaceManager()", _MEMORY),
    "affinity_manager": ("Nd4j.getAffinityManager()", _DEVICE), "environment": ("Nd4j.getEnvironment()", _DEVICE),
    "constant_handler": ("Nd4j.getConstantHandler()", _MEMORY), "deallocator_service": ("Nd4j.getDeallocatorService()", _MEMORY),
    "data_buffer_factory": ("Nd4j.getDataBufferFactory()", "an array is its own buffer: Nd4j.create makes arrays of any type"),
    "shape_info_provider": ("Nd4j.getShapeInfoProvider()", "arrays know their shape"),
    "compressor": ("Nd4j.getCompressor()", "arrays are not compressed; Nd4j.write and zip files are"),
    "convolution": ("Nd4j.getConvolution()", "Nd4j.cnn has convolutions, im2col and col2im"),
    "blas_wrapper": ("Nd4j.getBlasWrapper()", "Nd4j.gemm, Nd4j.matmul and NumPy's linalg do what it does"),
    "nd_array_factory": ("Nd4j.getNDArrayFactory()", "Nd4j has all factories"),
    "random_factory": ("Nd4j.getRandomFactory()", "Nd4j.getRandom() is the generator"),
    "distributions": ("Nd4j.getDistributions()", "dl4py.layers has NormalDistribution, UniformDistribution and so on"),
}


class Settings:
    """The settings of DL4J's environment: data types, and stand-ins for its managers."""

    #: What DL4J adds where a division by zero threatens.
    EPS_THRESHOLD = 1e-5

    @staticmethod
    def data_type() -> DataType:
        """The data type of arrays that are made without one; FLOAT at first."""
        return default_type()

    @staticmethod
    def default_floating_point_type() -> DataType:
        """The same."""
        return default_type()

    @staticmethod
    def set_default_data_types(data_type: Any, floating: Any = None) -> None:
        """Set the data type of arrays that are made without one, in the whole process.

        Parameters
        ----------
        data_type : DataType or str
            A floating one.
        floating : DataType, optional
            The type for floating arrays, in DL4J's signature; it must be floating and counts where it is given.

        Raises
        ------
        DataTypeError
            The type is not floating.
        """
        chosen = DataType.storable(data_type if floating is None else floating)
        if not chosen.is_floating:
            raise DataTypeError(f"the default data type must be floating (HALF, BFLOAT16, FLOAT or DOUBLE); got {chosen.name}")
        set_default_type(chosen)

    @staticmethod
    def set_data_type(data_type: Any) -> None:
        """Set the data type of arrays that are made without one."""
        Settings.set_default_data_types(data_type)

    @staticmethod
    def size_of_data_type(data_type: Any = None) -> int:
        """Bytes of one element."""
        return int((default_type() if data_type is None else DataType.storable(data_type)).numpy.itemsize)

    @staticmethod
    def order() -> str:
        """The order of arrays that are made without one: always ``"c"``."""
        return "c"

    @staticmethod
    def get_strides(*shape: Any, order: str = "c") -> list[int]:
        """The strides of an array of that shape, counted in elements; an order ``"c"`` or ``"f"`` may stand behind the sizes."""
        layout = Layout.of("Nd4j.getStrides", shape, order=order)
        sizes, order, stride, found = layout.shape, layout.order, 1, dict[int, int]()
        for axis in reversed(range(len(sizes))) if order == "c" else range(len(sizes)):
            found[axis], stride = stride, stride * sizes[axis]
        return [found[axis] for axis in range(len(sizes))]

    @staticmethod
    def get_backend() -> str:
        """A text about what computes."""
        return f"dl4py on {current_device()}"

    @staticmethod
    def factory() -> StandIn:
        """Stands in for DL4J's factory."""
        return StandIn(*_PARTS["nd_array_factory"])


def _manager(name: str) -> Any:
    def get() -> StandIn:
        return StandIn(*_PARTS[name])
    get.__doc__ = f"Stands in for DL4J's {name.replace('_', ' ')}: {_PARTS[name][1]}."
    get.__name__ = f"get_{name}"
    return staticmethod(get)


for _name in _PARTS:
    setattr(Settings, f"get_{_name}", _manager(_name))
refusing("Nd4j")(Settings)
