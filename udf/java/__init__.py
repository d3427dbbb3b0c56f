"""Ops in DL4J's form: classes with ``op_name``, ``exec``, ``do_diff``."""
