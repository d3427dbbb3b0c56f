"""TODO docstring."""
if __name__ == "layers":
    raise ImportError("layers/ is the source folder of dl4py.layers: run `pip install -e .` once, then import dl4py.layers")
