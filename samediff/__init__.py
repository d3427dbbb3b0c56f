"""TODO docstring."""
if __name__ == "samediff":
    raise ImportError("samediff/ is the source folder of dl4py.samediff: run `pip install -e .` once, then import dl4py.samediff")
