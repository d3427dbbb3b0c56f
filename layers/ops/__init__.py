"""Graph ops that only layers need."""
