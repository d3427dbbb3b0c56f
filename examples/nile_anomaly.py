"""Anomalies of a series: years in which the Nile carried much more or less water than the years before let expect.

Run: python examples/nile_anomaly.py
"""
from __future__ import annotations

from pathlib import Path

import numpy as np

from dl4py.layers import LSTM, RnnOutputLayer
from dl4py.networks import MultiLayerNetwork, NeuralNetConfiguration
from dl4py.samediff.training import Adam

DATA = Path(__file__).parent / "data" / "nile.csv"


def build() -> MultiLayerNetwork:
    """The next year from all years so far."""
    return MultiLayerNetwork(
        NeuralNetConfiguration.Builder().seed(7).updater(Adam(0.01)).list(
            LSTM(n_in=1, n_out=12, activation="tanh"),
            RnnOutputLayer(n_in=12, n_out=1, activation="identity", loss_function="mse")).build()).init()


def main(epochs: int = 80) -> list[int]:
    """Learn to predict; returns the three years that surprise most, the first one first."""
    years, flow = np.loadtxt(DATA, delimiter=",", skiprows=1, unpack=True)
    scaled = ((flow - flow.mean()) / flow.std()).astype(np.float32)
    series, following = scaled[None, None, :-1], scaled[None, None, 1:]

    net = build()
    net.fit(series, following, epochs=epochs)
    surprise = following[0, 0] - net.output(series)[0, 0]
    print(f"{len(years)} years; the prediction is off by {np.abs(surprise).mean() * flow.std():.0f} of {flow.mean():.0f} on average")

    spread = surprise.std()
    order = np.argsort(-np.abs(surprise))[:3]
    for k in order:
        word = "more" if surprise[k] > 0 else "less"
        print(f"{years[k + 1]:.0f}: {flow[k + 1]:.0f}, {abs(surprise[k]) * flow.std():.0f} {word} than expected "
              f"({abs(surprise[k]) / spread:.1f} deviations)")
    return [int(years[k + 1]) for k in order]


if __name__ == "__main__":
    main()
