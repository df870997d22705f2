#!/usr/bin/env python3
"""Tries byte_words.py on small libraries, one for each way in which a library can reach an allocator, and compares
what the lab measures of each with what it allocates.

Usage: byte_words_test.py [--fieldcost PROGRAM].  Without the program, nothing is measured.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

DETECTOR = Path(__file__).resolve().parent / "byte_words.py"
CALL = """
void give(void *made) { __asm__ volatile("" : : "r"(made) : "memory"); free(made); }
void entry_%s(void) { give(%s); }
"""
HEAD = """
#include <stdlib.h>
#include <unistd.h>
typedef void *(*Allocate)(size_t);
"""
BYTES = 12345

# name: (source, the call that allocates, words that must be found)
LIBRARIES = {
    "variable": ("Allocate volatile variable = malloc;", "variable(12345)", ["direct malloc"]),
    "table": ("struct Table { Allocate allocate; void (*release)(void *); };\n"
              "static const struct Table kTable = {malloc, free};\n"
              "const struct Table *volatile table = &kTable;", "table->allocate(12345)", ["direct malloc"]),
    "wrapper": ("static void *Own(size_t count) { return malloc(count); }\n"
                "static Allocate volatile own = Own;", "own(12345)", ["wrapper malloc"]),
    "wrapper_of_other_arguments": (
        "static void *Own(void *user, size_t count) { (void)user; return realloc(NULL, count); }\n"
        "static void *(*volatile own)(void *, size_t) = Own;", "own(0, 12345)", ["wrapper realloc"]),
    "transfers": ("struct File { ssize_t (*read)(int, void *, size_t);\n"
                  "ssize_t (*write)(int, const void *, size_t); };\n"
                  "struct File file = {read, write};\nstruct File *volatile files = &file;",
                  "(files->read(-1, 0, 0), malloc(12345))", ["direct read", "direct write"]),
    # These have no such word. Their calls use slots.
    "plain": ("", "malloc(12345)", []),
    "address_in_a_slot": ("__attribute__((noinline)) static void *By(Allocate f) { return f(12345); }\n"
                          "Allocate volatile held;", "(held = malloc, By(held))", []),
    # Does more than call an allocator, so it is an ordinary function.
    "own_allocator": ("int calls;\nstatic void *Own(size_t count) { ++calls; return malloc(count); }\n"
                      "static Allocate volatile own = Own;", "own(12345)", []),
    "branches": ("static void *Own(size_t count) { return count == 0 ? NULL : malloc(count); }\n"
                 "static Allocate volatile own = Own;", "own(12345)", []),
    # Counts nothing.
    "release": ("void (*volatile release)(void *) = free;", "(release(0), malloc(12345))", []),
    # Relocations cannot show it: the word is null in the file. BYTES.md lists it as not detected.
    "filled_at_run_time": ("static Allocate volatile filled;\n"
                           "__attribute__((constructor)) static void Fill(void) { filled = malloc; }",
                           "filled(12345)", []),
}
FLAGS = {"optimized": ["-O2"], "plain": ["-O0"],
         "without_plt": ["-O2", "-fno-plt", "-Wl,-z,pack-relative-relocs"],
         "second_plt": ["-O2", "-fcf-protection", "-Wl,-z,now", "-Wl,-z,ibtplt"]}
# With flags other than the first, only those whose code or relocations the flags change.
VARIED = ("variable", "wrapper", "wrapper_of_other_arguments", "branches")
fieldcost = None


def compile_c(source, target, *options):
    Path(f"{target}.c").write_text(source, encoding="utf-8")
    subprocess.run(["gcc", "-w", "-fno-builtin", "-o", target, f"{target}.c", *options], check=True)


def detector(*arguments):
    return subprocess.run([sys.executable, DETECTOR, *arguments], capture_output=True, text=True, timeout=60,
                          check=False)


class ByteWords(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.directory = cls.temporary.name

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def path(self, name, flags="optimized"):
        return f"{self.directory}/lib{name}_{flags}.so.1"

    def names(self, flags):
        return list(LIBRARIES) if flags == "optimized" else VARIED

    def build(self, flags):
        for name in self.names(flags):
            source, call, _ = LIBRARIES[name]
            path = self.path(name, flags)
            if not os.path.exists(path):
                compile_c(HEAD + source + CALL % (name, call), path, "-shared", "-fPIC",
                          f"-Wl,-soname,{os.path.basename(path)}", *FLAGS[flags])
        return [self.path(name, flags) for name in self.names(flags)]

    def test_finds_the_words_of_each_class_and_no_others(self):
        for flags in FLAGS:
            answer = detector("--json", *self.build(flags))
            self.assertEqual(answer.returncode, 0, answer.stderr)
            found = {library: sorted(f"{word['kind']} {word['symbol']}" for word in words)
                     for library, words in json.loads(answer.stdout).items()}
            expected = {os.path.basename(self.path(name, flags)): LIBRARIES[name][2] for name in self.names(flags)}
            self.assertEqual(found, expected, flags)

    def test_names_the_address_of_the_word(self):
        self.build("optimized")
        answer = json.loads(detector("--json", self.path("variable")).stdout)
        symbols = subprocess.run(["nm", "-D", self.path("variable")], capture_output=True, text=True, check=True).stdout
        self.assertIn(f"{answer[os.path.basename(self.path('variable'))][0]['address']:016x} D variable", symbols)

    def test_fails_for_a_library_that_the_audit_does_not_name(self):
        libraries = self.build("optimized")
        audit = Path(self.directory) / "audit.md"
        rows = [f"| {os.path.basename(self.path(name))} | entry |" for name in LIBRARIES if name != "wrapper"]
        audit.write_text("\n".join(rows), encoding="utf-8")
        answer = detector("--audited", audit, *libraries)
        self.assertEqual(answer.returncode, 1)
        self.assertIn(f"{os.path.basename(self.path('wrapper'))}: not named in {audit}, but calls through words of "
                      "data: malloc (wrapper)\n", answer.stdout)
        self.assertEqual(answer.stdout.count("not named"), 1)
        audit.write_text("\n".join([*rows, f"| {os.path.basename(self.path('wrapper'))} |"]), encoding="utf-8")
        self.assertEqual(detector("--audited", audit, *libraries).returncode, 0)

    def test_refuses_what_is_no_library(self):
        damaged = Path(self.directory) / "damaged.so"
        damaged.write_bytes(Path(self.build("optimized")[0]).read_bytes()[:100])
        text = Path(self.directory) / "text.so"
        text.write_text("no library", encoding="utf-8")
        for file, reason in ((damaged, "is damaged"), (text, "is no ELF file"),
                             (f"{self.directory}/none.so", "cannot be read")):
            answer = detector(file)
            self.assertEqual(answer.returncode, 1)
            self.assertIn(f"byte_words.py: {file}: {reason}", answer.stderr)

    def measured(self):
        """The bytes that the lab records for one call into each library."""
        libraries = self.build("optimized")
        program = f"{self.directory}/program"
        calls = "".join(f"entry_{name}();" for name in LIBRARIES)
        compile_c(f"int main(void) {{ {calls} return 0; }}", program, *libraries, f"-Wl,-rpath,{self.directory}")
        apis = ",".join(f"{os.path.basename(self.path(name))}!entry_{name}" for name in LIBRARIES)
        answer = subprocess.run([fieldcost, "measure", "--json", "--rounds", "1", "--apis", apis, "--", program],
                                stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120,
                                check=True).stdout
        return {row["symbol"].removeprefix("entry_"): int(row["metrics"]["alloc_inclusive"]["all_calls"]["sum"])
                for row in json.loads(answer)["rows"] if row["symbol"].startswith("entry_")}

    def test_the_lab_counts_what_is_allocated_through_each(self):
        if fieldcost is None:
            self.skipTest("without --fieldcost, nothing is measured")
        self.assertEqual(self.measured(), {name: BYTES for name in LIBRARIES})


def main():
    global fieldcost
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fieldcost", metavar="PROGRAM")
    options, rest = parser.parse_known_args()
    fieldcost = options.fieldcost
    unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()
