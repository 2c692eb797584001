"""Runs the command `ctxcompress` for `python -m ctxcompress.apps.cli`."""

from ctxcompress.apps.cli import main

main()
