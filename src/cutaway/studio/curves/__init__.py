"""The series of numbers of a run, thinned where they are long."""
