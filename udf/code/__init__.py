"""The code of a user: run, compiled, tried for its shape rule, differentiated; and its failures."""
