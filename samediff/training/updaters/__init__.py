"""Updaters, schedules, regularization and constraints."""
