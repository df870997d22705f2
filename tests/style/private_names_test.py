"""Tests private_names.py."""

import pathlib
import tempfile
import unittest

import private_names


def source(body, space="fieldcost::report"):
    return f"namespace {space} {{\nnamespace {{\n\n{body}\n\n}}  // namespace\n}}  // namespace {space}\n"


class PrivateNamesTest(unittest.TestCase):
    def clashes(self, first, second):
        with tempfile.TemporaryDirectory() as folder:
            sources = [pathlib.Path(folder) / name for name in ("a.cc", "b.cc")]
            for path, text in zip(sources, (first, second)):
                path.write_text(text)
            return list(private_names.clashes("report", sources))

    def test_types_and_constants_of_one_name_clash(self):
        for first, second, name in (
                ("constexpr int kWidth = 3;", "constexpr unsigned kWidth = 3;", "kWidth"),
                ('constexpr char kName[] = "a";', "inline constexpr std::string_view kName{};", "kName"),
                ("constexpr std::array<std::pair<int, int>, 2> kPairs = {\n    {1, 2}};", "constexpr int kPairs{1};",
                 "kPairs"),
                ("struct Row {\n  int a;\n};", "class Row {\n};", "Row"),
                ("enum class Side { kLeft };", "struct Side;", "Side"),
                ("using Rows = std::vector<int>;", "using Rows = std::vector<long>;", "Rows"),
                ("struct Facts {};", "int Facts(int a) {\n  return a;\n}", "Facts"),
        ):
            (problem,) = self.clashes(source(first), source(second))
            self.assertIn(f"fieldcost::report::{name} is private in", problem)

    def test_functions_clash_unless_they_are_overloads(self):
        first = source("std::string NameOf(const Row& row, std::size_t most = 3) {\n  return {};\n}")
        same = source("std::string NameOf(const Row& other,\n                   std::size_t limit) {\n  return {};\n}")
        overload = source("std::string NameOf(const Row& row) {\n  return {};\n}")
        self.assertEqual(len(self.clashes(first, same)), 1)
        self.assertEqual(self.clashes(first, overload), [])

    def test_the_same_alias_and_names_of_other_namespaces_do_not_clash(self):
        alias = source("namespace fs = std::filesystem;\nusing Clock = std::chrono::steady_clock;")
        constant = "constexpr int kWidth = 3;"
        self.assertEqual(self.clashes(alias, alias), [])
        self.assertEqual(self.clashes(source(constant), source(constant, "fieldcost::lsp")), [])

    def test_names_inside_of_functions_and_types_are_not_private_names(self):
        inside = source("int Sum() {\n  constexpr int kWidth = 3;\n  return kWidth;\n}")
        outside = source("struct Box {\n  static constexpr int kWidth = 3;\n};")
        self.assertEqual(self.clashes(inside, outside), [])


if __name__ == "__main__":
    unittest.main()
