"""Sessions that nobody thought of: a random walk over everything a session file can hold, repeatable by its seed."""

from __future__ import annotations

import random

from tests.compat.crafted.sheet import ABSENT, NIL, Builder, Json, Sheet, row_uuid


class Walk:
    """One random session: mostly healthy talk, with branches, tools, checkpoints, compactions and damage mixed in."""

    def __init__(self, sheet: Sheet, seed: int) -> None:
        self.sheet = sheet
        self.dice = random.Random(seed)
        self.names: list[str] = []
        self.number = 0
        self.damaged = self.dice.random() < 0.5
        self.quick = self.dice.random() < 0.4  # rows close enough together for repairs

    def run(self) -> None:
        for _ in range(self.dice.randint(4, 22)):
            self.one_step()
        if self.damaged and self.dice.random() < 0.3:
            self.shuffle()
        if self.dice.random() < 0.3:
            self.checkpoint()

    def one_step(self) -> None:
        steps = [self.talk, self.tools, self.side_row, self.checkpoint, self.compaction, self.damage]
        weights = [60, 18, 12, 10, 4, 8 if self.damaged else 0]
        self.dice.choices(steps, weights)[0]()

    # -- where and when ----------------------------------------------------------------------------------------------
    def name(self, letter: str) -> str:
        self.number += 1
        return f"{letter}{self.number}"

    def place(self) -> Json:
        """Parent and time of the next row: on the last row, or somewhere else."""
        gap = self.dice.choice([0, 1, 2, 5, 6] if self.quick else [1, 30, 30, 60])
        place: Json = {"gap": gap}
        chance = self.dice.random()
        if self.names and chance < 0.13:
            place["parent"] = self.dice.choice(self.names)
        elif self.damaged and chance < 0.18:
            place["parent"] = self.dice.choice(["GHOST", None, "GHOST2"])
        if self.damaged and self.dice.random() < 0.04:
            place["timestamp"] = self.dice.choice([ABSENT, "soon", None])
        if self.dice.random() < 0.04:
            place["isSidechain"] = True
        return place

    # -- rows --------------------------------------------------------------------------------------------------------
    def talk(self) -> None:
        kind = self.dice.choices(["user", "assistant", "meta", "error", "empty"], [45, 45, 5, 4, 3])[0]
        if kind == "user":
            name = self.name("U")
            self.sheet.user(name, **self.place())
        elif kind == "assistant":
            name = self.name("A")
            shared = self.dice.choice(["split", None, None, None, None, None, None, None])
            self.sheet.assistant(name, message_id=shared, **self.place())
        elif kind == "meta":
            name = self.name("M")
            self.sheet.user(name, isMeta=True, **self.place())
        elif kind == "error":
            name = self.name("E")
            self.sheet.error(name, **self.place())
        else:
            name = self.name("X")
            self.sheet.user(name, self.dice.choice(["", []]), **self.place())
        self.names.append(name)

    def tools(self) -> None:
        """One response with one to three calls; now and then a result is missing or late."""
        message = self.name("m")
        calls: list[str] = []
        for _ in range(self.dice.choice([1, 1, 2, 2, 3])):
            name = self.name("K")
            self.sheet.call(name, "T" + name, message_id=message, **(self.place() if not calls else {"gap": 1}))
            calls.append(name)
        self.names += calls
        answered = [call for call in calls if self.dice.random() < 0.93]
        if self.dice.random() < 0.3:
            self.dice.shuffle(answered)
        for call in answered:
            result = self.name("R")
            self.sheet.result(result, "T" + call, parent=call, gap=1)
            self.names.append(result)

    def side_row(self) -> None:
        kind = self.dice.choice(["system", "attachment", "progress", "unknown"])
        name = self.name("I")
        if kind == "system":
            self.sheet.system(name, self.dice.choice(["informational", "turn_duration"]), **self.place())
        elif kind == "attachment":
            self.sheet.attachment(name, **self.place())
        elif kind == "progress":
            self.sheet.progress(name, **self.place())
        elif self.damaged:
            self.sheet.row("row-of-the-future", name, **self.place())
        else:
            return
        self.names.append(name)

    # -- state and compaction ----------------------------------------------------------------------------------------
    def checkpoint(self) -> None:
        explicit = {"explicit": True} if self.dice.random() < 0.35 else {}
        kind = self.dice.choices(["last", "any", "nil", "null", "ghost"], [45, 35, 10, 4, 6])[0]
        if kind == "nil":
            self.sheet.state("last-prompt", leafUuid=NIL, **explicit)
        elif kind == "null":
            self.sheet.checkpoint(None, **explicit)
        elif kind == "ghost":
            self.sheet.checkpoint("GHOST", **explicit)
        elif self.names:
            self.sheet.checkpoint(self.names[-1] if kind == "last" else self.dice.choice(self.names), **explicit)

    def compaction(self) -> None:
        boundary, summary = self.name("B"), self.name("C")
        metadata: Json = {}
        if self.names and self.dice.random() < 0.6:
            start = self.dice.randrange(len(self.names))
            kept = [row_uuid(name) for name in self.names[start : start + self.dice.randint(1, 4)]]
            anchor = row_uuid(summary if self.dice.random() < 0.9 else boundary)
            metadata["preservedMessages"] = {"anchorUuid": anchor, "uuids": kept, "allUuids": kept}
        self.sheet.boundary(boundary, metadata=metadata, gap=1)
        self.names.append(boundary)
        if self.dice.random() < 0.9:
            self.sheet.summary(summary, gap=1)
            self.names.append(summary)

    # -- damage ------------------------------------------------------------------------------------------------------
    def damage(self) -> None:
        if not self.sheet.lines:
            return
        kind = self.dice.choice(["torn", "glued", "lost", "twice", "garbage"])
        index = self.dice.randrange(len(self.sheet.lines))
        if kind == "torn":
            self.sheet.spoil(lambda data: data[: len(data) // 2] + b"\n", index)
        elif kind == "glued":
            self.sheet.spoil(lambda data: data.rstrip(b"\n"), index)
        elif kind == "lost":
            del self.sheet.lines[index]
        elif kind == "twice":
            self.sheet.lines.append(self.sheet.lines[index])
        else:
            self.sheet.raw(self.dice.choice([b"\n", b"null\n", b"\0\0\0\n", b"[1]\n", b"words\n"]))

    def shuffle(self) -> None:
        lines = self.sheet.lines
        for _ in range(self.dice.randint(1, 3)):
            if len(lines) > 1:
                index = self.dice.randrange(len(lines) - 1)
                lines[index], lines[index + 1] = lines[index + 1], lines[index]


def random_builder(seed: int) -> Builder:
    def build(s: Sheet) -> None:
        Walk(s, seed).run()

    build.__doc__ = f"Random session {seed}."
    return build
