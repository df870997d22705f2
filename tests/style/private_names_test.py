"""Tests private_names.py."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

import private_names


def source(body, space="fieldcost::report"):
    return f"namespace {space} {{\nnamespace {{\n\n{body}\n\n}}  // namespace\n}}  // namespace {space}\n"


def public(body, space="fieldcost::report"):
    return f"namespace {space} {{\n\n{body}\n\n}}  // namespace {space}\n"


class PrivateNamesTest(unittest.TestCase):
    def clashes(self, first, second):
        with tempfile.TemporaryDirectory() as folder:
            sources = [pathlib.Path(folder) / name for name in ("a.cc", "b.cc")]
            for path, text in zip(sources, (first, second)):
                path.write_text(text)
            return list(private_names.clashes("report", sources))

    def hidden(self, first, second, **headers):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "report").mkdir()
            sources = [root / "report" / name for name in ("a.cc", "b.cc")]
            for path, text in zip(sources, (first, second)):
                path.write_text(text)
            for name, text in headers.items():
                (root / "report" / f"{name}.h").write_text(text)
            return list(private_names.hidden("report", sources, private_names.Headers(root)))

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

    def test_static_functions_are_private_names(self):
        static = public("static int Sum(int a) {\n  return a;\n}")
        self.assertEqual(len(self.clashes(source("int Sum(int b) {\n  return b;\n}"), static)), 1)
        self.assertEqual(len(self.hidden(static, '#include "report/h.h"\n', h=public("int Sum(int a);"))), 1)

    def test_names_taken_from_other_namespaces_clash_unless_they_are_the_same(self):
        first, second = source("using tree::Comparison;"), source("using inference::Comparison;")
        self.assertEqual(len(self.clashes(first, second)), 1)
        self.assertEqual(self.clashes(first, first), [])

    def test_private_names_hide_what_headers_of_other_sources_declare(self):
        function = source("std::string NameOf(const Row& row) {\n  return {};\n}")
        constant = source("constexpr unsigned kNameOf = 1;")
        user = '#include "report/names.h"\n'
        for declared in ("std::string NameOf(const Group& group);", "extern const int kNameOf;",
                         "inline constexpr int kNameOf = 3;",
                         "inline std::string NameOf(const Group& group) {\n  return {};\n}",
                         "Result<std::function<void(int)>> NameOf(const Group& group,\n    int most);",
                         "template <typename T>\nbool NameOf(T a) {\n  return a;\n}",
                         "struct NameOf {\n};", "using wire::NameOf;", "using NameOf = int;"):
            first = constant if "kNameOf" in declared else function
            for space in ("fieldcost::report", "fieldcost"):
                problems = self.hidden(first, user, names=public(declared, space))
                self.assertEqual(len(problems), 1, declared)
                self.assertRegex(problems[0], "NameOf is private in .*/a.cc and hides the one of .*names.h from .*b.cc")

    def test_a_header_is_found_by_way_of_others(self):
        private = source("int Sum(int a) {\n  return a;\n}")
        user = '#include "report/one.h"\n'
        self.assertEqual(len(self.hidden(private, user, one='#include "report/two.h"\n#include "report/gone.h"\n',
                                         two='#include "report/one.h"\n' + public("int Sum(long a);"))), 1)

    def test_names_that_no_other_source_can_mean_hide_nothing(self):
        private = source("int Sum(int a) {\n  return a;\n}")
        include = '#include "report/sum.h"\n'
        declared = public("int Sum(long a);")
        self.assertEqual(self.hidden(include + private, "", sum=declared), [])
        self.assertEqual(self.hidden(private, include, sum=public("int Sum(long a);", "fieldcost::lsp")), [])
        self.assertEqual(self.hidden(private, include, sum=public("int Sum(long a);", "fieldcost::report::parts")), [])
        self.assertEqual(self.hidden(private, include, sum=public("struct Box {\n  int Sum(long a);\n};")), [])
        alias = "using Clock = std::chrono::steady_clock;"
        self.assertEqual(self.hidden(source(alias), include, sum=public(alias)), [])

    def test_the_exit_status_reports_hidden_names(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "report").mkdir()
            (root / "report/CMakeLists.txt").write_text("fieldcost_library(report SOURCES a.cc b.cc)\n")
            (root / "report/sum.h").write_text(public("int Sum(long a);"))
            (root / "report/b.cc").write_text('#include "report/sum.h"\n')
            for body, status in (("int Sum(int a) {\n  return a;\n}", 1), ("int Add(int a) {\n  return a;\n}", 0)):
                (root / "report/a.cc").write_text(source(body))
                command = [sys.executable, private_names.__file__, folder]
                ended = subprocess.run(command, capture_output=True, check=False)
                self.assertEqual(ended.returncode, status, ended.stderr)


if __name__ == "__main__":
    unittest.main()
