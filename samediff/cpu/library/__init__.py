"""Functions that the source of compiled loops may call: elements by address, operators, mathematical functions."""
