"""Every built-in op, one file per topic; importing the package registers them."""
from importlib import import_module
from pkgutil import walk_packages

from ..families import backprop as _gradients_by_name  # noqa: F401 - makes them known to the registry

for _module in walk_packages(__path__, f"{__name__}."):        # in the order of their names
    import_module(_module.name)
