"""The one pass over every sample of a data set: predictions, losses, metrics, metadata, latents and previews."""

__all__: list[str] = []
