"""Rows of the ops that have a number instead of a name in DL4J's files."""
from __future__ import annotations
