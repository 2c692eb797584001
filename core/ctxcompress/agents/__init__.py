"""Agents: a context that is built step by step, outputs of tools, text that was left out, and the history."""
