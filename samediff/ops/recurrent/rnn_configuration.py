"""Configuration and weight objects of the ``rnn`` namespace."""
from __future__ import annotations

from enum import StrEnum
from typing import Any

from ...base.java_names import (
    GRUWeightsNames,
    LSTMConfigurationNames,
    LSTMLayerConfigNames,
    LSTMLayerWeightsNames,
    LSTMWeightsNames,
    SRUWeightsNames,
)
from ...configuration.configuration import Configuration
from ...configuration.declaring import Convertible, configuration, field

_PACKAGE = "org.nd4j.linalg.api.ops.impl.layers.recurrent."


class LSTMDataFormat(StrEnum):
    """Order of the axes of sequences: T time, N batch, S size; T2NS has an axis for the two directions in results."""

    TNS = "TNS"
    NTS = "NTS"
    NST = "NST"
    T2NS = "T2NS"


RnnDataFormat = LSTMDataFormat


class LSTMDirectionMode(StrEnum):
    """Direction of a sequence, and for both directions the way to combine their results."""

    FWD = "FWD"
    BWD = "BWD"
    BIDIR_SUM = "BIDIR_SUM"
    BIDIR_CONCAT = "BIDIR_CONCAT"
    BIDIR_EXTRA_DIM = "BIDIR_EXTRA_DIM"


class LSTMActivations(StrEnum):
    """Activations of an LSTM layer."""

    TANH = "TANH"
    RELU = "RELU"
    SIGMOID = "SIGMOID"
    AFFINE = "AFFINE"
    LEAKY_RELU = "LEAKY_RELU"
    THRESHHOLD_RELU = "THRESHHOLD_RELU"
    SCALED_TAHN = "SCALED_TAHN"
    HARD_SIGMOID = "HARD_SIGMOID"
    ELU = "ELU"
    SOFTSIGN = "SOFTSIGN"
    SOFTPLUS = "SOFTPLUS"


@configuration(_PACKAGE + "config.LSTMConfiguration", kw_only=True)
class LSTMConfiguration(Configuration, LSTMConfigurationNames):
    """Options of ``lstm_cell`` and ``lstm_block``.

    Parameters
    ----------
    data_format : LSTMDataFormat or str
        Axes of the series of ``lstm_block``: ``TNS`` (default), ``NTS`` or ``NST``.
    peep_hole : bool
        Whether gates see the cell by peepholes; False by default.
    forget_bias : float
        Added to the forget gate before its sigmoid; 1 by default.
    clipping_cell_value : float
        Cells stay between minus this and this; 0 (default) does not clip.
    """

    data_format: Convertible[LSTMDataFormat] = field(LSTMDataFormat.TNS, aliases=("rnn_data_format",))
    peep_hole: bool = False
    forget_bias: float = 1.0
    clipping_cell_value: float = 0.0


@configuration(_PACKAGE + "config.LSTMLayerConfig", kw_only=True)
class LSTMLayerConfig(Configuration, LSTMLayerConfigNames):
    """Options of ``lstm_layer``.

    Parameters
    ----------
    lstmdataformat : LSTMDataFormat or str
        Axes of the series: ``TNS`` (default), ``NTS`` or ``NST``; T time, N batch, S size.
    direction_mode : LSTMDirectionMode or str
        ``FWD`` (default), ``BWD``, or both, whose results are added, joined, or stacked in a new axis.
    gate_act, cell_act, out_act : LSTMActivations or str
        Of the gates (sigmoid by default), of what enters the cell and of what leaves it (tanh by default).
    ret_full_sequence, ret_last_h, ret_last_c : bool
        Which results come, in this order: all outputs (default), the last output, the last cell. One at least.
    cell_clip : float
        Cells stay between minus this and this; 0 (default) does not clip.
    gate_alpha, gate_beta, cell_alpha, cell_beta, out_alpha, out_beta : float
        Numbers of activations that have some, such as the slope of LEAKY_RELU; 0 (default) for the usual ones.
    """

    lstmdataformat: Convertible[LSTMDataFormat] = field(LSTMDataFormat.TNS, aliases=("lstm_data_format",))
    direction_mode: Convertible[LSTMDirectionMode] = LSTMDirectionMode.FWD
    gate_act: Convertible[LSTMActivations] = LSTMActivations.SIGMOID
    cell_act: Convertible[LSTMActivations] = LSTMActivations.TANH
    out_act: Convertible[LSTMActivations] = LSTMActivations.TANH
    ret_full_sequence: bool = True
    ret_last_h: bool = False
    ret_last_c: bool = False
    cell_clip: float = 0.0
    gate_alpha: float = 0.0
    gate_beta: float = 0.0
    cell_alpha: float = 0.0
    cell_beta: float = 0.0
    out_alpha: float = 0.0
    out_beta: float = 0.0


@configuration(_PACKAGE + "weights.LSTMLayerWeights", kw_only=True)
class LSTMLayerWeights(Configuration, LSTMLayerWeightsNames):
    """Weights of ``lstm_layer`` for n outputs; with a leading axis of 2 for two directions.

    Parameters
    ----------
    weights, r_weights : array or SDVariable
        (in, 4n) for the input and (n, 4n) for the previous output; columns are those of input gate, forget gate, block input, output
        gate.
    bias : array or SDVariable, optional
        (4n,).
    peephole_weights : array or SDVariable, optional
        (3n,): input, forget and output gate.
    """

    weights: Any
    r_weights: Any
    bias: Any = None
    peephole_weights: Any = None


@configuration(_PACKAGE + "weights.LSTMWeights", kw_only=True)
class LSTMWeights(Configuration, LSTMWeightsNames):
    """Weights of ``lstm_cell`` and ``lstm_block`` for n outputs.

    Parameters
    ----------
    weights : array or SDVariable
        (in + n, 4n), input and previous output joined; columns are those of input gate, block input, forget gate, output gate.
    bias : array or SDVariable, optional
        (4n,).
    input_peephole_weights, forget_peephole_weights, output_peephole_weights : array or SDVariable, optional
        (n,) each.
    """

    weights: Any
    bias: Any
    input_peephole_weights: Any = None
    forget_peephole_weights: Any = None
    output_peephole_weights: Any = None


@configuration(_PACKAGE + "weights.GRUWeights", kw_only=True)
class GRUWeights(Configuration, GRUWeightsNames):
    """Weights of ``gru_cell`` for n outputs; input and previous output are joined.

    Parameters
    ----------
    ru_weight, ru_bias : array or SDVariable
        (in + n, 2n) and (2n,) of reset and update gate.
    c_weight, c_bias : array or SDVariable
        (in + n, n) and (n,) of the candidate.
    """

    ru_weight: Any
    c_weight: Any
    ru_bias: Any
    c_bias: Any


@configuration(_PACKAGE + "weights.SRUWeights", kw_only=True)
class SRUWeights(Configuration, SRUWeightsNames):
    """Weights and bias of a simple recurrent unit.

    Parameters
    ----------
    weights : array or SDVariable
        (3n, n) for ``sru``, (n, 3n) for ``sru_cell``.
    bias : array or SDVariable
        (2n,): forget and reset gate.
    """

    weights: Any
    bias: Any


__all__ = ["GRUWeights", "LSTMActivations", "LSTMConfiguration", "LSTMDataFormat", "LSTMDirectionMode", "LSTMLayerConfig",
           "LSTMLayerWeights", "LSTMWeights", "RnnDataFormat", "SRUWeights"]
