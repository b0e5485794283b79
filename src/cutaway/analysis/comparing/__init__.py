"""Two models on the same samples: what got better, what got worse, and where."""

from cutaway.analysis.comparing.comparing import compare_samples
from cutaway.analysis.comparing.comparison import Comparison, Difference

__all__ = ["Comparison", "Difference", "compare_samples"]
