"""The GPU backend: CUDA kernels, launched through CuPy.

A step of a plan becomes a list of actions (:mod:`..plans.actions`): launches of CUDA functions, products, copies. What does them is a
driver: CuPy on a GPU (:mod:`.gpu`), or a C++ compiler and NumPy on any machine (:mod:`.emulator`), which runs the same text.

Importing this package loads neither CuPy nor a compiler.
"""
