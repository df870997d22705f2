"""Compares the lists of examples with the texts in which examples stand.

Usage: check_lists.py SOURCE_DIR BUILD_DIR.  Prints each example of README files, --help and manual pages that no list
has, and each listed one that stands nowhere any more; exit status 1 if there is one.
"""

import sys
from pathlib import Path

from documented import all_examples
from run import entries_of


def main():
    source, build = Path(sys.argv[1]), Path(sys.argv[2])
    places = all_examples(source, build / "bin")
    problems, listed = [], {}
    for path in sorted((source / "tests" / "examples" / "lists").glob("*.toml")):
        for entry in entries_of(path):
            listed[entry["command"]] = path.name
            if "elsewhere" in entry and not (entry["elsewhere"] and (source / entry.get("test", "no test")).exists()):
                problems.append(f"neither run nor tested elsewhere: {entry['command']}    [{path.name}]")
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
