"""What an evaluation says about its data, and what people decide: insights, suspected labels, tests of slices."""
