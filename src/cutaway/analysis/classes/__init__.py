"""Samples among the classes that they are labelled with and predicted as."""
