"""TODO docstring."""
if __name__ == "udf":
    raise ImportError("udf/ is the source folder of dl4py.udf: run `pip install -e .` once, then import dl4py.udf")
