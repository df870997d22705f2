"""Runs the examples of one list as documented, and checks their output.

Usage: run.py SOURCE_DIR BUILD_DIR LIST [--show] [TEXT]

LIST is the name of a file in lists/ without .toml; README.md describes its entries. Each example runs in its own
directory. --show prints the output. TEXT selects the examples that contain it. Exit status 1: some output is not as
expected.
"""

import re
import sys
import tempfile
import tomllib
from pathlib import Path

import equipment
from house import LIMIT, House

KEYS = {"command", "needs", "first", "then", "status", "answer", "absent", "typed", "until", "replace", "file",
        "limit", "elsewhere", "test", "reads", "runs", "differs"}

SKIPPED = 77  # CTest's SKIP_RETURN_CODE


def entries_of(path):
    entries = tomllib.loads(path.read_text())["example"]
    for entry in entries:
        unknown = set(entry) - KEYS
        if unknown or not entry.get("command"):
            raise ValueError(f"{path.name}: {entry.get('command')}: unknown keys {sorted(unknown)}")
        if "elsewhere" not in entry and not entry.get("answer"):
            raise ValueError(f"{path.name}: {entry['command']}: no answer is expected")
        for pattern in entry.get("answer", []) + entry.get("absent", []):
            re.compile(pattern)
    return entries


def answer_of(house, box, entry):
    """Returns the status and output of the example, including commands that inspect its files afterwards."""
    command = entry["command"]
    for documented, here in entry.get("replace", {}).items():
        command = command.replace(documented, here)
    command = house.here_text(command)
    first = house.here_text(entry.get("first", ""))
    if first:
        house.must(box, first)
    if "file" in entry:
        box.write(entry["file"], command.replace("${BOX}", str(box.path)) + "\n")
        return house.run(box, house.here_text(entry["then"]))
    if "until" in entry:
        process, _ = house.start(box, command, entry["until"])
        return house.stop(process)
    then = house.here_text(entry.get("then", ":"))
    return house.run(box, f"{command}\nstatus=$?\n{then}\nexit $status", entry.get("typed", ()),
                     entry.get("limit", LIMIT))


def problems_of(entry, status, output):
    problems = []
    if status != entry.get("status", 0):
        problems.append(f"exit status {status}, not {entry.get('status', 0)}")
    for pattern in entry["answer"]:
        if not re.search(pattern, output, re.MULTILINE):
            problems.append(f"the answer lacks /{pattern}/")
    for pattern in entry.get("absent", []):
        if re.search(pattern, output, re.MULTILINE):
            problems.append(f"the answer has /{pattern}/")
    return problems


def run_entry(house, entry, show):
    try:
        box = house.box(entry.get("needs", []), equipment.MAKERS)
        status, output = answer_of(house, box, entry)
        problems = problems_of(entry, status, output)
    except (RuntimeError, OSError) as error:
        status, output, problems = None, str(error), ["it could not be tried"]
    if problems or show:
        print(f"\n$ {entry['command']}\n{output[:9000]}\n[status {status}]")
    for problem in problems:
        print(f"EXAMPLE FAILS: {entry['command']}: {problem}")
    sys.stdout.flush()
    return not problems


def why_skipped(house, name):
    """Why the kernel does not permit what this list's examples record; empty if it does."""
    if name not in ("tree", "idle"):
        return ""
    status, output = house.run(house.empty_box(), "fieldcost trace -- true")
    return output if status in (77, 78) else ""


def main():
    words = [word for word in sys.argv[1:] if word != "--show"]
    source, build, name = Path(words[0]).resolve(), Path(words[1]).resolve(), words[2]
    entries = [entry for entry in entries_of(source / "tests" / "examples" / "lists" / f"{name}.toml")
               if "elsewhere" not in entry and (len(words) < 4 or words[3] in entry["command"])]
    with tempfile.TemporaryDirectory(prefix="fieldcost-examples-") as directory:
        house = House(source, build, Path(directory))
        try:
            if reason := why_skipped(house, name):
                print(f"Skipped\n{reason}\n[  SKIPPED ] {name}")
                return SKIPPED
            good = sum(run_entry(house, entry, "--show" in sys.argv) for entry in entries)
        finally:
            house.close()
    print(f"{name}: {good} of {len(entries)} examples answer as documented")
    return 0 if entries and good == len(entries) else 1


if __name__ == "__main__":
    sys.exit(main())
