"""Plans without Python between their steps.

A program is a table of instructions in memory: the address of a compiled function and that of its operands. One native call
runs them all; long instructions come in parts that several threads share. Nothing is compiled for a program: only its kernels
are, once for any size.

================== ==========================================================================
:mod:`machine`     how compiled kernels find their operands
:mod:`entry`       kernels as functions that find their operands in a table
:mod:`words`       a compiler for functions of numbers and addresses
:mod:`typed`       the same with floating numbers and arrays
:mod:`generated`   elementwise kernels and sweeps compiled by it
:mod:`primitives`  what these are made of besides arithmetic
:mod:`from_python` how Python calls them
:mod:`runner`      the loops that run programs
:mod:`pool`        the threads that help
:mod:`program`     tables for given arrays
================== ==========================================================================
"""
