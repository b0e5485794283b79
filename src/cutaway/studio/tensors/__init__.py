"""The tensors of a run: where each is in the model, its statistics over the steps, its values."""
