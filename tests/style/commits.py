"""Checks the messages of the commits since the last release (STYLE.md, "Commits").

The subject is "part: Imperative ...", at most 72 characters long; the body gives the reason. Before the first release,
commits since the one that added this file are checked.

Usage: commits.py SOURCE_DIR [FIRST..LAST].  Prints each violation; exit status 1 if there is one.
"""

import re
import subprocess
import sys

MOST_SUBJECT = 72
SUBJECT = re.compile(r"[a-z][a-z0-9_/., -]*: ([A-Z]\w*)\b")
# "Adds", "Added", "Adding"; but "Pass", "Process", "Embed", "Bring" are imperative.
NOT_IMPERATIVE = re.compile(r"\w+(?:[^s]s|[^eb]ed|\wing)$")
IMPERATIVE_ALL_THE_SAME = {"Bring", "String", "Ring", "Ping", "Shed", "Canvas", "Bias", "Focus", "Alias", "Always"}


def git(root, *arguments):
    answer = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True)
    return answer.stdout if answer.returncode == 0 else ""


def checked_range(root):
    tag = git(root, "describe", "--tags", "--abbrev=0", "--match", "v*").strip()
    if tag:
        return f"{tag}..HEAD"
    added = git(root, "log", "--diff-filter=A", "--format=%H", "--", "tests/style/commits.py").split()
    return f"{added[-1]}..HEAD" if added else ""


def problems_of(subject, body):
    """The problems of one message."""
    found = []
    if len(subject) > MOST_SUBJECT:
        found.append(f"the subject has {len(subject)} characters, at most {MOST_SUBJECT} are allowed")
    match = SUBJECT.match(subject)
    if not match:
        found.append('the subject is not "part: Imperative ..."')
    elif NOT_IMPERATIVE.match(match[1]) and match[1] not in IMPERATIVE_ALL_THE_SAME:
        found.append(f'"{match[1]}" is not imperative')
    if not body.strip():
        found.append("there is no body; it gives the reason")
    return found


def self_test():
    for subject, body, wrong in [
        ("store: Reject operands of wrong length", "They corrupt later writes.", False),
        ("store, sampler: Remove unused constants", "clang rejects them.", False),
        ("tests: Pass the seed on", "It was lost.", False),
        ("store: Rejects operands", "They corrupt later writes.", True),
        ("store: Rejected operands", "They corrupt later writes.", True),
        ("store: Rejecting operands", "They corrupt later writes.", True),
        ("Reject operands", "They corrupt later writes.", True),
        ("store: Reject operands of wrong length", "", True),
        ("store: Reject operands " + "x" * 60, "They corrupt later writes.", True),
    ]:
        if bool(problems_of(subject, body)) != wrong:
            sys.exit(f"commits.py does not judge this message correctly: {subject!r}, body {body!r}")


def main():
    self_test()
    root = sys.argv[1]
    commits = sys.argv[2] if len(sys.argv) > 2 else checked_range(root)
    if not commits:
        print("no commit is checked: this is a copy without history")
        return 0
    violations = 0
    log = git(root, "log", "--no-merges", "--format=%h%x00%s%x00%b%x01", commits)
    messages = [entry.strip("\n").split("\0") for entry in log.split("\x01") if entry.strip()]
    for commit, subject, body in messages:
        for problem in problems_of(subject, body):
            print(f"{commit} {subject}: {problem}")
            violations += 1
    if not violations:
        print(f"{len(messages)} commits have the form that STYLE.md describes")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
