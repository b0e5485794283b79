"""What a model sees: a map of the population, similar samples, clusters, units, curves, heat maps.

Everything is a function of arrays and tables; `Population` puts them together for a run or for arrays of your own.
"""
