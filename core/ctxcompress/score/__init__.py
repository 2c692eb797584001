"""Scores: how relevant each segment is to the query."""
