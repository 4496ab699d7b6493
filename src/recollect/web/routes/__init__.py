"""One module a page; each gives its routes."""
