"""One sample of an evaluation as pages show it: what is known of it, how it is drawn, and what is like it."""
