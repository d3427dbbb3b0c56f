"""Plans without Python between their steps.

A program is a table of instructions in memory: the address of a compiled function and that of its operands. One native call
runs them all; long instructions come in parts that several threads share. Nothing is compiled for a program: only its kernels
are, once for any size.

================== ==========================================================================
:mod:`operand_access` how compiled kernels find their operands
:mod:`instruction` kernels as functions that find their operands in a table
:mod:`int_compiler` a compiler for functions of numbers and addresses
:mod:`primitives`  what these are made of besides arithmetic
:mod:`python_bindings` how Python calls them
:mod:`interpreter` the loops that run programs
:mod:`thread_pool` the threads that help
:mod:`program`     tables for given arrays
:mod:`helper_process` a second process that compiles kernels
================== ==========================================================================
"""
