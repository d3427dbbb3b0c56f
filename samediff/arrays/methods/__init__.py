"""Methods of :class:`~dl4py.samediff.INDArray`, a kind in each file."""
