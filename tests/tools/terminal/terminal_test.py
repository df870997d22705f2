"""Checks what commands show on terminals of 80, 120 and 200 columns: for the project in shop/, a catalogue, services.

Usage: terminal_test.py SOURCE_DIR BUILD_DIR [--update | --record] [TEXT]

README.md describes project.toml, services.toml and golden/. --update rewrites golden/, --record rewrites recorded/.
TEXT selects the commands that contain it. Exit status 1: something is not as expected.
"""

import difflib
import re
import shutil
import sys
import tempfile
import tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path += [str(HERE.parent / "cli"), str(HERE.parents[1] / "examples")]

import equipment  # noqa: E402
from house import House  # noqa: E402
from in_terminal import shown  # noqa: E402

WIDTHS = (80, 120, 200)
ROWS = 2000  # nothing is paged
KEYS = {"command", "needs", "first", "status", "parts", "masks", "prompt", "typed"}
CLOCK = {"FAKETIME": "2026-11-26 12:00:00", "FAKETIME_DONT_FAKE_MONOTONIC": "1", "TZ": "UTC"}

# Text that differs between machines or runs.
MEASURED = re.compile(r"""
    (?<![\w.])\d[\d.,]*(?=[ ](?:ns|µs|ms|s|min|h|%|x)\b|[ ]%|x\b)   # times, shares and ratios, with their units kept
  | (?<![\w.])\d\.\d+e[-+]\d+                                  # probabilities
  | (?<!\w)(?:[0-9a-f]{8}\.\d+|[0-9a-f]{16,40})(?!\w)          # identifiers
  | \d{4}-\d\d-\d\d(?:[ ]\d\d:\d\d(?::\d\d)?)?                      # dates
  | (?<=/tmp/fieldcost-terminal-)\w+                           # directories
""", re.VERBOSE)
# Text that differs even with a stopped clock; an entry names those that it needs.
MASKS = {
    "port": r"(?<=127\.0\.0\.1:)\d{5}|(?<=localhost:)\d{5}|(?<=\bport[ =])\d{5}",
    "bytes": r"(?<=bytes=)\d+",  # of the store's files
    "size": r"(?<=points, )\d+(?= KiB)",  # of a database, which depends on the order of writes
    "directory": r"(?<=/tmp/fieldcost-terminal-)\w+",
    "identifier": r"(?<!\w)[0-9a-f]{16,64}(?!\w)",  # of keys, drawn at random
}
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
PROGRESS = re.compile(r"[^\n]*\r(?!\n)|\x1b\[K")  # a line that is rewritten


def masked(text):
    """`text` with measured values hidden; each letter and digit becomes a '#', which keeps the width."""
    return MEASURED.sub(lambda found: re.sub(r"\w", "#", found[0]), text)


def hidden(entry, text):
    """`text` with a '#' for each letter and digit that the entry's masks match."""
    for name in entry.get("masks", []):
        text = re.sub(MASKS[name], lambda found: re.sub(r"\w", "#", found[0]), text)
    return text


def cells_of(line):
    """Begin, end and text of each cell; cells are separated by two or more blanks."""
    return [(found.start(), found.end(), found[0]) for found in re.finditer(r"\S+(?: \S+)*", line)]


def is_heading(line):
    cells = cells_of(line)
    return len(cells) >= 2 and all(re.fullmatch(r"[A-Z0-9][A-Z0-9 ±/%()→+-]*|\(UTC\)", text) and
                                   re.search("[A-Z]{2}|CPU|Q", text) for _, _, text in cells)


def misplaced(heading, line):
    """The first cell of `line` that is aligned neither left nor right with its heading; None if all are."""
    columns = cells_of(heading)
    for begin, end, text in columns:
        below = [cell for cell in cells_of(line) if cell[0] < end and begin < cell[1]]
        is_last = begin == columns[-1][0]
        for cell in below:
            if cell[0] != begin and cell[1] != end and not (is_last and cell[0] >= begin):
                return f"{cell[2]!r} is not below {text}"
    return None


def problems_of(text, width):
    """The problems that no output may have, regardless of measured values."""
    heading = None
    for line in text.split("\n"):
        if is_heading(line):
            heading = line
        elif not line or len(cells_of(line)) < 2 or line.startswith(("(", "fieldcost:")):
            heading = None
        if len(line) > width and "/tmp/fieldcost-terminal-" not in line:  # a command to copy stays whole
            yield f"wider than the terminal ({len(line)}): {line}"
        if re.search(r'\\[xun0"]|\{"|": "', line):
            yield f"escapes: {line}"
        for _, _, cell in cells_of(line):
            # Arguments, template arguments and scopes are dropped before the name is cut.
            if re.search("[\\w>)]…|…[\\w<(]", cell) and re.search(r"::|[\w>]\(.*…|<.*…", cell):
                yield f"a name is cut: {cell}"
            if heading and cell.count(")") > cell.count("("):
                yield f"the end of a name, without its beginning: {cell}"
        if heading and heading != line and (wrong := misplaced(heading, line)):
            yield f"columns: {wrong}:\n{heading}\n{line}"


def chosen(entry, text):
    """The part of a text that is compared with golden/: all except what `masks` names; for live output the groups of
    `parts`, masked, because blanks and numbers of digits depend on other lines and on this run."""
    if "parts" not in entry:
        return hidden(entry, text)
    text = re.sub("  +", "  ", re.sub(r"[#.,]*#", "#", masked(text)))
    parts = []
    for pattern in entry["parts"]:
        found = re.search(pattern, text, re.MULTILINE)
        if not found:
            raise LookupError(f"nothing matches /{pattern}/ in:\n{text}")
        parts.append("  ".join(found.groups() or [found[0]]))
    return "\n".join(parts)


