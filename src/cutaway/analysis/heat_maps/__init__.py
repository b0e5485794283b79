"""Heat maps: where a model looked. Functions over `predict`, `activations` and `gradient`, the same for every format."""
