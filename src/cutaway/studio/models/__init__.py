"""The model of an evaluation: what it is, and what it says to a file that somebody sent."""
