"""Records states and outputs of modules: ``python -m tests.networks.pytorch.write_cases`` where PyTorch is installed."""
from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from tests.networks.pytorch.layers import LAYERS

FILE = Path(__file__).parent / "states.npz"


def main() -> None:
    """Write the file."""
    torch.manual_seed(5)
    held: dict[str, Any] = {}
    for name, (_, text, shape, _) in LAYERS.items():
        module = eval(f"nn.{text}", {"nn": nn})
        for tensor in module.state_dict().values():
            if tensor.dtype.is_floating_point:
                tensor.uniform_(0.1, 0.9)
        if name == "attention":
            module.in_proj_bias.data.zero_()
            module.out_proj.bias.data.zero_()
        x = torch.randint(0, -shape[-1], shape[:-1]) if shape[-1] < 0 else torch.randn(shape)
        with torch.no_grad():
            found = module.eval()(x, x, x) if name == "attention" else module.eval()(x)
        held[f"{name}/input"], held[f"{name}/output"] = x.numpy(), (found[0] if isinstance(found, tuple) else found).numpy()
        held |= {f"{name}/state/{n}": t.numpy() for n, t in module.state_dict().items()}
    np.savez_compressed(FILE, **held)


if __name__ == "__main__":
    main()
