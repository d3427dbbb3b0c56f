"""Model files, both ways."""
