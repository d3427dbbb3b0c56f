"""Running graphs: a reference executor, and plans that are built once and run many times."""
