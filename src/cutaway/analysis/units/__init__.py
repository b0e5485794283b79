"""The feature view: what each unit of a latent space answers to, and the units behind a sample's answer."""

from cutaway.analysis.units.of_sample import SampleUnits, units_of_sample
from cutaway.analysis.units.table import Units, unit_table

__all__ = ["SampleUnits", "Units", "unit_table", "units_of_sample"]
