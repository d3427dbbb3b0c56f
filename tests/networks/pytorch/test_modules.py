"""Modules of PyTorch as networks and graphs; these tests need PyTorch, what they share with others does not."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.layers import LossLayer
from dl4py.networks import MultiLayerNetwork, from_torch, set_state_dict, to_state_dict
from dl4py.samediff import SameDiff, TrainingConfig
from dl4py.samediff.errors import ConfigurationError, GraphError, MissingOpError
from dl4py.samediff.training import Adam

torch = pytest.importorskip("torch")
nn = torch.nn


def images():
    return nn.Sequential(
        nn.Conv2d(2, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(inplace=True), nn.Sequential(nn.MaxPool2d(2), nn.Dropout(0.3)),
        nn.ConvTranspose2d(4, 3, 2, 2), nn.PReLU(3), nn.AvgPool2d(3, 2, 1), nn.GroupNorm(3, 3), nn.Flatten(), nn.Linear(27, 5),
        nn.LayerNorm(5), nn.ELU(0.5), nn.Linear(5, 2), nn.Softmax(1))


LISTS = {
    "images": (images, (2, 2, 6, 6)),
    "series": (lambda: nn.Sequential(nn.Conv1d(3, 4, 3, padding="same"), nn.LeakyReLU(0.2), nn.MaxPool1d(2), nn.AdaptiveAvgPool1d(1),
                                     nn.Flatten(), nn.Linear(4, 2), nn.SiLU(), nn.Hardtanh()), (2, 3, 8)),
    "volumes": (lambda: nn.Sequential(nn.Conv3d(1, 2, 2), nn.Softplus(), nn.AvgPool3d(2), nn.Flatten(), nn.Identity(), nn.Linear(2, 2),
                                      nn.Softsign(), nn.Mish(), nn.SELU(), nn.ReLU6()), (2, 1, 3, 3, 3)),
    "doubles": (lambda: nn.Sequential(nn.Linear(3, 2), nn.Sigmoid(), nn.BatchNorm1d(2, affine=False), nn.Tanh()).double(), (4, 3))}


@pytest.mark.parametrize("name", LISTS)
def test_lists_become_networks(name):
    make, shape = LISTS[name]
    torch.manual_seed(1)
    module = make()
    for buffer in module.buffers():
        if buffer.dtype.is_floating_point:
            buffer.uniform_(0.5, 1)
    x = torch.randn(shape, dtype=next(module.parameters()).dtype)
    net = from_torch(module, x)                       # which compares the outputs
    assert isinstance(net, MultiLayerNetwork) and module.training
    state = to_state_dict(net)
    other = make().eval()
    other.load_state_dict({n: torch.from_numpy(np.ascontiguousarray(a)) for n, a in state.items()})
    with torch.no_grad():
        np.testing.assert_allclose(other(x).numpy(), net.output(x.numpy()), 1e-4, 1e-5)


def test_a_network_trains():
    module = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
    net = from_torch(module, torch.randn(2, 3), loss=LossLayer("mcxent", activation="softmax"), updater=Adam(0.05))
    x, y = np.random.default_rng(1).standard_normal((8, 3)).astype("f4"), np.eye(2, dtype="f4")[[0, 1] * 4]
    before = net.score(x, y)
    for _ in range(5):
        net.fit(x, y)
    assert net.score(x, y) < before


class Branches(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.drop = nn.Linear(3, 4), nn.Linear(4, 2), nn.Dropout(0.5)

    def forward(self, x, scale):
        h = self.drop(torch.relu(self.a(x)) * scale)
        return {"sum": self.b(h) + 1, "h": h}


def test_other_modules_become_graphs_that_train():
    torch.manual_seed(2)
    sd = from_torch(Branches(), {"x": torch.randn(2, 3), "scale": torch.ones(4)})
    assert isinstance(sd, SameDiff) and sd.outputs() == ["sum", "h"] and sd.inputs() == ["x", "scale"]
    assert sd.get_variable("x").spec.shape == (-1, 3)
    label = sd.placeholder("label", "FLOAT", -1, 2)
    sd.loss.mean_squared_error("loss", label, sd.get_variable("sum"))
    sd.set_training_config(TrainingConfig(updater=Adam(1e-2), data_set_feature_mapping=["x"], data_set_label_mapping=["label"]))
    state = to_state_dict(sd)
    assert set(state) == {"a.weight", "a.bias", "b.weight", "b.bias"}
    module = Branches().eval()
    module.load_state_dict({n: torch.from_numpy(a) for n, a in state.items()})
    set_state_dict(sd, module)


def test_a_list_can_become_a_graph():
    sd = from_torch(nn.Sequential(nn.Linear(3, 2)), torch.randn(2, 3), graph=True)
    assert isinstance(sd, SameDiff) and sd.has_variable("0.weight")


def test_files_of_torch(tmp_path):
    module = nn.Sequential(nn.Linear(3, 2))
    torch.save(module.state_dict(), tmp_path / "state.pt")
    net = from_torch(module, torch.randn(2, 3))
    wanted = net.params().copy()
    net.set_params(np.zeros_like(wanted))
    set_state_dict(net, tmp_path / "state.pt")
    assert (net.params() == wanted).all()


class Decides(nn.Module):
    def forward(self, x):
        return x * 2 if x.sum() > 0 else x


class Masked(nn.Module):
    def forward(self, x):
        return x[x > 0]


@pytest.mark.parametrize("module, error, text", [
    (Decides(), GraphError, "torch.export cannot record Decides"), (Masked(), (GraphError, MissingOpError), "index|Masked|nonzero")])
def test_what_cannot_be_recorded(module, error, text):
    with pytest.raises(error, match=text):
        from_torch(module, torch.randn(3))


def test_wrong_arguments():
    with pytest.raises(ConfigurationError, match=r"torch.nn.Module; got str"):
        from_torch("module", torch.ones(2))
    with pytest.raises(ConfigurationError, match="loss and updater belong to networks"):
        from_torch(Branches(), (torch.randn(2, 3), torch.ones(4)), updater="adam")
