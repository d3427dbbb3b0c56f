"""Which kernel an op gets on a GPU, in modules of the names of those with the ops."""
