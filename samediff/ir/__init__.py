"""The parts of a graph: ops, nodes, variables and the tables that hold them."""
