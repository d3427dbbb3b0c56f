"""From expressions to CUDA text and launches."""
