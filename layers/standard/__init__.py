"""The layers that DL4J has."""
