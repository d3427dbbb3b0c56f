"""``python -m dl4py.networks``: see :mod:`dl4py.networks.commands`."""
import sys

from dl4py.networks.commands import main

sys.exit(main())
