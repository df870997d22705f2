"""Plants changes in a small project that CMake configures, and checks which test programs quick.py selects; checks
what run_times.sh announces and records."""

import importlib.util
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).parent
SPECIFICATION = importlib.util.spec_from_file_location("quick", HERE / "quick.py")
quick = importlib.util.module_from_spec(SPECIFICATION)
SPECIFICATION.loader.exec_module(quick)

# Two libraries, a program, a generated source, and four test programs in the layout of this project.
FILES = {
    ".gitignore": "/build/\n",
    "CMakeLists.txt": """cmake_minimum_required(VERSION 3.25)
project(planted LANGUAGES CXX)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
include_directories(${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR}/generated)
add_library(base STATIC common/base/text.cc)
set(generated ${CMAKE_BINARY_DIR}/generated/common/wire/wire.pb)
add_custom_command(OUTPUT ${generated}.cc ${generated}.h COMMAND false DEPENDS common/wire/wire.proto)
add_library(wire STATIC common/wire/codec.cc ${generated}.cc)
target_link_libraries(wire base)
add_executable(program tools/cli/main.cc)
add_subdirectory(tests/common/base)
add_subdirectory(tests/common/wire)
add_subdirectory(tests/tools/cli)
add_subdirectory(tests/e2e)
""",
    "common/base/text.h": "#pragma once\n",
    "common/base/text.cc": '#include "common/base/text.h"\n',
    "common/wire/codec.h": '#include "common/base/text.h"\n',
    "common/wire/codec.cc": '#include "common/wire/codec.h"\n#include "common/wire/wire.pb.h"\n',
    "common/wire/wire.proto": "",
    "tools/cli/main.cc": "int main() {}\n",
    "docs/page.md": "text\n",
    "tests/check.sh": "exit 0\n",
}
TEST = """add_executable(NAME NAME.cc)
set_target_properties(NAME PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
target_link_libraries(NAME LIBRARIES)
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/NAME[1]_include.cmake "LABELS;LABEL;TIMEOUT;120")
"""
for folder, name, libraries, label, more in (
        ("common/base", "base_test", "base", "unit asan_short", ""),
        ("common/wire", "wire_test", "wire", "unit", ""),
        ("tools/cli", "cli_test", "base", "unit", "add_dependencies(cli_test program)\n"),
        ("e2e", "e2e_test", "wire", "e2e", "add_dependencies(e2e_test program)\n")):
    FILES[f"tests/{folder}/CMakeLists.txt"] = TEST.replace("NAME", name).replace("LIBRARIES", libraries).replace(
        "LABEL;", label + ";") + more
    FILES[f"tests/{folder}/{name}.cc"] = f'#include "tests/{folder}/{name}_values.h"\nint main() {{}}\n'
    FILES[f"tests/{folder}/{name}_values.h"] = "#pragma once\n"


class QuickTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        cls.root = Path(cls.directory.name).resolve()
        for name, text in FILES.items():
            (cls.root / name).parent.mkdir(parents=True, exist_ok=True)
            (cls.root / name).write_text(text)
        cls.run_in_root("cmake", "-G", "Ninja", "-S", ".", "-B", "build/dev")
        cls.git("init", "-q", "-b", "main")
        cls.commit("first")
        cls.git("branch", "upstream")
        cls.git("branch", "-q", "--set-upstream-to=upstream")

    @classmethod
    def tearDownClass(cls):
        cls.directory.cleanup()

    @classmethod
    def run_in_root(cls, *command):
        done = subprocess.run(command, cwd=cls.root, capture_output=True, text=True)
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
        return done.stdout

    @classmethod
    def git(cls, *arguments):
        return cls.run_in_root("git", "-c", "user.name=t", "-c", "user.email=t@localhost", *arguments)

    @classmethod
    def commit(cls, subject):
        cls.git("add", "-A")
        cls.git("commit", "-q", "-m", subject)

    def selected(self, *names):
        """Changes the files, selects, and restores them."""
        before = {name: (self.root / name).read_text() if (self.root / name).exists() else None for name in names}
        for name in names:
            (self.root / name).write_text((before[name] or "") + "\n")
        try:
            return self.run_in_root(sys.executable, str(HERE / "quick.py"), "targets", "build/dev").split()
        finally:
            for name, text in before.items():
                if text is None:
                    (self.root / name).unlink()
                else:
                    (self.root / name).write_text(text)

    def test_a_source_selects_the_tests_of_its_folder_first_and_then_those_that_link_it(self):
        self.assertEqual(self.selected("common/base/text.cc"), ["base_test", "cli_test", "wire_test"])
        self.assertEqual(self.selected("common/wire/codec.cc"), ["wire_test"])

    def test_a_header_selects_all_that_include_it_indirectly(self):
        self.assertEqual(self.selected("common/base/text.h"), ["base_test", "cli_test", "wire_test"])
        self.assertEqual(self.selected("tests/common/wire/wire_test_values.h"), ["wire_test"])

    def test_a_message_selects_the_tests_of_its_generated_code(self):
        self.assertEqual(self.selected("common/wire/wire.proto"), ["wire_test"])

    def test_a_program_selects_the_tests_that_start_it(self):
        self.assertEqual(self.selected("tools/cli/main.cc"), ["cli_test"])

    def test_a_long_test_is_selected_only_by_its_own_source(self):
        self.assertEqual(self.selected("tests/e2e/e2e_test.cc"), ["e2e_test"])

    def test_a_file_that_is_not_compiled_selects_by_its_folder(self):
        self.assertEqual(self.selected("common/wire/CMakeLists.txt"), ["wire_test"])
        self.assertEqual(self.selected("tests/tools/cli/golden.txt"), ["cli_test"])
        self.assertEqual(self.selected("docs/page.md"), [])

    def test_limits_leave_out_the_farthest_and_never_the_own_test(self):
        graph = quick.Graph(self.root, self.root / "build/dev")
        affected = quick.affected_programs(graph, ["common/base/text.h"])
        most = quick.MOST_OBJECTS_PER_CORE
        try:
            quick.MOST_OBJECTS_PER_CORE = 1
            self.assertEqual(quick.select(affected, 1), (["tests/base_test", "tests/cli_test"], ["tests/wire_test"], 1))
            quick.MOST_OBJECTS_PER_CORE = 0
            self.assertEqual(quick.select(affected, 1)[0], ["tests/base_test"])
        finally:
            quick.MOST_OBJECTS_PER_CORE = most

    def test_the_default_is_the_difference_from_the_upstream_branch_and_else_the_last_change(self):
        first = self.git("rev-parse", "HEAD").strip()
        try:
            (self.root / "docs/page.md").write_text("changed\n")
            self.commit("second")
            (self.root / "docs/new.md").write_text("new\n")
            self.assertEqual(quick.changed_files(self.root, ""), (first, ["docs/new.md", "docs/page.md"]))
            self.git("branch", "-q", "-f", "upstream")
            self.assertEqual(quick.changed_files(self.root, "")[1], ["docs/new.md"])
            (self.root / "docs/new.md").unlink()
            self.assertEqual(quick.changed_files(self.root, ""), ("HEAD~1", ["docs/page.md"]))
            self.assertEqual(quick.changed_files(self.root, first), (first, ["docs/page.md"]))
            with self.assertRaises(SystemExit):
                quick.changed_files(self.root, "no-such-commit")
        finally:
            self.git("reset", "-q", "--hard", first)
            self.git("branch", "-q", "-f", "upstream", first)

    def test_tests_are_those_of_the_programs_and_of_style_and_changed_scripts(self):
        def entry(name, label, *command):
            properties = [{"name": "LABELS", "value": [label]}] if label else []
            return {"name": name, "command": list(command), "properties": properties}

        listing = {"tests": [
            entry("A.B", "unit asan_short", "/b/tests/base_test"), entry("C.D", "unit", "/b/tests/wire_test"),
            entry("style.layering", "", "python3"), entry("style.hardening", "", "python3"),
            entry("check", "", "/bin/sh", str(self.root / "tests/check.sh")),
            entry("E.F", "e2e", "/b/tests/e2e_test"), {"name": "NOT_BUILT"}]}
        changed = ["tests/check.sh"]
        self.assertEqual(quick.test_numbers(listing, self.root, ["tests/base_test"], [], changed), [1, 3, 5])
        self.assertEqual(quick.test_numbers(listing, self.root, ["tests/e2e_test"], ["tests/e2e_test"], []), [3, 6])

class RunTimesTest(unittest.TestCase):
    def run_with(self, recorded, cores, commands):
        with tempfile.TemporaryDirectory() as directory:
            (Path(directory) / "build").mkdir()
            (Path(directory) / "build/run-times").write_text(recorded)
            done = subprocess.run(["bash", "-euo", "pipefail", "-c",
                                   f"nproc() {{ echo {cores}; }}; . {HERE}/run_times.sh; {commands}"],
                                  cwd=directory, capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            return done.stdout, (Path(directory) / "build/run-times").read_text()

    def test_an_earlier_run_is_announced_with_its_date_and_scaled_to_the_cores(self):
        recorded = "all_tests 9999 2 2026-01-01\nall_tests 2400 2 2026-01-02\nsanitizers 60 2 2026-01-03\n"
        self.assertIn("== about 40 minutes (measured: the last such run here, on 2026-01-02 with 2 cores, scaled to 2)",
                      self.run_with(recorded, 2, "announce all_tests")[0])
        self.assertIn("== about 10 minutes", self.run_with(recorded, 8, "announce all_tests")[0])

    def test_without_an_earlier_run_the_figures_are_named_as_not_measured_here(self):
        output = self.run_with("", 4, "announce all_tests")[0]
        self.assertIn("== about 23 minutes with a warm compiler cache", output)
        self.assertIn("not measured here yet", output)

    def test_stages_are_printed_and_only_passed_runs_are_recorded(self):
        self.assertIn("== at most about 5 minutes", self.run_with("", 4, "announce quick")[0])
        stages = "announce all_tests; begin_stage one; begin_stage two; print_times "
        output, recorded = self.run_with("", 2, stages + "0")
        self.assertRegex(output, r"0\.0 min +\d CPU s  one\n +0\.0 min +\d CPU s  two\n"
                                 r"== 0\.0 minutes and \d CPU seconds in all\n")
        self.assertRegex(recorded, r"^all_tests 0 2 \d{4}-\d\d-\d\d\n$")
        self.assertEqual(self.run_with("", 2, stages + "1")[1], "")

    def test_the_cpu_time_of_descendants_belongs_to_the_stage_that_started_them(self):
        busy = "import time\nwhile time.process_time() < 2.1: pass"
        child = f"sh -c '\"$0\" -c \"$1\"; :' {sys.executable} '{busy}'"
        stages = f"begin_stage idle; begin_stage busy; {child}; print_times 1"
        output = self.run_with("", 2, stages)[0]
        self.assertRegex(output, r"min +0 CPU s  idle\n")
        self.assertGreaterEqual(int(re.search(r"min +(\d+) CPU s  busy\n", output)[1]), 2)


if __name__ == "__main__":
    unittest.main()
