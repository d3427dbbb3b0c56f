"""Pictures: figures, images of arrays, graphs as DOT and as pages."""
