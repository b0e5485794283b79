"""The data set of the demo as a binding of its own, so that the studio can ask the demo's model again."""
