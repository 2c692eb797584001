"""The options of a compression: declared, checked, named in presets, read from files."""
