"""Source code: detection, outlines by tree-sitter or by lines, and gap markers for dropped code."""
