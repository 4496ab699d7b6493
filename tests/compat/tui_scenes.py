"""What a person does in the interactive client: titles, rewinds, branches, compaction, interruption, permissions."""

from __future__ import annotations

import time
from collections.abc import Callable

from tests.compat.tui import Tui


def titles(screen: Tui) -> None:
    screen.say("Name me [fake:hello]", "Hello from the fake")
    screen.type("/rename Renamed by hand")
    time.sleep(1.5)
    screen.say("After naming [fake:second]", "A second answer")


def files(screen: Tui) -> None:
    screen.type("Write a file [fake:files]")
    for _ in range(8):
        if screen.wait("All done", 2):
            break
        if "Do you want" in screen.screen():
            screen.keys("Enter")
    time.sleep(1)


def interrupt(screen: Tui) -> None:
    screen.type("Slow answer [fake:slow]")
    time.sleep(3)
    screen.keys("Escape")
    time.sleep(1)
    screen.say("Carry on [fake:second]", "A second answer")


def retract(screen: Tui) -> None:
    """Esc takes the very first prompt back before anything is answered; it is sent again in other words."""
    take_back(screen, "First words [fake:slow]")
    screen.say("Other words [fake:hello]", "Hello from the fake")
    screen.say("Turn two [fake:second]", "A second answer")


def retract_twice(screen: Tui) -> None:
    take_back(screen, "First words [fake:slow]")
    take_back(screen, "Second words [fake:slow]")
    screen.say("Third words [fake:hello]", "Hello from the fake")


def retract_and_leave(screen: Tui) -> None:
    take_back(screen, "First words [fake:slow]")


def retract_later(screen: Tui) -> None:
    screen.say("Turn one [fake:hello]", "Hello from the fake")
    take_back(screen, "Turn two [fake:slow]")
    screen.say("Turn two, other words [fake:second]", "A second answer")


def take_back(screen: Tui, prompt: str) -> None:
    screen.type(prompt)
    time.sleep(2)
    screen.keys("Escape")
    time.sleep(1.5)
    screen.keys("C-u")


def rewind_to_start(screen: Tui) -> None:
    """Back to before the first prompt, then a new one."""
    screen.say("Turn one [fake:hello]", "Hello from the fake")
    screen.say("Turn two [fake:second]", "A second answer")
    go_back(screen, 2)
    screen.say("Turn one, other way [fake:third]", "A third answer")


def rewind(screen: Tui) -> None:
    screen.say("Turn one [fake:hello]", "Hello from the fake")
    screen.say("Turn two [fake:second]", "A second answer")
    go_back(screen)
    screen.say("Turn two, other way [fake:third]", "A third answer")


def rewind_and_leave(screen: Tui) -> None:
    """A rewind without a new prompt: only the checkpoint tells where the conversation stands."""
    screen.say("Turn one [fake:hello]", "Hello from the fake")
    screen.say("Turn two [fake:second]", "A second answer")
    go_back(screen)


def go_back(screen: Tui, prompts: int = 1) -> None:
    screen.keys("Escape", "Escape", pause=0.3)
    time.sleep(1.5)
    screen.keys(*["Up"] * prompts, pause=0.5)
    screen.keys("Enter")
    time.sleep(1.5)
    screen.keys("Enter")
    time.sleep(2)
    screen.keys("C-u")


def compact(screen: Tui) -> None:
    screen.say("Some talk [fake:hello]", "Hello from the fake")
    screen.type("/compact")
    screen.wait("Compacted")
    time.sleep(2)
    screen.say("After compact [fake:second]", "A second answer")


def branch(screen: Tui) -> None:
    screen.say("Trunk [fake:hello]", "Hello from the fake")
    screen.type("/branch side-road")
    time.sleep(3)
    screen.say("On the branch [fake:second]", "A second answer")


def shell(screen: Tui) -> None:
    screen.keys("!")
    screen.type("echo from-shell-mode")
    time.sleep(2)
    screen.keys("Escape")
    screen.say("After the shell [fake:hello]", "Hello from the fake")


def queue(screen: Tui) -> None:
    screen.type("Slow answer [fake:slow]")
    time.sleep(1.5)
    screen.say("Queued one [fake:second]", "A second answer")


SCENES: dict[str, Callable[[Tui], None]] = {
    "titles": titles,
    "files": files,
    "interrupt": interrupt,
    "retract": retract,
    "retract-twice": retract_twice,
    "retract-and-leave": retract_and_leave,
    "retract-later": retract_later,
    "rewind": rewind,
    "rewind-to-start": rewind_to_start,
    "rewind-and-leave": rewind_and_leave,
    "compact": compact,
    "branch": branch,
    "shell": shell,
    "queue": queue,
}
