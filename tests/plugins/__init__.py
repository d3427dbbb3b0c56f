"""A distribution as one author writes it from the pages alone: every kind of plug-in, each in few lines."""
