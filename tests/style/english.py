"""Counts idioms that a native engineer understands only at the second reading (STYLE.md, "Plain English").

The count of each idiom is recorded in english_counts.json and may only fall: a new occurrence is an error; after a
fall, --update records the lower count.

Usage: english.py SOURCE_DIR            checks the counts; exit status 1 if one has risen
       english.py SOURCE_DIR --list [IDIOM]   prints each occurrence
       english.py SOURCE_DIR --update   records the counts, if none has risen
"""

import json
import re
import subprocess
import sys
from pathlib import Path

RECORD = Path(__file__).with_name("english_counts.json")
CODE = (".h", ".cc", ".c", ".S", ".js", ".mjs", ".ts", ".proto")
SCRIPT = (".py", ".sh", ".cmake", ".toml", ".in", ".service", ".timer", ".lua", ".el", ".vim")
NOT_READ = ("tests/fuzz/corpus/", "tools/report/vendored/", "tests/style/english.py", "STYLE.md")

# Words after which "who" is right: it is for people.
PEOPLE = ("user", "users", "reader", "readers", "people", "person", "attacker", "anyone", "Anyone", "everyone",
          "sender", "guesser", "viewers", "volunteer", "operator", "operator,")
# Words before "of which" that make it plain English: "most of which", "90 % of which".
QUANTITIES = ("each", "all", "most", "some", "both", "any", "none", "two", "three", "half", "part", "first", "last",
              "second", "%", "{}")


def unless_after(words, pattern):
    """The pattern, but not after one of the words and a space."""
    return "".join(rf"(?<!{re.escape(word)} )" for word in words) + pattern


# Idiom -> pattern. Each is right somewhere ("the volunteer who opted in"); a new one needs a second thought. Not
# counted, as they are plain English: "whose" for things, ", which is", "to which", "if there is none", "besides",
# "once a day", "tell apart", "either way".
IDIOMS = {
    "nobody": unless_after(("user", "chown", "User", "become"),
                           r"\b(?<![\[`'])(?:[Nn]obody|[Ss]omebody|[Ww]hoever|[Ww]homever)(?:'s)?\b"),
    "who": unless_after(PEOPLE, r"\b(?:who|whom)\b"),
    "told": r"\b(?:tells?|told|says?|said|saying)\b(?! apart)",
    "of which": unless_after(QUANTITIES, r"\bof which\b"),
    "is none": unless_after(("there", "There"), r"\b(?:is|are|was|were) none\b(?! else)"),
    "what is": r"(?:^|[.;:(] )(?:[Ww]hat|Which|That which) (?:is|are|was|were|has|have|it|they|a|an|the)\b",
    "whatever": r"\b[Ww]hatever\b",
    "for good": r"\bfor good\b",
    "behind": r"(?<!left )(?<!leave )(?<!lags )\b[Bb]ehind\b(?! (?:one|a|an) (?:\w+ )?(?:address|NAT|proxy|office))",
    "beside": r"\b[Bb]eside\b",
    "does not do": r"\b(?:will|would|does|do|did|can|may) not do\b",
    # Natural with units of measurement: "1.5 us a call", "499 times a second".
    "an a B": r"\b(?:one|a|an|\d+) (?!(?:[nmu\u00b5]?s|B|[KM]iB|times|that|with|of|as|for|in|to|before|from|which|"
              r"is|has|at|by|than|once|and|or|per|when|if|after|during|without|about|on|over|signs|holds)\b)\w+ an? "
              r"(?:second|minute|hour|day|week|month|year|CPU|key|row|run|agent|file|thread|line|call|batch|event|user|"
              r"core|function)\b|"
              r"\b(?:bytes|lines|runs|calls) an? (?:second|minute|day|week|run|event|thread|row|batch)\b",
    "too, end": r", either(?=[.;:\"]|$)|\b[Nn]either does\b",
    "apart": r"\b(?:kept|keeps?|keep) .{0,30}\bapart\b",
    "looked at": r"\b(?:looks?|looked|looking) (?:at|after|into)\b",
    "test name": r"\bTEST(?:_[FP])?\(\w+,\s*(?:What|Who|Whoever|Nobody|That|Which|Whatever)\w+",
}
PATTERNS = {name: re.compile(pattern) for name, pattern in IDIOMS.items()}


