"""The page that shows what became of every passage."""
