"""Build a home with planted secrets, personal data and harmless texts that resemble them, and the truth about all of them.

Every value is made from a seed, valid in form, checksums included, and belongs to nobody. Same seed, same bytes.
"""

from recollect.testing.secret_home.home import Planted, build_secret_home

__all__ = ["Planted", "build_secret_home"]
