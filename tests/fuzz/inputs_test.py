"""Tests inputs.py."""

import tempfile
import unittest
from pathlib import Path

import inputs

TABLE = """# a comment
batch answer: common/wire/batch
  common/wire/upload_answer

none, they only write: common/draw/html
"""


class InputsTest(unittest.TestCase):
    def problems_of(self, needed, targets=("batch", "answer")):
        table = inputs.read_table(TABLE)
        return list(inputs.problems(table, needed, set(table), set(targets)))

    def test_lines_go_on_and_reasons_stand_for_targets(self):
        table = inputs.read_table(TABLE)
        self.assertEqual(table["common/wire/upload_answer"], ["batch", "answer"])
        self.assertEqual(table["common/draw/html"], [])

    def test_a_complete_table_is_good(self):
        self.assertEqual(self.problems_of({"common/wire/batch"}), [])

    def test_a_parser_without_a_target_is_named(self):
        (problem,) = self.problems_of({"common/wire/batch", "tools/new/parser"})
        self.assertIn("tools/new/parser", problem)

    def test_unknown_and_unused_targets_are_named(self):
        unknown = self.problems_of(set(), targets=("batch",))
        self.assertTrue(all("answer" in problem for problem in unknown) and unknown)
        (unused,) = self.problems_of(set(), targets=("batch", "answer", "idle"))
        self.assertIn("idle", unused)

    def test_a_source_that_is_gone_is_named(self):
        table = inputs.read_table(TABLE)
        found = list(inputs.problems(table, set(), set(table) - {"common/draw/html"}, {"batch", "answer"}))
        self.assertEqual(found, ["inputs.txt names common/draw/html, which does not exist"])

    def test_comments_name_nothing(self):
        with tempfile.TemporaryDirectory() as directory:
            for component in inputs.COMPONENTS:
                (Path(directory) / component).mkdir()
            (Path(directory) / "common/a.h").write_text("int F();  // reads untrusted_bytes\n")
            (Path(directory) / "common/b.cc").write_text("int F(int untrusted_number);\n")
            self.assertEqual(inputs.sources_with_untrusted_bytes(Path(directory)), {"common/b"})


if __name__ == "__main__":
    unittest.main()
