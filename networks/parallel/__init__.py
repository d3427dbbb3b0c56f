"""Several threads or processes: inference for many callers, training on several batches at once (DL4J's ``parallelism`` package)."""
from .all_reduce import AllReduce
from .inference import ParallelInference
from .settings import InferenceMode, LoadBalanceMode, TrainingMode
from .wrapper import ParallelWrapper

__all__ = ["AllReduce", "InferenceMode", "LoadBalanceMode", "ParallelInference", "ParallelWrapper", "TrainingMode"]
