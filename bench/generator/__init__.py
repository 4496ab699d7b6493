"""Deterministic generator of a synthetic Claude home (standard library only, no clock, no network).

    python -m bench.generator OUT --preset small [--seed 1] [--jobs 2]
    python -m bench.generator OUT --sessions 500 --bytes 100e6
    python -m bench.generator OUT --preset small --modern

It writes

    OUT/claude/projects/<folder>/<sessionId>.jsonl
    OUT/claude/projects/<folder>/<sessionId>/subagents/agent-<id>.jsonl   (most)
    OUT/claude/projects/<folder>/agent-<id>.jsonl                         (older layout, 1 of 5)
    OUT/claude/projects/<folder>/<sessionId>/tool-results/<toolu>.txt
    OUT/claude/history.jsonl, OUT/claude/todos/*.json, OUT/claude/settings.json
    OUT/truth.json    the oracle: what a right reader must find (not part of the home)

What is modelled on purpose, each a trap for a careless reader:

* one API message is several lines (thinking, text, tool_use) that share message.id and requestId and
  repeat `usage`; in 30 % of them the early lines carry a placeholder output_tokens (1..8) and only the
  last line has the final count;
* forked sessions: a new file that repeats the first lines of another session with the same ids but
  another sessionId (de-duplication over the whole store is needed);
* subagent files which share the parent's sessionId, with isSidechain true;
* rewound branches (two children of one parent), compact boundaries, summaries, titles;
* toolUseResult that repeats the tool_result content, originalFile in edits, base64 images,
  multi-megabyte MCP results;
* <synthetic> API-error messages with zero usage, lone surrogate escapes, CJK and emoji text, one-hour
  cache writes in one session of ten;
* corrupt lines: truncated, NUL run, two objects glued, invalid UTF-8, empty, and a last line without
  newline.

With --modern also what clients of 2.1.237 write: `progress` lines that repeat a subagent's assistant
line with its usage inside the parent's file (one subagent of five has no file of its own), and
usage.iterations with an advisor_message, another model's tokens billed beside the message's own.

The same arguments give byte-identical output, whatever --jobs is.

Not modelled: real-world compressibility (the text is Zipf words and code templates), file-history
backups, debug logs, clock skew, Windows paths, concurrent writers.
"""
