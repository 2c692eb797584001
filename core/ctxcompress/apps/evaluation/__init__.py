"""Evaluation: what a setting keeps of the evidence, and the setting that keeps enough with a guarantee."""
