#!/usr/bin/env python3
"""The proof that the proofs see: builds the store with a fault of ours in it, and the fault tests must fail.

Usage: run.py SOURCE_DIR BUILD_DIR [--list] [--jobs N] [NAME...]

Each NAME.patch beside this file changes copies of sources; its first lines say which tests have to notice:

    Tests: faults_power_loss_test [GoogleTest filter]

The changed sources are compiled with the commands of BUILD_DIR (Ninja), put before the libraries in the
test's own link command, and the test is run. Its failure is wanted; passing, hanging or not starting is an
error, as is a patch that does not apply. First every test is run with unchanged copies and has to pass.
"""

import argparse
import concurrent.futures
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
SECONDS_TO_NOTICE = 60
SECONDS_UNCHANGED = 300
SIGNS = re.compile(r"forgotten|rows are not|do not add up|the store counts|after a failure|another answer|"
                   r"is refused|Corruption|Failure")
BUILD_SECONDS = 300


class Mutant:
    def __init__(self, path):
        self.name = path.stem
        self.patch = path
        head, _, diff = path.read_text().partition("\n--- ")
        found = re.search(r"^Tests: (\S+)(?: (\S+))?$", head, re.MULTILINE)
        if not found:
            raise SystemExit(f"{path}: no line 'Tests: PROGRAM [FILTER]'")
        self.test, self.filter = found.group(1), found.group(2) or "*"
        self.files = re.findall(r"^\+\+\+ b/(\S+)", "--- " + diff, re.MULTILINE)


def ninja_commands(build, target):
    text = subprocess.run(["ninja", "-C", build, "-t", "commands", target], check=True, text=True,
                          capture_output=True).stdout
    return [line for line in text.splitlines() if not line.startswith("ninja:")]


class Builder:
    def __init__(self, source, build):
        self.source, self.build = source, build
        self.commands = {}

    def of(self, test):
        if test not in self.commands:
            self.commands[test] = ninja_commands(self.build, f"tests/{test}")
        return self.commands[test]

    def compile_command(self, test, file, copy, output):
        """The build's own command for `file`, for the copy."""
        for line in self.of(test):
            words = shlex.split(line)
            if "-c" not in words or "-o" not in words:
                continue
            if Path(words[words.index("-c") + 1]) != self.source / file:
                continue
            words[words.index("-c") + 1] = str(copy / file)
            words[words.index("-o") + 1] = str(output)
            for option in ("-MF", "-MT"):
                words[words.index(option) + 1] = str(output) + ".d"
            first = words.index("-c")
            # The copy's headers go before the tree's.
            return words[:first] + [f"-I{copy}"] + words[first:] if copy != self.source else words
        raise SystemExit(f"no command compiles {file} for {test}")

    def link_command(self, test, objects, output):
        words = shlex.split(self.of(test)[-1])
        if words[:2] == [":", "&&"]:
            words = words[2:]
        if "&&" in words:
            words = words[: words.index("&&")]
        words[words.index("-o") + 1] = str(output)
        first_library = next(i for i, word in enumerate(words) if word.endswith(".a"))
        return words[:first_library] + [str(o) for o in objects] + words[first_library:]

    def program(self, test, files, copy, out):
        """The test with `files` from `copy`; an error's text instead of None if it does not build."""
        objects = []
        for file in files:
            output = out / (file.replace("/", "_") + ".o")
            objects.append(output)
            self.run(self.compile_command(test, file, copy, output))
        self.run(self.link_command(test, objects, out / test))
        return out / test

    def run(self, words):
        done = subprocess.run(words, cwd=self.build, text=True, capture_output=True, timeout=BUILD_SECONDS)
        if done.returncode != 0:
            raise RuntimeError("does not build:\n" + (done.stdout + done.stderr)[-3000:])


def run_test(program, name_filter, seed, limit):
    environment = dict(os.environ, FIELDCOST_FAULT_SEED=str(seed), FIELDCOST_FAULT_LONG="0")
    begin = time.monotonic()
    try:
        done = subprocess.run([program, f"--gtest_filter={name_filter}", "--gtest_brief=1", "--gtest_fail_fast"],
                              env=environment, text=True, capture_output=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return None, "", limit
    return done.returncode, done.stdout + done.stderr, time.monotonic() - begin


def copy_of(source, files, where):
    for file in files:
        (where / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source / file, where / file)


def fresh_folder(builder, name):
    """In the build tree, so that a compiler cache knows it again."""
    where = builder.build / "mutants" / name
    shutil.rmtree(where, ignore_errors=True)
    (where / "out").mkdir(parents=True)
    return where / "source", where / "out"


def judge(builder, mutant, seed):
    """(noticed, what happened)"""
    copy, out = fresh_folder(builder, mutant.name)
    copy_of(builder.source, mutant.files, copy)
    applied = subprocess.run(["patch", "-p1", "--fuzz=2", "--batch", "-i", mutant.patch], cwd=copy, text=True,
                             capture_output=True)
    if applied.returncode != 0:
        return False, "the patch does not apply:\n" + applied.stdout
    try:
        program = builder.program(mutant.test, [f for f in mutant.files if f.endswith(".cc")], copy, out)
    except RuntimeError as error:
        return False, str(error)
    status, output, seconds = run_test(program, mutant.filter, seed, SECONDS_TO_NOTICE)
    if status is None:
        return False, f"not noticed within {SECONDS_TO_NOTICE} s"
    if status == 1 and "[  FAILED  ]" in output:
        signs = [line for line in output.splitlines() if SIGNS.search(line) and "rocksdb:" not in line]
        return True, f"{seconds:.1f} s: {signs[-1].strip()[:120] if signs else 'failed'}"
    return False, f"status {status}, not a failed test:\n{output[-2000:]}"


def judge_unchanged(builder, test, name_filter, seed):
    copy, out = fresh_folder(builder, "unchanged_" + test)
    files = sorted({f for m in all_mutants() if m.test == test for f in m.files if f.endswith(".cc")})
    copy_of(builder.source, files, copy)
    try:
        program = builder.program(test, files, copy, out)
    except RuntimeError as error:
        return False, str(error)
    status, output, seconds = run_test(program, name_filter, seed, SECONDS_UNCHANGED)
    return status == 0, f"{seconds:.1f} s" if status == 0 else f"status {status}\n{output[-2000:]}"


def all_mutants():
    return [Mutant(path) for path in sorted(HERE.glob("*.patch"))]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=lambda p: Path(p).resolve())
    parser.add_argument("build", type=lambda p: Path(p).resolve())
    parser.add_argument("names", nargs="*")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    mutants = all_mutants()
    if arguments.list:
        print("\n".join(m.name for m in mutants))
        return 0
    unknown = set(arguments.names) - {m.name for m in mutants}
    if unknown:
        raise SystemExit(f"no such mutant: {', '.join(sorted(unknown))}")
    chosen = [m for m in mutants if not arguments.names or m.name in arguments.names]
    seed = int(os.environ.get("FIELDCOST_FAULT_SEED") or int.from_bytes(os.urandom(3)))
    print(f"seed {seed}", flush=True)
    builder = Builder(arguments.source, arguments.build)
    for mutant in mutants:
        builder.of(mutant.test)
    bad = 0
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        work = {}
        for test in sorted({m.test for m in chosen}):
            filters = ":".join(sorted({m.filter for m in chosen if m.test == test}))
            work[pool.submit(judge_unchanged, builder, test, filters, seed)] = f"(unchanged) {test}"
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
