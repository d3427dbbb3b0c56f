"""Records what PyTorch computes: ``python -m tests.samediff.pytorch.write_cases`` where it is installed."""
from __future__ import annotations

import torch

from dl4py.samediff.pytorch.recording import graph_of
from tests.samediff.pytorch.modules import KNOWN, modules
from tests.samediff.pytorch.recorded import write


def main() -> None:
    """Write the file."""
    made = {}
    for name, (module, given) in modules().items():
        with torch.no_grad():
            found = torch.utils._pytree.tree_leaves(module(*given))
        made[name] = (graph_of(module, given, {}, {} if name in KNOWN else None), [t.numpy() for t in given], [t.numpy() for t in found])
    write(made)


if __name__ == "__main__":
    main()
