"""A language model of single characters: an LSTM reads the licence of this repository and writes some of its own.

Run: python examples/char_lstm.py
"""
from __future__ import annotations

import time
from pathlib import Path

import numpy as np

from dl4py.layers import LSTM, RnnOutputLayer
from dl4py.networks import BackpropType, MultiLayerNetwork, NeuralNetConfiguration
from dl4py.samediff.data import DataSet, ListDataSetIterator
from dl4py.samediff.training import Adam

TEXT = Path(__file__).parent.parent / "LICENSE"


def build(characters: int, width: int, truncation: int) -> MultiLayerNetwork:
    """An LSTM layer and a softmax over characters at every step; gradients go back ``truncation`` steps."""
    conf = (NeuralNetConfiguration.Builder()
            .seed(12345)
            .updater(Adam(2e-2))
            .weight_init("xavier")
            .list()
            .layer(LSTM(n_in=characters, n_out=width, activation="tanh"))
            .layer(RnnOutputLayer(n_in=width, n_out=characters, activation="softmax", loss_function="mcxent"))
            .backprop_type(BackpropType.TruncatedBPTT)
            .tbptt_length(truncation)
            .build())
    return MultiLayerNetwork(conf).init()


def series(text: np.ndarray, characters: int, length: int) -> DataSet:
    """Pieces of the text, one-hot: features (pieces, characters, time), labels the same one step later."""
    pieces = (len(text) - 1) // length
    one_hot = np.eye(characters, dtype=np.float32)

    def cut(start: int) -> np.ndarray:
        return one_hot[text[start:start + pieces * length].reshape(pieces, length)].transpose(0, 2, 1)

    return DataSet(cut(0), cut(1))


def sample(net: MultiLayerNetwork, alphabet: list[str], start: str, length: int, rng: np.random.Generator) -> str:
    """Text that the network writes: each character is drawn from what it expects after those before, likely ones more often still."""
    one_hot = np.eye(len(alphabet), dtype=np.float32)
    net.rnn_clear_previous_state()
    for character in start:
        expected = net.rnn_time_step(one_hot[[alphabet.index(character)]])
    text = start
    for _ in range(length):
        p = expected[0].astype(np.float64) ** 2           # a temperature of one half
        chosen = int(rng.choice(len(alphabet), p=p / p.sum()))
        text += alphabet[chosen]
        expected = net.rnn_time_step(one_hot[[chosen]])
    return text


def main(epochs: int = 30, width: int = 96, characters: int | None = None, written: int = 300) -> list[float]:
    """Train on the first ``characters`` of the licence (None: all) and write; returns the score of each epoch."""
    text = " ".join(TEXT.read_text(encoding="utf-8").split())[:characters]
    alphabet = sorted(set(text))
    codes = np.array([alphabet.index(c) for c in text])
    data = series(codes, len(alphabet), length=100)
    print(f"{len(text)} characters, {len(alphabet)} different ones; {data.num_examples()} series of 100 steps")

    net = build(len(alphabet), width, truncation=50)
    print(f"{net.num_params()} parameters; a guess at random scores {np.log(len(alphabet)):.2f} per character\n")
    scores, start, rng = [], time.perf_counter(), np.random.default_rng(3)
    for epoch in range(1, epochs + 1):
        net.fit(ListDataSetIterator(data.as_list(), 16))
        scores.append(net.score(data) / 100)
        if epoch == 1 or epoch % 10 == 0 or epoch == epochs:
            print(f"epoch {epoch:3}  score per character {scores[-1]:.3f}  {time.perf_counter() - start:5.1f} s")
            print(f"   {sample(net, alphabet, 'the Work ', min(written, 70), rng)}\n")
    print(sample(net, alphabet, "Licensor ", written, rng))
    return scores


if __name__ == "__main__":
    main()
