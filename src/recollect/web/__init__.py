"""Pages and a JSON interface over the library, for a browser on this machine."""
