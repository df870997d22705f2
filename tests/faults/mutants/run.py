#!/usr/bin/env python3
"""Tests the tests: builds fieldcost with a deliberate mistake, and its tests must fail.

Usage: run.py SOURCE_DIR BUILD_DIR [--list] [--targets] [--applies] [--jobs N] [NAME...]

Each NAME.patch in this directory changes copies of sources. Its first lines name the tests that must fail and
the claims of agent/PRIVACY.md that it breaks:

    Tests: faults_power_loss_test [GoogleTest filter]
    Programs: fieldcostd fieldcost_preload
    Claim: 5, 9

The changed sources are compiled and linked with the commands of BUILD_DIR (Ninja): into the test itself or, if
there is a line "Programs", into the programs that the test starts. These replace the real ones in a mount
namespace created for the test, which requires root. The test must fail; passing, hanging or not starting is an
error, as is a patch that does not apply. Each test must first pass without changes.
"""

import argparse
import concurrent.futures
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
SECONDS_TO_NOTICE = 180
SECONDS_UNCHANGED = 300
SIGNS = re.compile(r"forgotten|rows are not|do not add up|the store counts|after a failure|another answer|"
                   r"is refused|Corruption|Failure")
BUILD_SECONDS = 300
SKIPPED = 77
# Program names in "Programs:" -> files in the build tree.
PROGRAM_FILES = {
    "fieldcost": "bin/fieldcost",
    "fieldcostd": "bin/fieldcostd",
    "fieldcost-aggregator": "bin/fieldcost-aggregator",
    "fieldcost-probe": "bin/fieldcost-probe",
    "fieldcost-probe-server": "bin/fieldcost-probe-server",
    "fieldcost_preload": "lib/libfieldcost_preload.so",
}


class Mutant:
    def __init__(self, path):
        self.name = path.stem
        self.patch = path
        head, _, diff = path.read_text().partition("\n--- ")
        found = re.search(r"^Tests: (\S+)(?: (\S+))?$", head, re.MULTILINE)
        if not found:
            raise SystemExit(f"{path}: no line 'Tests: PROGRAM [FILTER]'")
        self.test, self.filter = found.group(1), found.group(2) or "*"
        programs = re.search(r"^Programs: (.+)$", head, re.MULTILINE)
        self.programs = programs.group(1).split() if programs else []
        for program in self.programs:
            if program not in PROGRAM_FILES:
                raise SystemExit(f"{path}: there is no program {program}")
        claims = re.search(r"^Claim: (.+)$", head, re.MULTILINE)
        self.claims = [int(number) for number in re.findall(r"\d+", claims.group(1))] if claims else []
        self.files = re.findall(r"^\+\+\+ b/(\S+)", "--- " + diff, re.MULTILINE)


def ninja_commands(build, target):
    text = subprocess.run(["ninja", "-C", build, "-t", "commands", target], check=True, text=True,
                          capture_output=True).stdout
    return [line for line in text.splitlines() if not line.startswith("ninja:")]


