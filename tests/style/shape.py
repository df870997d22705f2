"""Checks the shape of files and folders:

- functions of at most 70 lines; lines of at most 120 columns (360 in tables of Markdown);
- a source includes the header of its name first, so that this compiles by itself; one without such a header begins
  with a sentence that says what it is for;
- lists in CMakeLists.txt are sorted;
- a folder with sources is explained in its README.md, or named in the README.md of the folder above; a README.md is at
  most one screen;
- all JSON is written by common/base/json_writer.h: no other source serializes, escapes or assembles JSON;
- no two files of the product share a name, except main.cc: a name stands for one thing;
- a namespace has the name of its folder: fieldcost::store in aggregator/store and below;
- tests/ mirrors the folders of the product;
- ARCHITECTURE.md answers ten questions of a newcomer, each with a file that exists;
- the contributors' documents exist, and name only files that exist.

Usage: shape.py SOURCE_DIR.  Prints each place that is not so; exit status 1 if there is one.

Functions are found by the layout that clang-format gives them (tests/style/format.sh): a body begins with a line that
ends in "{" and is indented as deep as the line with its "}".
"""

import re
import subprocess
import sys
from pathlib import Path

DOCUMENTS = ("ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "RECIPES.md", "SECURITY.md", "STABILITY.md",
             "STYLE.md")
MOST_LINES = 70
MOST_COLUMNS = 120
MOST_TABLE_COLUMNS = 360
MOST_README_LINES = 80
PRODUCT = ("agent/", "aggregator/", "common/", "tools/")
CODE = (".h", ".cc", ".c")
TEXT = CODE + (".py", ".sh", ".cmake", ".txt", ".md", ".S", ".proto", ".css", ".js", ".mjs", ".ts", ".toml", ".json",
               ".in", ".html", ".1", ".5", ".8", ".vim", ".el", ".lua", ".service", ".timer")
# Per kind of file, lines that cannot be broken: links of Markdown, strings of JSON, values of one-line settings,
# examples and what they must answer.
UNBREAKABLE = {
    ".md": re.compile(r"^!?\[|https?://"),
    ".json": re.compile(r'^\s*("[^"]*": )?".*",?$'),
    ".in": re.compile(r"^[A-Za-z]+="),
    ".toml": re.compile(r"^(command|first|then) = |^  '.*',$"),
}
# Written by programs, or by others.
NOT_OURS = ("tests/fuzz/corpus/", "tests/tools/report/cards/deflate", "tests/tools/report/cards/index.html",
            "tools/report/vendored/", "tools/vscode/package-lock.json")
NOT_A_FUNCTION = re.compile(
    r"^\s*(namespace|struct|class|enum|union|extern|static const|constexpr|inline constexpr|const)\b")
# Tests of what is not one folder's.
TESTS_OF_THE_WHOLE = {"bench", "e2e", "faults", "fuzz", "packages", "style", "support", "victims"}

# Another writer of JSON in a source, and the sources that may have it.
JSON_WRITERS = (
    (re.compile(r"json::serialize\b|json/serialize\.hpp|json::serializer\b"), "serializes JSON", ()),
    # TOML accepts JSON's escapes.
    (re.compile(r"\bQuoteJson\("), "quotes JSON",
     ("common/base/json_writer.cc", "common/base/text.cc", "common/base/text.h", "common/serve/new_directory.cc",
      "aggregator/config/policy_toml.cc", "aggregator/demo/demo.cc", "aggregator/operate/aggregator_directory.cc",
      "aggregator/probe_server/probe_server_directory.cc", "tools/cli/join/join_steps.cc")),
    (re.compile(r'"[^"]*\\\\u(00|\{|[0-9a-f]{4}|%0)'), "escapes JSON",
     # The last repairs JSON before it reads it.
     ("common/base/json_writer.cc", "common/base/text.cc", "tools/lsp/parse_message.cc")),
    # The first has the beginning of a line that its library formats; the last reads JSON.
    (re.compile(r'\\"[\w$]+\\":|[{,]"[\w$]+":'), "assembles JSON",
     ("common/base/log.cc", "common/http/http_message.cc")),
)


