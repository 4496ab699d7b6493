"""The browser's face: pages and a JSON interface over the library, on this machine alone."""
