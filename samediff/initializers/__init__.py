"""Initial values of parameters, from ND4J's own random generator."""
