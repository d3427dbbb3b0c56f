"""A table with categories: who survived the Titanic, by class, sex and age, with DL4J's schemas and with scikit-learn.

Run: python examples/titanic.py
"""
from __future__ import annotations

from pathlib import Path

import numpy as np

from dl4py.layers import DenseLayer, OutputLayer
from dl4py.networks import MultiLayerNetwork, NeuralNetConfiguration
from dl4py.samediff.data import (
    CSVRecordReader,
    RecordReaderDataSetIterator,
    Schema,
    StringSplit,
    TransformProcess,
    TransformProcessRecordReader,
)
from dl4py.samediff.training import Adam

DATA = Path(__file__).parent / "data" / "titanic.csv"
CLASSES, SEXES, AGES = ["1st", "2nd", "3rd", "crew"], ["male", "female"], ["child", "adult"]


def people() -> list[str]:
    """A line for each person; the file has one for all that agree."""
    _, *lines = DATA.read_text().split()
    return [line.rpartition(",")[0] for line in lines for _ in range(int(line.rpartition(",")[2]))]


def process() -> TransformProcess:
    """Categories as columns of 0 and 1."""
    schema = (Schema.Builder()
              .add_column_categorical("class", CLASSES)
              .add_column_categorical("sex", SEXES)
              .add_column_categorical("age", AGES)
              .add_column_categorical("survived", ["no", "yes"])
              .build())
    return (TransformProcess.Builder(schema)
            .categorical_to_one_hot("class")
            .categorical_to_integer("sex", "age", "survived")
            .build())


def build(n_in: int = 6, n_out: int = 2, seed: int = 0, hidden: int = 12) -> MultiLayerNetwork:
    """A small network; scikit-learn's tools change its arguments."""
    return MultiLayerNetwork(NeuralNetConfiguration.Builder().seed(seed).updater(Adam(0.02)).l2(1e-4).list(
        DenseLayer(n_in=n_in, n_out=hidden, activation="tanh"), OutputLayer(n_out=n_out, activation="softmax")).build())


def main(epochs: int = 20) -> float:
    """Train on four fifths of the people; returns the accuracy on the others."""
    lines = people()
    steps = process()
    print(f"{len(lines)} people; columns: {', '.join(steps.get_final_schema().get_column_names())}")

    reader = TransformProcessRecordReader(CSVRecordReader(), steps).initialize(StringSplit("\n".join(lines)))
    everybody = RecordReaderDataSetIterator(reader, len(lines), label_index=6, num_possible_labels=2).next()
    everybody.shuffle(1)
    parts = everybody.split_test_and_train(0.8)
    train, test = parts.get_train(), parts.get_test()

    net = build().init()
    net.fit(train.batch_by(200), epochs=epochs)
    evaluation = net.evaluate(test)
    print(evaluation.stats())

    print("chance to survive, as the network sees it")
    for kind in CLASSES:
        for sex in SEXES:
            person = np.array([[*(kind == c for c in CLASSES), sex == "female", 1]], np.float32)
            print(f"  {kind:5}{sex:7}{net.output(person)[0, 1]:6.2f}")
    return evaluation.accuracy()


def choose_size(epochs: int = 15) -> dict[str, int]:
    """The size of the hidden layer by cross-validation, where scikit-learn is installed."""
    from sklearn.compose import make_column_transformer
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    from dl4py.networks.estimators import DL4PyClassifier
    rows = np.array([line.split(",") for line in people()])
    columns = make_column_transformer((OneHotEncoder(categories=[CLASSES, SEXES, AGES], sparse_output=False), [0, 1, 2]))
    search = GridSearchCV(make_pipeline(columns, DL4PyClassifier(build, epochs=epochs, batch_size=200, random_state=0)),
                          {"dl4pyclassifier__options": [{"hidden": 4}, {"hidden": 12}]}, cv=3)
    search.fit(rows[:, :3], rows[:, 3])
    print(f"best size {search.best_params_} with an accuracy of {search.best_score_:.3f}")
    return search.best_params_


if __name__ == "__main__":
    main()
    try:
        choose_size()
    except ImportError as error:
        print(error)
