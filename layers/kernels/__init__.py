"""Kernels of the ops of layers, by back end."""
from ...samediff.executor.cuda.kernel_table import KERNELS

KERNELS.add_folder("dl4py.layers", f"{__name__}.cuda")