class Builder:
    def __init__(self, source, build):
        self.source, self.build = source, build
        self.commands = {}

    def of(self, target):
        """Returns the commands that build `target`; its link command is the last one."""
        if target not in self.commands:
            self.commands[target] = ninja_commands(self.build, target)
        return self.commands[target]

    def compile_command(self, target, file, copy, output):
        """Returns the build's compile command for the copy of `file`, and the object that it normally writes."""
        for line in self.of(target):
            words = shlex.split(line)
            if "-c" not in words or "-o" not in words:
                continue
            if Path(words[words.index("-c") + 1]) != self.source / file:
                continue
            words[words.index("-c") + 1] = str(copy / file)
            replaced = words[words.index("-o") + 1]
            words[words.index("-o") + 1] = str(output)
            for option in ("-MF", "-MT"):
                if option in words:
                    words[words.index(option) + 1] = str(output) + ".d"
            first = words.index("-c")
            # The copy's headers take precedence over the tree's.
            return (words[:first] + [f"-I{copy}"] + words[first:] if copy != self.source else words), replaced
        raise RuntimeError(f"no command compiles {file} for {target}")

    def link_command(self, target, objects, output):
        """`objects` are pairs (ours, the build's). Ours replace the build's, or are linked ahead of the libraries."""
        words = shlex.split(self.of(target)[-1])
        if words[:2] == [":", "&&"]:
            words = words[2:]
        if "&&" in words:
            words = words[: words.index("&&")]
        words[words.index("-o") + 1] = str(output)
        further = []
        for ours, replaced in objects:
            if replaced in words:
                words[words.index(replaced)] = str(ours)
            else:
                further.append(str(ours))
        first_library = next((i for i, word in enumerate(words) if word.endswith(".a")), len(words))
        return words[:first_library] + further + words[first_library:]

    def program(self, target, files, copy, out):
        """Builds the target with `files` from `copy`. Raises RuntimeError if that fails."""
        (out / target).parent.mkdir(parents=True, exist_ok=True)
        objects = []
        for file in files:
            output = out / f"{Path(target).name}_{file.replace('/', '_')}.o"
            command, replaced = self.compile_command(target, file, copy, output)
            objects.append((output, replaced))
            self.run(command)
        self.run(self.link_command(target, objects, out / target))
        return out / target

    def run(self, words):
        done = subprocess.run(words, cwd=self.build, text=True, capture_output=True, timeout=BUILD_SECONDS)
        if done.returncode != 0:
            raise RuntimeError("does not build:\n" + (done.stdout + done.stderr)[-3000:])


def in_place_of(replacements, words):
    """Returns a command that runs `words` with each old file replaced by the new one."""
    if not replacements:
        return words
    mounts = " && ".join(f"mount --bind {shlex.quote(str(new))} {shlex.quote(str(old))}"
                         for old, new in replacements)
    return ["unshare", "--mount", "--propagation", "private", "sh", "-c", mounts + ' && exec "$@"', "sh", *words]


def run_test(program, name_filter, seed, limit, replacements=()):
    environment = dict(os.environ, FIELDCOST_FAULT_SEED=str(seed), FIELDCOST_FAULT_LONG="0")
    begin = time.monotonic()
    words = [str(program), f"--gtest_filter={name_filter}", "--gtest_brief=1", "--gtest_fail_fast"]
    # Output goes to a file, because processes that a test leaves running would keep a pipe open. A new session lets us
    # kill those processes with the test.
    with tempfile.TemporaryFile("w+", errors="replace") as output_file:
        process = subprocess.Popen(in_place_of(replacements, words), env=environment, start_new_session=True,
                                   stdout=output_file, stderr=subprocess.STDOUT)
        try:
            process.wait(timeout=limit)
        except subprocess.TimeoutExpired:
            return None, "", limit
        finally:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()
        output_file.seek(0)
        output = output_file.read()
    return process.returncode, output, time.monotonic() - begin


def copy_of(source, files, where):
    for file in files:
        (where / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source / file, where / file)


def fresh_folder(builder, name):
    """Creates folders in the build tree, so that a compiler cache recognises the paths."""
    where = builder.build / "mutants" / name
    shutil.rmtree(where, ignore_errors=True)
    (where / "out").mkdir(parents=True)
    return where / "source", where / "out"


def judge(builder, mutant, seed):
    """Returns (whether the test noticed the mutant, a description of what happened)."""
    copy, out = fresh_folder(builder, mutant.name)
    copy_of(builder.source, mutant.files, copy)
    applied = subprocess.run(["patch", "-p1", "--fuzz=2", "--batch", "-i", mutant.patch], cwd=copy, text=True,
                             capture_output=True)
    if applied.returncode != 0:
        return False, "the patch does not apply:\n" + applied.stdout
    sources = [f for f in mutant.files if not f.endswith(".h")]
    try:
        if mutant.programs:
            program = builder.build / "tests" / mutant.test
            targets = [PROGRAM_FILES[name] for name in mutant.programs]
            replacements = [(builder.build / target, builder.program(target, sources, copy, out))
                            for target in targets]
        else:
            program, replacements = builder.program(f"tests/{mutant.test}", sources, copy, out), []
    except RuntimeError as error:
        return False, str(error)
    status, output, seconds = run_test(program, mutant.filter, seed, SECONDS_TO_NOTICE, replacements)
    if status is None:
        return False, f"not noticed within {SECONDS_TO_NOTICE} s"
    if status == 1 and "[  FAILED  ]" in output:
        signs = [line for line in output.splitlines() if SIGNS.search(line) and "rocksdb:" not in line]
        return True, f"{seconds:.1f} s: {signs[-1].strip()[:120] if signs else 'failed'}"
    return False, f"status {status}, not a failed test:\n{output[-2000:]}"