def functions(lines):
    """(first line, length) of each body that is indented by at most two levels and opens after a parameter list."""
    for first, line in enumerate(lines):
        if not line.endswith("{") or NOT_A_FUNCTION.match(line) or ")" not in line:
            continue
        indent = len(line) - len(line.lstrip())
        begin = first
        while begin > 0 and indent > 2 and not re.match(r"^\s{0,2}\S", lines[begin]):
            begin -= 1
        depth = len(lines[begin]) - len(lines[begin].lstrip())
        if depth > 2 or re.match(r"^\s*(if|for|while|switch|else|do|\}|return)\b", lines[begin]):
            continue
        closing = " " * depth + "}"
        for last in range(first + 1, len(lines)):
            if lines[last].startswith(closing) and not lines[last].startswith(closing + " else"):
                yield begin, last - begin + 1
                break


def breakable(name, lines):
    """(number, line) of each line outside of raw strings and of Markdown's fenced code."""
    unbreakable = UNBREAKABLE.get(Path(name).suffix)
    inside = False
    for number, line in enumerate(lines, 1):
        if name.endswith(".md") and line.startswith("```"):
            inside = not inside
        elif name.endswith(CODE) and not inside and re.search(r'R"\w*\(', line) and not re.search(r'\)\w*"', line):
            inside = True
        elif name.endswith(CODE) and inside and re.search(r'\)\w*"', line):
            inside = False
        elif not inside and not (unbreakable and unbreakable.search(line)):
            yield number, line


def check_lines(name, lines, problems):
    for number, line in breakable(name, lines):
        most = MOST_TABLE_COLUMNS if name.endswith(".md") and line.startswith("|") else MOST_COLUMNS
        if len(line) > most:
            problems.append(f"{name}:{number}: {len(line)} columns")


def check_beginning(root, name, lines, problems):
    """The own header comes first; a source of the product without one begins with what it is for."""
    header = re.sub(r"\.cc?$", ".h", name)
    if (root / header).exists():
        first = next((line for line in lines if line.startswith("#include ")), "")
        if name.endswith(".cc") and first != f'#include "{header}"':
            problems.append(f"{name}: does not include {header} first")
    elif name.startswith(PRODUCT) and not lines[0].startswith(("//", "/*")):
        problems.append(f"{name}: does not begin with what it is for")


def check_lists(name, text, problems):
    """Each list of a library's or program's sources and dependencies is ascending."""
    for call in re.finditer(r"\bfieldcost_\w+\(([^()]*)\)", re.sub(r"(?m)^ *#.*", "", text)):
        lists, current = {}, None
        for word in call.group(1).split():
            if re.fullmatch(r"[A-Z_]{4,}", word):
                current = lists.setdefault(word, []) if word in ("SOURCES", "DEPS", "PRIVATE_DEPS") else None
            elif current is not None and not word.startswith("$"):
                current.append(word)
        problems += [f"{name}: {keyword} from {items[0]} on are not sorted"
                     for keyword, items in lists.items() if items != sorted(items)]


def explained(root, folder):
    """Whether the folder has a README.md, or the next one above it names the folder."""
    folder = Path(folder)
    for above in (folder, *folder.parents):
        readme = root / above / "README.md"
        if readme.exists():
            return above == folder or f"`{folder.relative_to(above)}/" in readme.read_text(encoding="utf-8")
    return False


def check_folders(root, names, problems):
    """Each folder with sources of the product is explained; each folder with tests has the name of one of them."""
    folders = {str(Path(name).parent) for name in names if name.startswith(PRODUCT) and name.endswith(CODE + (".S",))}
    problems += [f"{folder}: neither has a README.md nor is named in the next one above" for folder in sorted(folders)
                 if not explained(root, folder)]
    tests = {Path(name).parent for name in names if name.startswith("tests/") and name.endswith("_test.cc")}
    for folder in sorted(tests):
        tested = Path(*folder.parts[1:])
        if tested.parts and tested.parts[0] not in TESTS_OF_THE_WHOLE and not (root / tested).is_dir():
            problems.append(f"{folder}: the product has no folder {tested}")


def check_names(names, problems):
    """A header and its source have one name, which no other folder has."""
    folders = {}
    for name in names:
        path = Path(name)
        if name.startswith(PRODUCT) and name.endswith(CODE + (".S", ".proto")) and path.name != "main.cc":
            folders.setdefault(path.name.split(".")[0], set()).add(str(path.parent))
    problems += [f"{stem}: sources in {', '.join(sorted(found))} have this name; a name must have one meaning"
                 for stem, found in sorted(folders.items()) if len(found) > 1]


# Folder -> namespace, where these differ.
NAMESPACES = {
    "common/base": "fieldcost",  # used everywhere
    "common/json": "fieldcost",  # where boost::json is called json
    "agent/idle": "fieldcost::idle_agent",  # common/idle is the other one
    # The parts of one program; common/config is another folder.
    **{f"aggregator/{part}": "fieldcost::aggregator" for part in ("config", "operate", "service", "upkeep")},
    # Probe points are the same thing on both sides of a file.
    "agent/probe_recorder": "fieldcost::probe",
}


