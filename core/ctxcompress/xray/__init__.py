"""The X-ray: a page that shows what happened to every passage."""
