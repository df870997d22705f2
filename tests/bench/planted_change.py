"""Whether `fieldcost tree compare` finds a planted change, and nothing else, in real runs.

    ./tests/bench/run.sh planted_change

Two builds of a program of twelve functions that take equally long; in the second one of them takes
half as long again. Both are recorded ten times by turns, and compared: it has to be found, and
nothing else. Then a build is compared with itself: nothing may be found. Each of that so often as
REPEATS and EQUAL_REPEATS say. Takes about eight minutes.
"""

import json
import subprocess
import tempfile
from pathlib import Path

REPEATS = 20
EQUAL_REPEATS = 10
RUNS = 10
RATE = 997
LEAST_FOUND = 19
PLANTED = 5
FUNCTIONS = 12
WORK = 40_000_000


def source(planted):
    lines = ["static volatile unsigned long sink;"]
    for i in range(FUNCTIONS):
        work = WORK * 3 // 2 if i == planted else WORK
        lines.append(f"__attribute__((noinline)) void part{i}(void) {{ unsigned long s = {i};"
                     f" for (long n = 0; n < {work}; n++) s = s * 6364136223846793005UL + 1442695040888963407UL;"
                     " sink = s; }")
    calls = " ".join(f"part{i}();" for i in range(FUNCTIONS))
    lines.append(f"int main(void) {{ {calls} return 0; }}")
    return "\n".join(lines)


class PlantedBench:
    def __init__(self, build):
        self.build = Path(build).resolve()

    def compiled(self, folder, name, planted):
        file = Path(folder) / name / "app"  # one name: builds of one program
        file.parent.mkdir()
        subprocess.run(["gcc", "-O1", "-x", "c", "-", "-o", str(file)], input=source(planted), text=True, check=True)
        return str(file)

    def changes(self, old, new):
        """What is said to have changed: (self or inclusive, function)."""
        words = [str(self.build / "bin" / "fieldcost"), "tree", "compare", "--runs", str(RUNS), "--rate", str(RATE),
                 "--metric", "cpu", "--json", "--", old, "--", new]
        ran = subprocess.run(words, capture_output=True, text=True)
        if ran.returncode not in (0, 1):
            raise RuntimeError(f"{words} ended with {ran.returncode}: {ran.stderr}")
        comparison = json.loads(ran.stdout)["comparison"]
        return [(change["kind"], change["path"][-1].split("!")[-1]) for change in comparison["changes"]]

    def planted_change(self):
        with tempfile.TemporaryDirectory() as folder:
            old, new = self.compiled(folder, "old", None), self.compiled(folder, "new", PLANTED)
            found, alone = 0, 0
            for _ in range(REPEATS):
                names = {name for _, name in self.changes(old, new)}
                found += f"part{PLANTED}" in names
                alone += names == {f"part{PLANTED}"}
            nothing = sum(not self.changes(old, old) for _ in range(EQUAL_REPEATS))
        yield self.row("found, and nothing else", alone, LEAST_FOUND, REPEATS, {"found at all": found})
        yield self.row("equal builds, nothing found", nothing, EQUAL_REPEATS, EQUAL_REPEATS, {})

    @staticmethod
    def row(name, value, least, of, peers):
        return {"row": 14, "name": f"planted_change, {name}", "unit": "", "value": value, "floor": None,
                "ratio": None, "target": f">= {least} of {of}", "ok": value >= least, "peers": peers}
