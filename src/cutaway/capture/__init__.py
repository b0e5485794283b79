"""Saving what happens during training: what is due, copies, statistics, the background writer, the disk budget."""
