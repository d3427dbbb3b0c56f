"""Array code that is run on graph variables, and becomes nodes."""
