"""JSON and YAML as Java writes them, and Java's numbers."""
