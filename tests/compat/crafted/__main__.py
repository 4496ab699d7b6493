"""Write all crafted files into a folder, and ask the client about them if wanted.

python -m tests.compat.crafted FOLDER [--answers FILE] [--only NAME,NAME]
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from tests.compat.ask import ask_many
from tests.compat.crafted import BUILDERS, write_case
from tests.compat.wire import is_added_by_client


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--answers", type=Path, help="ask the client, and write what it sends to this file")
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    names = [name for name in given.only.split(",") if name] or list(BUILDERS)
    written = [write_case(name, given.folder / name) for name in names]
    for case, question in written:
        rows = {ident: [block.line() for block in blocks] for ident, blocks in case.contents.items()}
        note = {"shows": case.shows, "session": case.session, "cwd": str(question.cwd), "rows": rows}
        (given.folder / case.name / "case.json").write_text(json.dumps(note, indent=1))
    if given.answers:
        answers = {}
        for (case, _), answer in zip(written, ask_many([question for _, question in written]), strict=True):
            blocks = [
                [block.role, block.kind, block.ident or block.text[:200]]
                for block in answer.blocks()
                if not is_added_by_client(block)
            ]
            answers[case.name] = {
                "rc": answer.code,
                "error": answer.error,
                "sent": answer.messages is not None,
                "sequence": blocks,
            }
        given.answers.write_text(json.dumps(answers, indent=1, ensure_ascii=False))
    return 0


if __name__ == "__main__":
    sys.exit(main())
