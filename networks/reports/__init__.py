"""Summaries, memory reports, profiles and views of a network."""
