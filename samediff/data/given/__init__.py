"""Data as users have it, made batches: one set of rules for graphs, lists of layers and graphs of layers."""
