"""Readers of records, and data sets made of them."""
