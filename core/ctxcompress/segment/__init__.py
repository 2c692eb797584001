"""From a text to typed segments with exact offsets."""
