"""Writers of generated files: stubs and the table of ops."""
