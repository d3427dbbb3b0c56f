"""Which kernel an op gets on the CPU, in modules of the names of those with the ops."""
