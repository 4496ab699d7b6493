"""``python -m recollect``"""

from recollect.cli.entry import run

run()
