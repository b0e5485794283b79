"""Two runs on the same samples: what changed from one to the other, and the comparison that is kept."""
