"""Configuration and weight objects of the ``rnn`` namespace."""
from __future__ import annotations

from enum import StrEnum
from typing import Any

from ...configuration.configuration import Configuration, configuration, field

_PACKAGE = "org.nd4j.linalg.api.ops.impl.layers.recurrent."


class LSTMDataFormat(StrEnum):
    """Order of the axes of sequences: T time, N batch, S size; T2NS has an axis for the two directions in results."""

    TNS = "TNS"
    NTS = "NTS"
    NST = "NST"
    T2NS = "T2NS"


RnnDataFormat = LSTMDataFormat


class LSTMDirectionMode(StrEnum):
    """Which way a sequence is read, and how the results of both ways are joined."""

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
class LSTMConfiguration(Configuration):
    """Options of ``lstm_cell`` and ``lstm_block``; a clipping value of 0 does not clip."""

    data_format: LSTMDataFormat = field(LSTMDataFormat.TNS, aliases=("rnn_data_format",))
    peep_hole: bool = False
    forget_bias: float = 1.0
    clipping_cell_value: float = 0.0


@configuration(_PACKAGE + "config.LSTMLayerConfig", kw_only=True)
class LSTMLayerConfig(Configuration):
    """Options of ``lstm_layer``: layout, direction, activations, and which results it gives."""

    lstmdataformat: LSTMDataFormat = field(LSTMDataFormat.TNS, aliases=("lstm_data_format",))
    direction_mode: LSTMDirectionMode = LSTMDirectionMode.FWD
    gate_act: LSTMActivations = LSTMActivations.SIGMOID
    cell_act: LSTMActivations = LSTMActivations.TANH
    out_act: LSTMActivations = LSTMActivations.TANH
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
class LSTMLayerWeights(Configuration):
    """Weights (in, 4n), recurrent weights (n, 4n), bias (4n), peepholes (3n); with a leading 2 for two directions."""

    weights: Any
    r_weights: Any
    bias: Any = None
    peephole_weights: Any = None


@configuration(_PACKAGE + "weights.LSTMWeights", kw_only=True)
class LSTMWeights(Configuration):
    """Weights (in + n, 4n), bias (4n) and peepholes (n) of an LSTM cell."""

    weights: Any
    bias: Any
    input_peephole_weights: Any = None
    forget_peephole_weights: Any = None
    output_peephole_weights: Any = None


@configuration(_PACKAGE + "weights.GRUWeights", kw_only=True)
class GRUWeights(Configuration):
    """Weights (in + n, 2n) and bias (2n) of reset and update gate, weights (in + n, n) and bias (n) of the candidate."""

    ru_weight: Any
    c_weight: Any
    ru_bias: Any
    c_bias: Any


@configuration(_PACKAGE + "weights.SRUWeights", kw_only=True)
class SRUWeights(Configuration):
    """Weights and bias of a simple recurrent unit."""

    weights: Any
    bias: Any


__all__ = ["GRUWeights", "LSTMActivations", "LSTMConfiguration", "LSTMDataFormat", "LSTMDirectionMode", "LSTMLayerConfig",
           "LSTMLayerWeights", "LSTMWeights", "RnnDataFormat", "SRUWeights"]