def check_namespaces(root, names, problems):
    for name in names:
        folder = "/".join(name.split("/")[:2])
        if not re.match(r"(agent|aggregator|common|tools)/[^/]+/.*\.(h|cc)$", name) or not (root / name).is_file():
            continue
        expected = NAMESPACES.get(folder, "fieldcost::" + folder.split("/")[1])
        # The libraries inside programs share agent/intercept, which calls functions that each of them defines.
        allowed = {expected} | ({"fieldcost::intercept"} if folder.endswith("preload") else set())
        for found in re.findall(r"^namespace (fieldcost[a-z_:]*) \{", (root / name).read_text(), re.MULTILINE):
            if found not in allowed:
                problems.append(f"{name}: namespace {found}, not {expected}")


def check_readme(name, lines, problems):
    if name != "README.md" and Path(name).name == "README.md" and len(lines) - 1 > MOST_README_LINES:
        problems.append(f"{name}: {len(lines) - 1} lines; longer texts belong in a file next to it")


def check_answers(root, problems):
    """The table of a newcomer's questions: each answer is a file that exists."""
    text = (root / "ARCHITECTURE.md").read_text(encoding="utf-8")
    answers = re.findall(r"^\| [^|]+\? \| `([^`]+)` \|$", text, re.MULTILINE)
    if len(answers) < 10:
        problems.append(f"ARCHITECTURE.md answers {len(answers)} questions of a newcomer, not ten")
    problems += [f"ARCHITECTURE.md: there is no {path}" for path in answers if not (root / path).is_file()]


def check_documents(root, problems):
    """Each path in the contributors' documents, in backquotes or as a link, exists."""
    for name in DOCUMENTS:
        if not (root / name).is_file():
            problems.append(f"{name}: is missing")
            continue
        text = re.sub(r"(?ms)^```.*?^```", "", (root / name).read_text(encoding="utf-8"))
        paths = re.findall(r"`((?:agent|aggregator|common|deploy|tests|tools)/[\w./-]+)`", text)
        paths += [link for link in re.findall(r"\]\(([^)#]+)\)", text) if not link.startswith("https:")]
        problems += [f"{name}: there is no {path}" for path in sorted(set(paths)) if not (root / path).exists()]


def check_json(name, lines, problems):
    if not name.startswith(PRODUCT) or not name.endswith(CODE):
        return
    for number, line in enumerate(lines, 1):
        code = re.sub(r"(^|\s)//.*", "", line)
        if "expected a JSON object" in code:  # the message of an error
            continue
        for pattern, what, owners in JSON_WRITERS:
            if name not in owners and pattern.search(code):
                problems.append(f"{name}:{number}: {what}; use common/base/json_writer.h")


def check_file(root, name, problems):
    text = (root / name).read_text(encoding="utf-8")
    lines = text.split("\n")
    check_lines(name, lines, problems)
    check_readme(name, lines, problems)
    check_json(name, lines, problems)
    if name.endswith((".cc", ".c")):
        check_beginning(root, name, lines, problems)
    if name.endswith(CODE):
        for first, length in functions(lines):
            if length > MOST_LINES:
                problems.append(f"{name}:{first + 1}: a function of {length} lines")
    if name.endswith("CMakeLists.txt"):
        check_lists(name, text, problems)


def main():
    root = Path(sys.argv[1])
    listed = subprocess.run(["git", "ls-files"], cwd=root, capture_output=True, text=True)
    names = listed.stdout.split("\n") if listed.returncode == 0 else []
    if not any(names):  # a copy without its history
        names = [str(p.relative_to(root)) for top in ("agent", "aggregator", "common", "deploy", "tests", "tools")
                 for p in (root / top).rglob("*") if p.is_file()]
    names = [name for name in names if not name.startswith(NOT_OURS) and "node_modules" not in name]
    checked = [name for name in names if name.endswith(TEXT) and "golden" not in name and (root / name).is_file()]
    problems = []
    for name in checked:
        check_file(root, name, problems)
    check_folders(root, names, problems)
    check_names(names, problems)
    check_namespaces(root, names, problems)
    check_answers(root, problems)
    check_documents(root, problems)
    if len(checked) < 500:
        problems.append(f"only {len(checked)} files found below {root}: wrong directory?")
    print("\n".join(problems) if problems else f"{len(checked)} files have the shape that they should")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
