"""From a CSV file to an evaluated network: read, standardize, train, evaluate, predict one flower.

Run: python examples/mlp_iris.py
"""
from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from dl4py.layers import DenseLayer, OutputLayer
from dl4py.networks import MultiLayerNetwork, NeuralNetConfiguration
from dl4py.samediff.data import CSVRecordReader, NormalizerStandardize, RecordReaderDataSetIterator
from dl4py.samediff.training import Adam, CollectScoresListener

DATA = Path(__file__).parent / "data" / "iris.csv"
SPECIES = ["setosa", "versicolor", "virginica"]


def build() -> MultiLayerNetwork:
    """Four measurements in, three species out."""
    conf = (NeuralNetConfiguration.Builder()
            .seed(1936)
            .updater(Adam(0.01))
            .activation("tanh")
            .l2(1e-3)
            .list()
            .layer(DenseLayer(n_in=4, n_out=16))
            .layer(DenseLayer(n_out=8))
            .layer(OutputLayer(n_out=3, activation="softmax", loss_function="mcxent"))
            .build())
    return MultiLayerNetwork(conf).init()


def main(epochs: int = 60) -> float:
    """Train on 65 % of the flowers, evaluate on the others; returns the accuracy."""
    with DATA.open(newline="") as file:
        heading = next(csv.reader(file))
    print(f"{DATA.name}: {', '.join(heading)}")

    reader = CSVRecordReader(skip_num_lines=1).initialize(DATA)
    flowers = RecordReaderDataSetIterator(reader, 150, label_index=4, label_names=SPECIES).next()
    flowers.shuffle(3)
    parts = flowers.split_test_and_train(0.65)
    train, test = parts.get_train(), parts.get_test()

    normalizer = NormalizerStandardize()
    normalizer.fit(train)                           # statistics of the training data alone
    print(f"means {np.round(normalizer.get_mean(), 2)}, deviations {np.round(normalizer.get_std(), 2)}")
    normalizer.transform(train)
    normalizer.transform(test)

    net = build()
    scores = CollectScoresListener()
    net.set_listeners(scores)
    net.fit(train, epochs=epochs)
    print(f"score {scores.get_list_score()[0]:.3f} -> {scores.get_list_score()[-1]:.3f} in {epochs} steps")

    evaluation = net.evaluate(test, SPECIES)
    print(evaluation.stats())

    flower = np.array([[6.1, 2.9, 4.7, 1.4]])
    probabilities = net.output(normalizer.transform(flower))[0]
    print(f"{flower[0]} cm is {SPECIES[int(probabilities.argmax())]} with probability {probabilities.max():.2f}")
    return evaluation.accuracy()


if __name__ == "__main__":
    main()
