"""Checks that the appendix of agent/PRIVACY.md has for each claim tests that exist, and mutants that these notice.

Usage: privacy_claims.py SOURCE_DIR.  Prints what is wrong, one line each; exit status 1 if something is.

A mutant is tests/faults/mutants/NAME.patch; whether its test does notice it, `tests/faults/run.sh --mutants`
finds out. Here: it stands beside each claim that it says it breaks, and its test is one of the claim's.
"""

import fnmatch
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


def mutants_of(root):
    """name -> (test filters, claims)"""
    mutants = {}
    for file in (root / "tests" / "faults" / "mutants").glob("*.patch"):
        head = file.read_text().partition("\n--- ")[0]
        tests = re.search(r"^Tests: \S+(?: (\S+))?$", head, re.MULTILINE)
        claims = re.search(r"^Claim: (.+)$", head, re.MULTILINE)
        mutants[file.stem] = ((tests.group(1) or "*").split(":") if tests else [],
                              [int(n) for n in re.findall(r"\d+", claims.group(1))] if claims else [])
    return mutants


def names_after(label, proof):
    """What stands in backquotes in the paragraph's part that begins with `label`."""
    found = re.search(rf"^{label}: (.*?)(?=\n\n|\n[A-Z][a-z]+: |\Z)", proof, re.MULTILINE | re.DOTALL)
    return re.findall(r"`([\w.]+)`", found.group(1)) if found else []


def main():
    root = Path(sys.argv[1])
    text = (root / "agent" / "PRIVACY.md").read_text()
    existing = tests_of(root)
    mutants = mutants_of(root)
    problems = []
    body, _, appendix = text.partition("\n## Appendix: ")
    claims = [int(number) for number in re.findall(r"^\*\*(\d+)\. ", body, re.MULTILINE)]
    entries = re.split(r"^\*\*(?=\d+\*\*$)", appendix, flags=re.MULTILINE)[1:]
    proofs = {int(entry.split("*")[0]): entry for entry in entries}
    listed = set()
    if list(proofs) != claims or len(entries) != len(claims):
        problems.append("the appendix does not have the claims, each once and in order")
    for place, number in enumerate(claims, 1):
        if number != place:
            problems.append(f"claim {number} should be number {place}")
        proof = proofs.get(number, "")
        tests = names_after("Tests", proof)
        if not tests:
            problems.append(f"claim {number} names no test")
        for test in tests:
            if test not in existing:
                problems.append(f"claim {number}: there is no test {test}")
        names = names_after("Mutants", proof)
        if not names:
            problems.append(f"claim {number} names no mutant")
        for name in names:
            filters, broken = mutants.get(name, ([], []))
            if name not in mutants:
                problems.append(f"claim {number}: there is no mutant {name}")
            elif number not in broken:
                problems.append(f"claim {number}: mutant {name} does not name the claim")
            elif not any(fnmatch.fnmatchcase(test, pattern) for test in tests for pattern in filters):
                problems.append(f"claim {number}: mutant {name} is noticed by none of the claim's tests")
            listed.add((number, name))
    for name, (_, broken) in sorted(mutants.items()):
        for number in broken:
            if (number, name) not in listed:
                problems.append(f"claim {number} does not name the mutant {name}, which breaks it")
    if len(claims) < LEAST_CLAIMS:
        problems.append(f"only {len(claims)} claims found")
    for test in sorted(set(re.findall(r"`([A-Z]\w+\.[A-Z]\w+)`", text))):
        if test not in existing:
            problems.append(f"there is no test {test}")
    print("\n".join(problems) if problems else f"{len(claims)} claims have their tests and mutants")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
