"""``python -m dl4py.networks``, which is ``python -m dl4py``: see :mod:`dl4py.networks.commands`."""
import sys

from dl4py.networks.commands import main

sys.exit(main())
