"""``python -m dl4py``: see :mod:`dl4py.networks.commands`."""
import sys

from .networks.commands import main

if __name__ == "__main__":
    sys.exit(main())
