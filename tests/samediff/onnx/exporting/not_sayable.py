"""What is written as ONNX, but not compared here, and what is refused for some inputs."""
from __future__ import annotations


def _of(why: str, ids: str) -> dict[str, str]:
    return dict.fromkeys(ids.split(), why)


#: Written; not compared with the example of the table.
NOT_COMPARED: dict[str, str] = {
    **_of("the example's saved values are not those of its inputs, of which the written nodes are",
          "batch_norm_training_grad rnn_sequence_grad"),
    **_of("stands for other nodes, and is not in graphs itself",
          "space_to_batch_call batch_to_space_call dl4j_lstm dl4j_simple_rnn lstm_layer_call"),
}

#: Some of the examples of an op: (op, text that is in the error), and why.
SOME_REFUSED: dict[str, str] = {
    "dot_product_attention_v2": "with dropout while training it draws random numbers",
    "sequence_mask": "the longest length decides how many columns there are, and must be a constant",
}
