"""Compares the lists of examples with the documents that contain examples, and with the tests that run them elsewhere.

Usage: check_lists.py SOURCE_DIR BUILD_DIR. Prints each example of README files, --help and manual pages that is in no
list, each listed one that is in no document any more, and each one whose test elsewhere does not contain it. Exit
status 1 if there is any.
"""

import re
import sys
from pathlib import Path

from documented import all_examples
from run import entries_of


def code_of(path):
    """The code of a script without comments, on one line, with continued lines joined."""
    comment = {".lua": "--", ".vim": '"', ".ts": "//"}.get(path.suffix, "#")
    lines = [line for line in path.read_text().splitlines() if not line.lstrip().startswith(comment)]
    return one_line(re.sub(r"\\\n", " ", "\n".join(lines)))


def one_line(text):
    return " ".join(text.split())


def problem_elsewhere(source, entry, places):
    """Why the entry's test does not run the example, or does not run what the entry states; empty if it does.

    The test contains the command's text, or reads it from the document (`reads`), which it names, or runs another text
    (`runs`), in which case the entry describes the difference (`differs`).
    """
    path = source / entry.get("test", "no test")
    if not entry["elsewhere"] or not path.is_file():
        return "neither run nor tested elsewhere"
    if ("runs" in entry) != ("differs" in entry) or ("runs" in entry and "reads" in entry):
        return "`runs` needs `differs`, and neither goes with `reads`"
    if "reads" in entry and Path(entry["reads"]).name not in map(lambda place: Path(place).name, places):
        return f"does not stand in {entry['reads']}"
    expected = entry.get("reads") or entry.get("runs") or entry["command"]
    if one_line(expected) not in code_of(path):
        return f"{entry['test']} lacks \"{one_line(expected)}\""
    return ""


def main():
    source, build = Path(sys.argv[1]), Path(sys.argv[2])
    places = all_examples(source, build / "bin")
    problems, listed = [], {}
    for path in sorted((source / "tests" / "examples" / "lists").glob("*.toml")):
        for entry in entries_of(path):
            command = entry["command"]
            listed[command] = path.name
            if "elsewhere" in entry and (problem := problem_elsewhere(source, entry, places.get(command, []))):
                problems.append(f"{problem}: {command}    [{path.name}]")
    problems += [f"no test: {example}    [{', '.join(where)}]" for example, where in places.items()
                 if example not in listed]
    problems += [f"stands in no text: {command}    [{name}]" for command, name in listed.items()
                 if command not in places]
    if len(places) < 200:
        problems.append(f"only {len(places)} examples were found in the texts")
    print("\n".join(problems) if problems else f"each of {len(places)} examples has a test")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
