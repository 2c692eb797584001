"""Words, languages and stop words: what both queries and passages are read with."""
