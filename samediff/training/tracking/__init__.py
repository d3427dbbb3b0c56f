"""Records of trainings for TensorBoard and experiment trackers, and what a network does with chosen examples."""
