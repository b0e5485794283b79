"""How a metric goes with metadata, or with any other column: `curve`."""

from cutaway.analysis.curves.curve import Curve, curve
from cutaway.analysis.curves.strength import Strength

__all__ = ["Curve", "Strength", "curve"]
