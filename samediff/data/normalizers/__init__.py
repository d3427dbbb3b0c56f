"""Normalizers and preprocessors of data sets."""
