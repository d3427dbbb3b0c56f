"""Embeddings."""
from __future__ import annotations

from typing import Any

from ....layers.standard.embedding import EmbeddingSequenceLayer
from ....layers.types.formats import RNNFormat
from .. import options
from ..layer_reading import KerasLayer, Made
from ..own.masking import MaskedEmbedding
from ..registry import keras_layer


@keras_layer("Embedding", becomes="`EmbeddingSequenceLayer`; with `mask_zero` one whose index 0 masks its step")
def embedding(k: KerasLayer) -> Made:
    k.rank(1)
    masks = bool(k.get("mask_zero", False))
    k.refuse(lora_rank=None)
    kind = MaskedEmbedding if masks else EmbeddingSequenceLayer
    first = options.initialiser(k.get("embeddings_initializer", None), k.label)
    fields: dict[str, Any] = {} if first is None else {"weight_init": first}
    held = options.constraint(k.get("embeddings_constraint", None), "W", k.label)
    if held is not None:
        fields["constraints"] = (held,)
    units = int(k.get("output_dim"))
    conf = kind(n_in=int(k.get("input_dim")), n_out=units, output_format=RNNFormat.NWC, activation="identity",
                input_length=k.shape[0] or 1, infer_input_length=True,
                regularization=options.regularization(k.get("embeddings_regularizer", None), k.label), **fields)
    return k.made(conf, {"W": lambda w: w["embeddings"]}, ("embeddings",), shape=(k.shape[0], units), masked=masks)
