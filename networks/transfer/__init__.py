"""Transfer learning: trained networks with layers frozen, replaced, removed, added (DL4J's ``transferlearning`` package)."""
from .fine_tune import FineTuneConfiguration
from .graph_builder import TransferGraphBuilder
from .helper import TransferLearningHelper
from .list_builder import TransferListBuilder


class TransferLearning:
    """Entry to both builders, as in DL4J: ``TransferLearning.Builder(net)`` and ``TransferLearning.GraphBuilder(graph)``."""

    Builder = TransferListBuilder
    GraphBuilder = TransferGraphBuilder


__all__ = ["FineTuneConfiguration", "TransferGraphBuilder", "TransferLearning", "TransferLearningHelper", "TransferListBuilder"]
