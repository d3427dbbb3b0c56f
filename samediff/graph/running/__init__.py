"""The parts of ``SameDiff`` that run it: values, gradients, training, evaluation."""
