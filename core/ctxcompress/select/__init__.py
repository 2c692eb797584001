"""Selection: which segments are kept within the budget, and how they become the final text."""
