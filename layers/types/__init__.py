"""Input types, sizes, formats and parameters of layers."""
