"""The five steps of a compression (reduce, analyse, score, select, present), and what the cache stores of them."""