class StoppedClock(House):
    """A clock that shows the same time to all programs, including those running alongside others, because services and
    their readers show dates and ages."""

    def environment(self, box):
        library = next(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))
        return super().environment(box) | CLOCK | {"LD_PRELOAD": str(library)}


class Terminal:
    def __init__(self, house, update):
        self.house, self.update, self.failures = house, update, 0

    def fail(self, width, entry, text):
        print(f"{width} columns: {entry['command']}\n{text}\n")
        self.failures += 1

    def answer(self, entry, width):
        box = self.house.box(entry.get("needs", []), equipment.MAKERS)
        if "first" in entry:
            self.house.must(box, entry["first"])
        environment = self.house.environment(box) | {"TERM": "xterm-256color"}
        status, shown_bytes = shown(ROWS, width, ["bash", "-c", self.house.here_text(entry["command"])],
                                    [f"{line}\n" for line in entry.get("typed", [])], box.work, environment,
                                    entry.get("prompt", "ready> ").encode())
        text = COLOUR.sub("", PROGRESS.sub("", shown_bytes.decode()))
        if status != entry.get("status", 0):
            self.fail(width, entry, f"exit status {status}, not {entry.get('status', 0)}:\n{text}")
        for problem in problems_of(text, width):
            self.fail(width, entry, problem)
        return text

    def check(self, entries, width):
        golden = HERE / "golden" / f"{width}.txt"
        sections = dict(re.findall(r"^\$ (.*)\n((?:(?!^\$ ).*\n)*)", golden.read_text() if golden.exists() else "",
                                   re.MULTILINE))
        for entry in entries:
            text = self.answer(entry, width)
            try:
                text = chosen(entry, text)
            except LookupError as error:
                self.fail(width, entry, str(error))
                continue
            text = "".join(line.rstrip() + "\n" for line in text.strip("\n").split("\n"))
            expected = sections.get(entry["command"], "")
            if self.update:
                sections[entry["command"]] = text
            elif text.strip() != expected.strip():
                diff = difflib.unified_diff(expected.strip().split("\n"), text.strip().split("\n"), "golden", "shown",
                                            lineterm="", n=1)
                self.fail(width, entry, "\n".join(diff))
        if self.update:
            golden.write_text("".join(f"$ {name}\n{text.strip(chr(10))}\n\n" for name, text in sections.items()))


@equipment.maker()
def shop(house, box):
    """fast/shop_index and slow/shop_index."""
    for build in ("fast", "slow"):
        shutil.copytree(house.build / "tests" / "shop" / build, box.work / build)


@equipment.maker("shop")
def recorded(house, box):
    """The recordings of record(), as a user's own measurements."""
    for file in (HERE / "recorded").iterdir():
        shutil.copy(file, box.work)
    state = box.home / ".local" / "state" / "fieldcost"
    state.mkdir(parents=True)
    shutil.copy(HERE / "recorded" / "probe.db", state)


def record(house):
    """Measures the project, so that the other commands' output does not depend on this machine."""
    box = house.box(["shop"], equipment.MAKERS)
    house.must(box, "fieldcost measure --rounds 2 --save base.lab -- fast/shop_index",
               "fieldcost measure --rounds 2 --save slow.lab -- slow/shop_index",
               "fieldcost trace --runs 5 --rate 999 -o base.fct -- fast/shop_index 400",
               "fieldcost trace --runs 5 --rate 999 -o slow.fct -- slow/shop_index 400",
               "fieldcost probe run --local --runs 6 --build 1.0 -- fast/shop_index",
               "fieldcost probe run --local --runs 6 --build 1.1 -- slow/shop_index 240",
               "fieldcost probe list",
               # The idle time of a busy machine's CPUs is unpredictable.
               "$BUILD/tests/examples/example_idle_recordings .",
               "mv before.fct idle.fct && mv after.fct idle_slow.fct",
               "rm one.fct other.fct a.fct || true")
    for file in [*box.work.glob("*.lab"), *box.work.glob("*.fct"), *box.home.rglob("probe.db")]:
        shutil.copy(file, HERE / "recorded")


def remove_memory_of_ended_clocks():
    """libfaketime leaves shared memory named by the process id, and fails in a later process with the same id."""
    for file in Path("/dev/shm").glob("*faketime_s[he]m_*"):
        pid = file.name.rsplit("_", 1)[1]
        if not Path("/proc", pid).exists():
            file.unlink(missing_ok=True)


def main():
    remove_memory_of_ended_clocks()
    arguments = [each for each in sys.argv[1:] if not each.startswith("--")]
    source, build = Path(arguments[0]).resolve(), Path(arguments[1]).resolve()
    selected = arguments[2] if len(arguments) > 2 else ""
    failures = 0
    for name, kind in (("project.toml", House), ("services.toml", StoppedClock)):
        entries = tomllib.loads((HERE / name).read_text())["command"]
        for entry in entries:
            assert not set(entry) - KEYS, entry
        with tempfile.TemporaryDirectory(prefix="fieldcost-terminal-", dir="/tmp") as directory:
            house = kind(source, build, Path(directory))
            try:
                if "--record" in sys.argv:
                    record(house)
                    return 0
                terminal = Terminal(house, "--update" in sys.argv)
                for width in WIDTHS:
                    terminal.check([each for each in entries if selected in each["command"]], width)
                failures += terminal.failures
            finally:
                house.close()
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
