"""`Population`, the analyses that can be asked of one, and what it keeps in the run that it comes from."""
