"""The one reader of an evaluated population: what lies in `samples/<n>/`, column by column, and what analyses kept.

Analyses and the studio read through it. It needs nothing but numpy and Arrow, and reads no latent vector, and no
column, that nobody asks for.
"""

from cutaway.run.evaluated.answer import ModelAnswer, answer_of
from cutaway.run.evaluated.population import EvaluatedPopulation, chosen_evaluation, open_evaluated

__all__ = ["EvaluatedPopulation", "ModelAnswer", "answer_of", "chosen_evaluation", "open_evaluated"]
