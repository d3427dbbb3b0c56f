"""``MultiLayerNetwork`` and ``ComputationGraph``."""
