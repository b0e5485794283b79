"""What was found about a run, and what was asked of its training."""
