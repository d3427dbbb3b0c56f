"""Rows of the ops that no namespace offers but DL4J's files may hold."""
from __future__ import annotations
