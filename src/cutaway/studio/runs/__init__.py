"""Runs as rows, one in detail, several side by side; and the runs that are held open."""
