"""Pictures from files, as arrays and as records."""
