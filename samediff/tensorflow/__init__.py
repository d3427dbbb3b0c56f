"""Import of frozen TensorFlow graphs: ``SameDiff.import_frozen_tf(path)``."""
