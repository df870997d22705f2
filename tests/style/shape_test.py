"""Tests shape.py."""

import unittest

import shape


class OneJsonWriterTest(unittest.TestCase):
    def problems_of(self, line, name="tools/cli/planted.cc"):
        problems = []
        shape.check_json(name, ["#include <string>", line], problems)
        return problems

    def test_another_writer_of_json_is_named_with_its_line(self):
        for line in (
                "  return json::serialize(object);",
                "#include <boost/json/serialize.hpp>",
                "  boost::json::serializer writer;",
                "  text += QuoteJson(name);",
                r'  text += fmt::format("\\u{:04x}", c);',
                r'  text += "\\u003c";',
                r'  std::snprintf(text, sizeof text, "\\u%04x", c);',
                r'  text += "{\"name\":" + name;',
                r'  text += fmt::format("\"{}\":{{\"pid\": {}}}", name, pid);',
                r"""  text += fmt::format(R"({{"removed": {}}})", removed);""",
                r"""      R"(,"to_version": {}, "factor": {}}})");""",
        ):
            (problem,) = self.problems_of(line)
            self.assertTrue(problem.startswith("tools/cli/planted.cc:2: "), problem)

    def test_comments_messages_and_the_writer_itself_are_good(self):
        self.assertEqual(self.problems_of('// {"label", "steps": [{"name": text}]}'), [])
        self.assertEqual(self.problems_of(r"""  Fail(R"(expected a JSON object {{"ids": ["..."]}})");"""), [])
        self.assertEqual(self.problems_of("  Raw(QuoteJson(literal));", "common/base/json_writer.cc"), [])
        self.assertEqual(self.problems_of("  EXPECT_EQ(json::serialize(value), text);", "tests/tools/a_test.cc"), [])
        self.assertEqual(self.problems_of('  json.Object().Member("removed", removed).EndObject();'), [])


if __name__ == "__main__":
    unittest.main()
