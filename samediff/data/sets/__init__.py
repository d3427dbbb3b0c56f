"""Data sets: batches of features, labels and masks."""
