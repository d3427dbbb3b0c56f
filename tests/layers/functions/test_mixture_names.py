"""The names that files of DL4J have for the sizes of a mixture of Gaussians."""
import json

import pytest

from dl4py.layers import Cnn3DLossLayer, Convolution3D, InputType, LossMixtureDensity
from dl4py.networks import NeuralNetConfiguration


@pytest.mark.parametrize("names", [("mixtures", "labelWidth"), ("mMixtures", "mLabelWidth")])
def test_mixtures_in_files(names):
    loss = LossMixtureDensity(mixture_count=3, label_width=2)
    document = json.loads(loss.to_json())
    assert (document.pop("mixtures"), document.pop("labelWidth")) == (3, 2)
    assert LossMixtureDensity.from_json(json.dumps(document | dict(zip(names, (3, 2))))) == loss
    assert LossMixtureDensity(mixtures=3, label_width=2) == LossMixtureDensity.Builder().gaussians(3).labelWidth(2).build() == loss


def test_losses_of_volumes_are_not_checked():
    conf = (NeuralNetConfiguration.Builder().list(Convolution3D(n_out=2, kernel_size=(1, 1, 1)), Cnn3DLossLayer(
        loss="mcxent", activation="sigmoid")).set_input_type(InputType.convolutional3d(2, 2, 2, 1)).build())
    assert len(conf.confs) == 2