def judge_unchanged(builder, test, mutants, seed):
    """Relinks the test as for its mutants, but with unchanged copies."""
    copy, out = fresh_folder(builder, "unchanged_" + test)
    files = sorted({f for m in mutants if not m.programs for f in m.files if not f.endswith(".h")})
    program = builder.build / "tests" / test
    if files:
        copy_of(builder.source, files, copy)
        try:
            program = builder.program(f"tests/{test}", files, copy, out)
        except RuntimeError as error:
            return False, str(error)
    filters = ":".join(sorted({m.filter for m in mutants}))
    status, output, seconds = run_test(program, filters, seed, SECONDS_UNCHANGED)
    if "[  SKIPPED ]" in output:
        return False, f"a test was skipped:\n{output[-2000:]}"
    return status == 0, f"{seconds:.1f} s" if status == 0 else f"status {status}\n{output[-2000:]}"


def all_mutants():
    return [Mutant(path) for path in sorted(HERE.glob("*.patch"))]


def fits(mutant, source):
    return subprocess.run(["patch", "-p1", "--fuzz=2", "--batch", "--dry-run", "--silent", "-i", mutant.patch],
                          cwd=source, stdout=subprocess.DEVNULL).returncode == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=lambda p: Path(p).resolve())
    parser.add_argument("build", type=lambda p: Path(p).resolve())
    parser.add_argument("names", nargs="*")
    parser.add_argument("--list", action="store_true", help="print their names")
    parser.add_argument("--applies", action="store_true", help="only whether each patch fits its sources")
    parser.add_argument("--targets", action="store_true", help="print what has to be built for them")
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_intermixed_args()
    mutants = all_mutants()
    if arguments.list:
        print("\n".join(m.name for m in mutants))
        return 0
    if arguments.applies:
        stale = [mutant.name for mutant in mutants if not fits(mutant, arguments.source)]
        print("\n".join(f"{name}.patch does not apply" for name in stale) or f"all {len(mutants)} apply")
        return 1 if stale or not mutants else 0
    if arguments.targets:
        print("\n".join(sorted({m.test for m in mutants} | {p for m in mutants for p in m.programs})))
        return 0
    unknown = set(arguments.names) - {m.name for m in mutants}
    if unknown:
        raise SystemExit(f"no such mutant: {', '.join(sorted(unknown))}")
    chosen = [m for m in mutants if not arguments.names or m.name in arguments.names]
    seed = int(os.environ.get("FIELDCOST_FAULT_SEED") or int.from_bytes(os.urandom(3)))
    print(f"seed {seed}", flush=True)
    builder = Builder(arguments.source, arguments.build)
    if os.geteuid() != 0 and any(m.programs for m in chosen):
        print("skipped, because it takes root to put a program in the place of another: " +
              " ".join(m.name for m in chosen if m.programs))
        chosen = [m for m in chosen if not m.programs]
        if not chosen:
            return SKIPPED
    for mutant in chosen:
        for target in [PROGRAM_FILES[name] for name in mutant.programs] or [f"tests/{mutant.test}"]:
            builder.of(target)
    bad = 0
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        work = {}
        for test in sorted({m.test for m in chosen}):
            same = [m for m in chosen if m.test == test]
            work[pool.submit(judge_unchanged, builder, test, same, seed)] = f"(unchanged) {test}"
        for mutant in chosen:
            work[pool.submit(judge, builder, mutant, seed)] = mutant.name
        for done in concurrent.futures.as_completed(work):
            good, text = done.result()
            bad += not good
            print(f"{'good' if good else 'BAD '}  {work[done]}: {text}", flush=True)
    print(f"{len(chosen)} mutants, {bad} of the runs bad")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
