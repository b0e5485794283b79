"""Whether insights are true, and in the right order, on data that nobody tuned on."""
