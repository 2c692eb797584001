"""Tables by other people's data and rules: see command.py."""
