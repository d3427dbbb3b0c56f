"""TODO docstring."""
if __name__ == "networks":
    raise ImportError("networks/ is the source folder of dl4py.networks: run `pip install -e .` once, then import dl4py.networks")
