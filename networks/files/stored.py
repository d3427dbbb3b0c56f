"""What files know of networks."""
from __future__ import annotations

from typing import Any, ClassVar, Protocol, Self

from ..engine.protocols import HasEngine
from ..reports.updater_view import UpdaterView
from ..structure.configuration import NetworkConfiguration
from .model_zip import ModelZip


class Stored(HasEngine, Protocol):
    """A network, as it is written."""

    _origin: ModelZip | None        # the file that it was read from
    _loaded: Any                    # the configuration of that file, in today's form

    def get_configuration(self) -> Any: ...


class Restored(Stored, Protocol):
    """A network, as it is made of a file."""

    _configuration_type: ClassVar[type[NetworkConfiguration]]
    _missing: dict[str, str | None]

    def __init__(self, configuration: Any) -> None: ...

    def init(self, params: Any = None) -> Self: ...

    def get_updater(self) -> UpdaterView: ...
