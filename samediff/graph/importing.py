"""Graphs from models of other libraries."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any, BinaryIO, Self, cast

from ..base.java_names import OnnxFrameworkImporterNames
from ..ir.graph_class import graph_class
from .inspection import InspectionMixin


class ImportingMixin(InspectionMixin):
    """The part of :class:`SameDiff` that imports models."""

    @classmethod
    def import_onnx(cls, source: str | PathLike[str] | bytes | BinaryIO | Any, dynamic_variables: Mapping[str, Any] | None = None,
                    trainable: Callable[[str, Any], bool] | None = None) -> Self:
        """The graph of an ONNX model; it needs the package ``onnx``.

        Inputs become placeholders, with -1 where the model leaves a size open; floating initializers become variables, which
        train, other values constants. Variables have the names that values have in the model.

        Parameters
        ----------
        source : path, bytes, binary stream or ModelProto
            The model. Tensors in files beside it are read where a path is given, from its own folder alone.
        dynamic_variables : mapping of str to array, optional
            Values of inputs that are known beforehand: they become constants, and what depends on them is computed at once.
        trainable : function of a name and an array, optional
            Whether a floating initializer is trained; by default all but single numbers are.

        Raises
        ------
        MissingOpError
            An operator that nobody has registered a converter for.
        ValueNeededError
            A value that the graph depends on, such as a number of results, is computed from a placeholder.
        FileFormatError
            The file is no ONNX model, or names data outside of its folder.
        GraphError, DataTypeError
            Something in the model has no counterpart here; the message says which node.

        Examples
        --------
        >>> import numpy as np
        >>> from onnx import TensorProto, helper
        >>> from dl4py.samediff import SameDiff
        >>> x, y = (helper.make_tensor_value_info(n, TensorProto.FLOAT, ["batch", 2]) for n in "xy")
        >>> graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "relu", [x], [y])
        >>> sd = SameDiff.import_onnx(helper.make_model(graph))
        >>> sd.output_single({"x": np.float32([[-1, 2]])}, "y")
        array([[0., 2.]], dtype=float32)
        """
        from ..onnx.importing import fill
        sd = cls()
        fill(sd, source, dynamic_variables, trainable)
        return sd

    def export_onnx(self, target: str | PathLike[str] | BinaryIO | None = None, outputs: Sequence[str | Any] = (),
                    shapes: Mapping[str, Sequence[int]] | None = None, external_data: bool | None = None) -> Any:
        """Write the graph, as it computes outside of training, as an ONNX model; it needs the package ``onnx``.

        Placeholders become inputs and keep their names, sizes of -1 stay open (``batch`` where it is the first of the only input);
        variables and constants become initializers, outputs keep their names. A file is written whole or not at all.

        Parameters
        ----------
        target : path or binary stream, optional
            Where the model is written; without it the model is only returned.
        outputs : sequence of str or SDVariable, optional
            What the model gives; by default :meth:`SameDiff.outputs`.
        shapes : mapping of str to shape, optional
            Shapes of placeholders for the model, where sizes that are open here have to be known there.
        external_data : bool, optional
            Whether large arrays are written into a file of the model's name with ``.data`` behind it; by default where the model
            would have more than 2 GB, which such a file cannot.

        Returns
        -------
        ModelProto

        Raises
        ------
        MissingOpError
            ONNX cannot say some of the ops; all of them are named, with the reasons, and nothing is written.
        LimitError
            The arrays are larger than such a file may be, and there is no path beside which they could be written.

        Examples
        --------
        >>> import numpy as np
        >>> from dl4py.samediff import SameDiff
        >>> sd = SameDiff.create()
        >>> x = sd.placeholder("x", "FLOAT", -1, 2)
        >>> y = sd.nn.softmax("y", x.mmul(sd.var("w", np.eye(2, dtype=np.float32))))
        >>> [node.op_type for node in sd.export_onnx().graph.node]
        ['MatMul', 'Softmax']
        """
        from ..onnx.exporting import export
        return export(self, target, outputs or self.outputs(), shapes, external_data=external_data)

    @classmethod
    def import_frozen_tf(cls, source: str | PathLike[str] | bytes | BinaryIO, dynamic_variables: Mapping[str, Any] | None = None, *,
                         signature: str = "serving_default") -> Self:
        """The graph of a frozen TensorFlow graph (a ``.pb`` file) or of a SavedModel (its folder); TensorFlow is not needed.

        Placeholders stay, constants become constants (:meth:`SameDiff.convert_to_variable` makes them trainable), names are those
        of the file, with ``name:1`` for the second output of a node.

        Parameters
        ----------
        source : path, bytes or binary stream
            The graph.
        dynamic_variables : mapping of str to array, optional
            Values of placeholders that are known beforehand.
        signature : str
            Which signature of a SavedModel: its inputs and outputs.

        Raises
        ------
        MissingOpError
            An operator that has no converter.
        FileFormatError
            The file is no frozen graph, or the SavedModel has no such signature.
        """
        from ..tensorflow.importing import fill
        sd = cls()
        fill(sd, source, dynamic_variables, signature)
        return sd


class OnnxFrameworkImporter(OnnxFrameworkImporterNames):
    """DL4J's importer of ONNX models; :meth:`SameDiff.import_onnx` is the same.

    Examples
    --------
    >>> from dl4py.samediff import OnnxFrameworkImporter
    >>> OnnxFrameworkImporter().run_import("missing.onnx")
    Traceback (most recent call last):
    ...
    FileNotFoundError: [Errno 2] No such file or directory: 'missing.onnx'
    """

    def run_import(self, file_name: str | PathLike[str] | bytes | Any, dynamic_variables: Mapping[str, Any] | None = None,
                   suggest_dynamic_variables: bool = False) -> Any:
        """The graph of a model.

        Parameters
        ----------
        file_name : path, bytes, binary stream or ModelProto
            The model.
        dynamic_variables : mapping of str to array, optional
            Values of inputs that are known beforehand.
        suggest_dynamic_variables : bool
            Taken for DL4J's sake, and has no effect: no values are made up here, an error names those that are needed.
        """
        return cast(type[ImportingMixin], graph_class()).import_onnx(file_name, dynamic_variables)
