"""Tests that clang reports wrong uses of annotated locks, so that the annotations work.

A test calls check() and exits with what it returns. Its arguments are the root of the sources and the flags with which
clang compiles the product. Skipped (77) without clang++.
"""

import re
import shutil
import subprocess
import sys

SKIPPED = 77  # CTest's SKIP_RETURN_CODE


def errors_of(compiler, code):
    """What clang reports about the code, by line."""
    root, *flags = sys.argv[1:]
    result = subprocess.run([compiler, "-std=c++20", "-fsyntax-only", "-ferror-limit=0", f"-I{root}", "-x", "c++",
                             *flags, "-Werror", "-"], input=code, capture_output=True, text=True, check=False)
    errors = {}
    for line, message in re.findall(r"^<stdin>:(\d+):\d+: error: (.*)$", result.stderr, re.MULTILINE):
        errors[int(line)] = f"{errors.get(int(line), '')}{message}\n"
    if result.returncode != 0 and not errors:
        errors[0] = result.stderr
    return errors


def check(name, code, wrong_uses):
    """Compiles `code`, in which one line defines a function Wrong() with the body WRONG, without this line, which must
    succeed, and with one such function for each key of `wrong_uses`, for which clang must report the value."""
    compiler = shutil.which("clang++-14") or shutil.which("clang++")
    if compiler is None:
        print(f"Skipped\nneeds clang++\n[  SKIPPED ] {name}")
        return SKIPPED
    before, pattern, after = re.fullmatch(r"(.*\n)([^\n]*\bWRONG\b[^\n]*\n)(.*)", code, re.DOTALL).groups()
    for line, errors in errors_of(compiler, before + after).items():
        print(f"clang reports, for line {line} of the correct code: {errors}")
        return 1
    first = before.count("\n") + 1
    functions = [pattern.replace("Wrong", f"Wrong{number}").replace("WRONG", wrong)
                 for number, wrong in enumerate(wrong_uses)]
    errors = errors_of(compiler, before + "".join(functions) + after)
    failures = 0
    for number, (wrong, expected) in enumerate(wrong_uses.items()):
        reported = errors.get(first + number, "nothing\n")
        if expected not in reported:
            print(f"clang does not report \"{expected}\" for: {wrong}\nbut: {reported}")
            failures += 1
    return 1 if failures else 0
