"""Source code: detection, outlines by lines, and gap markers for dropped code."""
