"""Compares the commands of all programs, as listed by --help, with those whose output is in golden/.

Usage: every_command.py SOURCE_DIR BUILD_DIR. Prints each command that has neither a golden output nor a reason in
without_golden.toml, and each reason that is not needed; exit status 1 if there is any.
"""

import re
import sys
import tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parents[1] / "examples"))

import documented  # noqa: E402

ANYWHERE = re.compile(r" --no-pager\b")  # options that may precede a command
VARIABLES = re.compile(r"^\s*(?:\w+=(?:'[^']*'|\S*)\s+)+")
FEWEST = 90  # minimum number of commands of all programs


def commands_of(binaries):
    """Returns each command of each program. A command with subcommands is included only if it does something itself,
    which its usage shows."""
    for program in documented.PROGRAMS:
        for words, text in documented.helps(binaries, [program]):
            if "\nCommands:\n" not in text or "[COMMAND]" in text:
                yield " ".join(words)


def commands_in(line, commands):
    """Returns those of `commands` that a line of bash runs; of `idle show` and `idle`, the longer one."""
    for part in re.split(r"&&|\|\|?|;", ANYWHERE.sub("", line)):
        words = VARIABLES.sub("", part).split()
        heads = [" ".join(words[:count]) for count in range(len(words), 0, -1)]
        yield from [head for head in heads if head in commands][:1]


def main():
    commands = set(commands_of(Path(sys.argv[2]) / "bin"))
    lists = [tomllib.loads((HERE / name).read_text()) for name in ("project.toml", "services.toml")]
    shown = {command for entries in lists for entry in entries["command"]
             for command in commands_in(entry["command"], commands)}
    reasons = tomllib.loads((HERE / "without_golden.toml").read_text())
    problems = [f"neither a golden nor a reason: {command}" for command in sorted(commands - shown - set(reasons))]
    problems += [f"a reason, though it has a golden: {command}" for command in sorted(shown & set(reasons))]
    problems += [f"a reason, but no such command: {command}" for command in sorted(set(reasons) - commands)]
    problems += [f"an empty reason: {command}" for command, reason in reasons.items() if not reason]
    if len(commands) < FEWEST:
        problems.append(f"only {len(commands)} commands were found in the helps")
    print("\n".join(problems) if problems else
          f"{len(shown)} of {len(commands)} commands have a golden, {len(reasons)} a reason why not")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
