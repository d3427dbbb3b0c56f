"""Kernels of the ops of layers, by back end."""
from ...samediff.cuda.kernel_table import KERNELS

KERNELS.add_folder("dl4py.layers.ops", f"{__name__}.cuda")
