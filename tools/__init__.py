"""Programs that people run who work on Recollect itself. They are no part of the package that users install."""
