"""``SameDiff``: the graph as users see it."""
