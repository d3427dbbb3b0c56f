"""From expressions to compiled loops."""
