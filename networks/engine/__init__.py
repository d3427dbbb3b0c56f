"""Running and training: parameters, graphs by form of batch, steps."""
