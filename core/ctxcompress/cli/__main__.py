"""Runs the command `ctxcompress` for `python -m ctxcompress.cli`."""

from ctxcompress.cli import main

main()