def prose_of_code(line):
    """The comment, the messages and the test name of a line of code; the empty text if none."""
    if re.match(r"\s*TEST(_[FP])?\(", line):
        return line
    parts = [text for text in re.findall(r'"((?:[^"\\]|\\.)*)"', line) if " " in text]
    comment = re.search(r"(?:^|\s)(?://+|/\*+|\*)\s(.*)$", line)
    if comment:
        parts.append(comment.group(1))
    return " | ".join(parts)


def prose_of_script(line):
    comment = re.search(r"(?:^|\s)#\s(.*)$", line)
    parts = [text for text in re.findall(r'"((?:[^"\\]|\\.)*)"', line) if " " in text]
    return " | ".join(parts + ([comment.group(1)] if comment else []))


def prose(name, text):
    """(number, text) of each line that people read."""
    fenced = False
    for number, line in enumerate(text.split("\n"), 1):
        if name.endswith(".md"):
            if line.lstrip().startswith("```"):
                fenced = not fenced
            elif not fenced:
                yield number, re.sub(r"`[^`]*`", "``", line)
        elif name.endswith((".1", ".5", ".8")):
            yield number, line
        elif name.endswith(CODE):
            yield number, prose_of_code(line)
        elif name.endswith(SCRIPT) or Path(name).name == "CMakeLists.txt":
            yield number, prose_of_script(line)


def occurrences(root):
    """(idiom, file, number, text) of each line with an idiom, once for each idiom."""
    listed = subprocess.run(["git", "ls-files"], cwd=root, capture_output=True, text=True)
    names = listed.stdout.split("\n") if listed.returncode == 0 else []
    if not any(names):  # a copy without its history
        names = [str(path.relative_to(root)) for path in Path(root).rglob("*") if path.is_file()]
    for name in names:
        if not name or name.startswith(NOT_READ) or "golden" in name or "node_modules" in name or "build/" in name:
            continue
        path = root / name
        if path.is_symlink() or not path.is_file():
            continue
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        for number, line in prose(name, text):
            for idiom, pattern in PATTERNS.items():
                if line and pattern.search(line):
                    yield idiom, name, number, line.strip()


def main():
    root, options = Path(sys.argv[1]), sys.argv[2:]
    found = list(occurrences(root))
    counts = {idiom: 0 for idiom in IDIOMS}
    for idiom, *_ in found:
        counts[idiom] += 1
    if options[:1] == ["--list"]:
        for idiom, name, number, line in found:
            if len(options) < 2 or idiom == options[1]:
                print(f"{name}:{number}: [{idiom}] {line}")
        return 0
    recorded = json.loads(RECORD.read_text()) if RECORD.exists() else {}
    risen = {idiom: count for idiom, count in counts.items() if count > recorded.get(idiom, count)}
    if options[:1] == ["--update"] and not risen:
        RECORD.write_text(json.dumps(counts, indent=2) + "\n")
        return 0
    for idiom, count in risen.items():
        print(f'"{idiom}": {count} occurrences, {recorded[idiom]} are recorded; STYLE.md names better words, '
              f'`english.py . --list "{idiom}"` lists them')
    fallen = {idiom: count for idiom, count in counts.items() if count < recorded.get(idiom, -1)}
    for idiom, count in fallen.items():
        print(f'"{idiom}": {count} occurrences, fewer than the {recorded[idiom]} recorded: run `english.py . --update`')
    if not risen:
        print(f"{sum(counts.values())} occurrences of idioms, {sum(recorded.values())} are recorded")
    return 1 if risen else 0


if __name__ == "__main__":
    sys.exit(main())
