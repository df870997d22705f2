"""Checks the shape of files: functions of at most 70 lines, lines of at most 120 columns, sorted lists of sources; a
source includes the header of its name first, so that this compiles by itself.

Usage: shape.py SOURCE_DIR.  Prints each place that is not so; exit status 1 if there is one.

Functions are found by the layout that clang-format gives them (tests/style/format.sh): a body begins with a line that
ends in "{" and is indented as deep as the line with its "}".
"""

import re
import subprocess
import sys
from pathlib import Path

MOST_LINES = 70
MOST_COLUMNS = 120
CODE = (".h", ".cc")
TEXT = CODE + (".py", ".sh", ".cmake", ".txt", ".md", ".S", ".c", ".proto")
# Lines that cannot be broken: tables, links and indented code of Markdown, long words.
UNBREAKABLE = re.compile(r"^\||^!?\[|^    .*[=→]|https?://|\S{80}")
NOT_OURS = ("tests/fuzz/corpus/", "tests/tools/report/", "tests/tools/vscode/", "tools/vscode/")
NOT_A_FUNCTION = re.compile(
    r"^\s*(namespace|struct|class|enum|union|extern|static const|constexpr|inline constexpr|const)\b")


def functions(lines):
    """(first line, length) of each body that is indented by at most two levels and opens behind a parameter list."""
    for first, line in enumerate(lines):
        if not line.endswith("{") or NOT_A_FUNCTION.match(line) or ")" not in line:
            continue
        indent = len(line) - len(line.lstrip())
        begin = first
        while begin > 0 and indent > 2 and not re.match(r"^\s{0,2}\S", lines[begin]):
            begin -= 1
        depth = len(lines[begin]) - len(lines[begin].lstrip())
        if depth > 2 or re.match(r"^\s*(if|for|while|switch|else|do|\}|return|TEST)", lines[begin]):
            continue
        closing = " " * depth + "}"
        for last in range(first + 1, len(lines)):
            if lines[last].startswith(closing) and not lines[last].startswith(closing + " else"):
                yield begin, last - begin + 1
                break


def breakable(name, lines):
    """(number, line) of each line outside of raw strings and of Markdown's fenced code."""
    inside = False
    for number, line in enumerate(lines, 1):
        if name.endswith(".md") and line.startswith("```"):
            inside = not inside
        elif name.endswith(CODE) and not inside and re.search(r'R"\w*\(', line) and not re.search(r'\)\w*"', line):
            inside = True
        elif name.endswith(CODE) and inside and re.search(r'\)\w*"', line):
            inside = False
        elif not inside and not UNBREAKABLE.search(line):
            yield number, line


def check_own_header(root, name, text, problems):
    header = name[:-3] + ".h"
    if not name.endswith(".cc") or not (root / header).exists():
        return
    first = re.search(r'^#include (.*)$', text, re.M)
    if not first or first.group(1) != f'"{header}"':
        problems.append(f"{name}: does not include {header} first")


def check_lists(name, text, problems):
    """Each SOURCES list, one name a line or several, in ascending order."""
    for found in re.finditer(r"\bSOURCES\s+((?:[\w./$\{\}-]+\.(?:cc|c|S)\s+)+)", text):
        # What is another folder's comes last.
        sources = [s for s in found.group(1).split() if not s.startswith(("$", ".."))]
        if sources != sorted(sources):
            problems.append(f"{name}: the list from {sources[0]} on is not sorted")


def check_answers(root, problems):
    """The README's table of a newcomer's questions: each answer is a source that is there."""
    text = (root / "README.md").read_text(encoding="utf-8")
    answers = re.findall(r"^\| [^|]+\? \| `([^`]+)` \|$", text, re.MULTILINE)
    if len(answers) < 10:
        problems.append(f"README.md answers {len(answers)} questions of a newcomer, not ten")
    problems += [f"README.md: there is no {path}" for path in answers if not (root / path).is_file()]


def main():
    root = Path(sys.argv[1])
    listed = subprocess.run(["git", "ls-files"], cwd=root, capture_output=True, text=True)
    names = listed.stdout.split("\n") if listed.returncode == 0 else []
    if not any(names):  # a copy without its history
        names = [str(p.relative_to(root)) for top in ("agent", "aggregator", "common", "deploy", "tests", "tools")
                 for p in (root / top).rglob("*") if p.is_file()]
    problems = []
    checked = 0
    for name in names:
        if not name.endswith(TEXT) or name.startswith(NOT_OURS) or "golden" in name or "node_modules" in name:
            continue
        path = root / name
        if not path.is_file():
            continue
        checked += 1
        text = path.read_text(encoding="utf-8")
        lines = text.split("\n")
        for number, line in breakable(name, lines):
            if len(line) > MOST_COLUMNS:
                problems.append(f"{name}:{number}: {len(line)} columns")
        check_own_header(root, name, text, problems)
        if name.endswith(CODE):
            for first, length in functions(lines):
                if length > MOST_LINES:
                    problems.append(f"{name}:{first + 1}: a function of {length} lines")
        if name.endswith("CMakeLists.txt"):
            check_lists(name, text, problems)
    check_answers(root, problems)
    if checked < 500:
        problems.append(f"only {checked} files found below {root}: wrong directory?")
    print("\n".join(problems) if problems else f"{checked} files have the shape that they should")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
