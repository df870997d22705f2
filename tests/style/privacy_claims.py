"""Checks that each claim of agent/PRIVACY.md names tests that exist.

Usage: privacy_claims.py SOURCE_DIR.  Prints what is wrong, one line each; exit status 1 if something is.
"""

import re
import sys
from pathlib import Path

LEAST_CLAIMS = 20  # fewer mean that the text has another form


def tests_of(root):
    tests = set()
    for file in (root / "tests").rglob("*.cc"):
        for suite, name in re.findall(r"^TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\s*\)", file.read_text(), re.MULTILINE):
            tests.add(f"{suite}.{name}")
    return tests


def main():
    root = Path(sys.argv[1])
    text = (root / "agent" / "PRIVACY.md").read_text()
    existing = tests_of(root)
    problems = []
    claims = re.split(r"^\*\*(?=\d+\. )", text, flags=re.MULTILINE)[1:]
    for place, claim in enumerate(claims, 1):
        number = int(claim.split(".")[0])
        if number != place:
            problems.append(f"claim {number} should be number {place}")
        named = re.search(r"^Tests: (.*?)(?:\n\n|\Z)", claim, re.MULTILINE | re.DOTALL)
        if not named or not re.findall(r"`\w+\.\w+`", named.group(1)):
            problems.append(f"claim {number} names no test")
    if len(claims) < LEAST_CLAIMS:
        problems.append(f"only {len(claims)} claims found")
    for test in sorted(set(re.findall(r"`([A-Z]\w+\.[A-Z]\w+)`", text))):
        if test not in existing:
            problems.append(f"there is no test {test}")
    print("\n".join(problems) if problems else f"{len(claims)} claims have their tests")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
