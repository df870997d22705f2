"""Selects the tests of a change for `tests/run.sh --quick`.

Usage: quick.py plan BUILD_DIR [REV]          prints the changed files, the selected programs and the ones left out
       quick.py targets BUILD_DIR [REV]       prints the names of the selected targets, one per line
       quick.py tests BUILD_DIR [REV]         reads `ctest --show-only=json-v1`, prints an argument for `ctest -I`

A change is the difference between the working tree and REV, including new files. The default REV is the merge base
with the upstream branch; if there is none, or nothing has changed since, the last commit (HEAD) if files are modified,
else the one before it.

From a changed file to test programs:
- build.ninja names the objects of each library and program, and the libraries that a program links;
- ninja records headers only during a build, so `#include` lines are followed instead, which also works in a fresh
  clone;
- a file that is not compiled, such as CMakeLists.txt or a golden file, belongs to the test programs of its folder or
  of the nearest one above, where tests/X stands for the folder X, too; scripts belong to the tests that run them;
- other programs than unit tests are selected only if the change is in their own sources.

A change of a common header affects almost every program. So the programs are selected in the order of their distance
(own sources or mirrored folder; folder; headers; libraries and started programs) until as many objects would be
compiled again as two cores compile in about three minutes. The programs left out are listed.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

# The limit of objects that the change invalidates in the compiler's cache. A source takes about 2 CPU seconds: 1,560
# CPU seconds for 818 sources were measured in a build with an empty cache.
MOST_OBJECTS_PER_CORE = 90
MOST_PROGRAMS = 40
CODE = (".h", ".cc", ".c", ".S", ".proto")
INCLUDE = re.compile(rb'^\s*#\s*include\s+"([^"]+)"', re.M)
STYLE = {"style.layering", "style.shape", "style.shape_test", "style.format", "style.english", "style.commits",
         "style.privacy_claims"}


def git(root, *arguments):
    done = subprocess.run(["git", "-c", "core.quotePath=off", *arguments], cwd=root, capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else ""


def changed_files(root, revision):
    """(revision, sorted names) of what differs from the revision, or from the default one."""
    new = git(root, "ls-files", "--others", "--exclude-standard").splitlines()

    def since(base):
        return sorted(set(git(root, "diff", "--name-only", base).splitlines() + new))

    if revision:
        if not git(root, "rev-parse", "--verify", "--quiet", revision + "^{commit}"):
            sys.exit(f"quick.py: git knows no commit {revision}")
        return revision, since(revision)
    for base in (git(root, "merge-base", "HEAD", "@{upstream}"), "HEAD", "HEAD~1"):
        if base and since(base):
            return base, since(base)
    return "HEAD", []


class Graph:
    """The objects, libraries and programs of a configured build tree."""

    def __init__(self, root, build):
        self.root = root
        self.sources = {}  # object -> source, relative to the root
        self.parts = {}  # library or program -> objects and libraries
        self.started = {}  # program -> what must be built before, such as programs that a test starts
        self.folders = {}  # test program -> folder of its CMakeLists.txt
        self.unit = set()  # test programs with the label "unit" or "preload"
        text = (build / "build.ninja").read_text().replace("$\n", "")
        for line in text.splitlines():
            if line.startswith("build "):
                self._read(line[len("build "):], str(build.resolve().relative_to(root)))
        self._included = {}

    def _read(self, line, build):
        outputs, _, rest = line.partition(": ")
        output = outputs.split(" | ")[0].strip()
        explicit, _, before = rest.partition(" || ")
        rule, *inputs = explicit.replace(" | ", " ").split()
        if "_COMPILER__" in rule and inputs:
            # A precompiled header is an input, too, but contains no header of the project.
            source = os.path.relpath(os.path.join(self.root, build, inputs[0]), self.root)
            generated = f"{build}/generated/"
            if source.startswith(generated):
                source = re.sub(r"\.pb\.cc$", ".proto", source[len(generated):])
            self.sources[output] = source
        elif rule == "phony":
            self.parts.setdefault(output, inputs)
            self.started.setdefault(output, before.split())
        elif "_LINKER__" in rule:
            self.parts[output] = inputs
            self.started[output] = before.split()
            if "EXECUTABLE" in rule and output.startswith("tests/"):
                own = next((name for name in inputs if "/CMakeFiles/" in name), "")
                folder = self.folders[output] = own.split("/CMakeFiles/")[0]
                included = self.root / build / folder / (os.path.basename(output) + "[1]_include.cmake")
                if included.is_file() and re.search(r"LABELS;(unit|preload)\b", included.read_text()):
                    self.unit.add(output)

    def includes(self, name):
        """Files of the project that this one includes, directly or not, and itself."""
        if name not in self._included:
            found, open_files = {name}, [name]
            while open_files:
                for include in self._direct(open_files.pop()) - found:
                    found.add(include)
                    open_files.append(include)
            self._included[name] = found
        return self._included[name]

    _direct_includes = {}

    def _direct(self, name):
        if name not in self._direct_includes:
            path = self.root / name
            text = path.read_bytes() if name.endswith(CODE) and path.is_file() else b""
            found = set()
            for include in INCLUDE.findall(text):
                include = include.decode(errors="replace")
                beside = os.path.normpath(os.path.join(os.path.dirname(name), include))
                places = [re.sub(r"\.pb\.h$", ".proto", include), beside]
                # A deleted header still affects the files that include it.
                found.update([place for place in places if (self.root / place).is_file()][:1] or places)
            self._direct_includes[name] = found
        return self._direct_includes[name]

    def closure(self, program):
        """(own objects, objects of linked libraries and of started programs) of a program."""
        own = [part for part in self.parts[program] if part in self.sources]
        others, seen, open_parts = [], {program}, self.parts[program] + self.started[program]
        while open_parts:
            part = open_parts.pop()
            if part in seen or part not in self.parts:
                continue
            seen.add(part)
            others += [name for name in self.parts[part] if name in self.sources]
            open_parts += self.parts[part] + self.started[part]
        return own, others


def nearest_folder(name, folders):
    """The nearest folder with test programs for a file that is not compiled."""
    folder = os.path.dirname(name)
    while folder and folder != "tests":
        mirrored = folder if folder.startswith("tests/") else "tests/" + folder
        if mirrored in folders:
            return mirrored
        folder = os.path.dirname(folder)
    return None


def affected_programs(graph, changed):
    """{program: (distance, objects to compile again)} for the programs that the files affect."""
    changed_set = set(changed)
    stale = {name: bool(graph.includes(source) & changed_set) for name, source in graph.sources.items()}
    compiled = set(graph.sources.values())
    headers = set().union(*(graph.includes(source) for source in compiled))
    nearest = {name: nearest_folder(name, set(graph.folders.values())) for name in changed}
    near = set(nearest.values())
    mirrored = {"tests/" + os.path.dirname(name) for name in changed if name.endswith(CODE)} | {
        folder for name, folder in nearest.items() if name not in compiled and name not in headers}
    affected = {}
    for program, folder in graph.folders.items():
        own, others = graph.closure(program)
        objects = {name for name in own + others if stale[name]}
        direct = any(graph.sources[name] in changed_set for name in own)
        # The program whose sources are in the mirror of a changed file's folder.
        folders = {os.path.dirname(graph.sources[name]) for name in own}
        if direct or program in graph.unit and folders & mirrored and (objects or folder in mirrored):
            affected[program] = (0, objects)
        elif program not in graph.unit:
            continue
        elif objects and folder in near:
            affected[program] = (1, objects)
        elif any(stale[name] for name in own):
            affected[program] = (2, objects)
        elif objects:
            affected[program] = (3, objects)
    return affected


def select(affected, cores):
    """(selected, left out): the nearest programs that fit into the limits."""
    selected, left, objects = [], [], set()
    for program in sorted(affected, key=lambda name: (affected[name][0], len(affected[name][1]), name)):
        more = objects | affected[program][1]
        distance = affected[program][0]
        # The program of the changed file itself is always tested.
        if selected and (len(more) > MOST_OBJECTS_PER_CORE * cores or len(selected) >= MOST_PROGRAMS) and distance:
            left.append(program)
        else:
            selected.append(program)
            objects = more
    return selected, left, len(objects)


def test_numbers(listing, root, selected, near, changed):
    """The numbers that CTest gives to the tests: of the programs, of changed scripts, and of style."""
    programs = {os.path.basename(program) for program in selected}
    nearest = {os.path.basename(program) for program in near}
    scripts = {str(root / name) for name in changed}
    numbers = []
    for number, test in enumerate(listing["tests"], 1):
        command = test.get("command", [])
        program = os.path.basename(command[0]) if command else ""
        labels = next((p["value"] for p in test.get("properties", []) if p["name"] == "LABELS"), [])
        unit = any(label.split()[0] in ("unit", "preload") for label in labels)
        if (test["name"] in STYLE or program in programs and (unit or program in nearest) or
                scripts & set(command)):
            numbers.append(number)
    return numbers


def main():
    if len(sys.argv) not in (3, 4) or sys.argv[1] not in ("plan", "targets", "tests"):
        sys.exit(__doc__.split("\n\n")[1])
    action, build = sys.argv[1], Path(sys.argv[2])
    root = Path(git(Path.cwd(), "rev-parse", "--show-toplevel"))
    base, changed = changed_files(root, sys.argv[3] if len(sys.argv) == 4 else "")
    affected = affected_programs(Graph(root, build), changed)
    selected, left, objects = select(affected, os.cpu_count() or 1)
    if action == "targets":
        print("\n".join(os.path.basename(program) for program in selected))
    elif action == "tests":
        near = [program for program in selected if affected[program][0] == 0]
        numbers = test_numbers(json.load(sys.stdin), root, selected, near, changed)
        print("0,0,0," + ",".join(map(str, numbers)) if numbers else "")
    else:
        print(f"{len(changed)} changed files since {base[:12]}; {objects} objects are to be compiled again")
        print("selected: " + (" ".join(map(os.path.basename, selected)) or "no test program"))
        if left:
            print(f"left out, for the time ({len(left)} programs; tests/run.sh runs all): " +
                  " ".join(map(os.path.basename, left)))


if __name__ == "__main__":
    main()
