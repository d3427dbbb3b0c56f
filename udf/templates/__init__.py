"""Files to start an op, a layer or a plug-in from."""
