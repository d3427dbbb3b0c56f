"""Kernels of the ops of layers, by back end."""
from ...samediff.cpu.kernel_table import KERNELS as CPU
from ...samediff.cuda.kernel_table import KERNELS as CUDA

CPU.add_folder("dl4py.layers.ops", f"{__name__}.cpu")
CUDA.add_folder("dl4py.layers.ops", f"{__name__}.cuda")
