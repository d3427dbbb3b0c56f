"""Protocols of networks as files use them."""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, Self

from ..engine.protocols import HasEngine
from ..reports.updater_view import UpdaterView
from ..structure.configuration import NetworkConfiguration
from .model_zip import ModelZip


@dataclass(frozen=True)
class Origin:
    """The file that a network was read from.

    Attributes
    ----------
    model : what it holds
    configuration : that of the file, in today's form
    missing : classes that nobody registers, and their distributions
    """

    model: ModelZip
    configuration: Any
    missing: Mapping[str, str | None]


class WritableNetwork(HasEngine, Protocol):
    """A network, as it is written."""

    origin: Origin | None

    def get_configuration(self) -> Any: ...


class ReadableNetwork(WritableNetwork, Protocol):
    """A network, as it is made of a file."""

    configuration_type: ClassVar[type[NetworkConfiguration]]

    def __init__(self, configuration: Any) -> None: ...

    def init(self, params: Any = None) -> Self: ...

    def get_updater(self) -> UpdaterView: ...
