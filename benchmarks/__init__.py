"""Measures what capture costs and how fast the store is, beside named peers in the same run.

Not part of the installed package; `python -m benchmarks.capture` runs it from a checkout.
"""
