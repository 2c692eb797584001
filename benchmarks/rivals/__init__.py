"""Other compressors on the same cases. Each has an adapter here, and runs in an environment of its own.

    python benchmarks/rivals CASES... --environments DIR

An adapter is a file with two names:

- `REQUIREMENTS`: what pip installs for it, versions pinned; empty if the interpreter of this command has it.
- `WAYS`: name of a way to compress -> a function that imports what it needs and returns a function of a case.

A case is a dictionary with `query`, `texts`, `titles` (empty where there is none), `titled`, which has both, and
`budget`, in tokens of cl100k_base. An adapter takes the texts with or without titles, whichever keeps more. The answer
is the text for the prompt. `serve.py` runs an adapter, `environments.py` makes its environment.
"""
