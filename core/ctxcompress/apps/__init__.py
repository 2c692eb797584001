"""Applications of compression: the command, the server, batches, search, an index, feedback, evaluation, the x-ray."""
