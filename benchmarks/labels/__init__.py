"""How well wrong labels are found, beside what others find at the price of further trainings."""
