"""Filters that drop or shorten whole passages, and deduplication."""
