"""The five steps of a compression: reduce, analyse, score, select, present."""
