"""Elements and rows chosen or changed at indices."""
