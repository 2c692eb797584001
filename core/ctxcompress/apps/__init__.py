"""Applications of compression: the command, the server, batches, search results, an index, feedback and the x-ray."""
