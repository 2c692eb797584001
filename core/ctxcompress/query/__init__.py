"""Analysis of the query: its terms, complexity and intent, the things that it compares, and its sub-queries."""
