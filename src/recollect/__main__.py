"""``python -m recollect``"""

from recollect.environment import leave_out_current_folder

leave_out_current_folder()

from recollect.cli.entry import run  # noqa: E402  # with it all the rest is imported

run()
