"""Makes `python -m ctxcompress.cli` the same as the command `ctxcompress`."""

from ctxcompress.cli import main

main()
