"""A model from any framework as one `Model`: outputs, layers, a latent vector, gradients."""

from cutaway.engine.limits import Limits
from cutaway.models.backend import Gradient
from cutaway.models.description import Layer, ModelDescription, SavedTraining, TensorSpec
from cutaway.models.loading import load
from cutaway.models.model import Model

__all__ = ["Gradient", "Layer", "Limits", "Model", "ModelDescription", "SavedTraining", "TensorSpec", "load"]
