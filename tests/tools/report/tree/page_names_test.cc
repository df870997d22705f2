#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "common/draw/name_text.h"
#include "common/tree/algebra.h"
#include "tests/support/process.h"
#include "tests/tools/analysis/trees.h"
#include "tools/analysis/tree_view.h"
#include "tools/report/tree/tree_page.h"
#include "tools/report/tree/tree_svg.h"

namespace fieldcost::report {
namespace {

namespace json = boost::json;

using ::testing::HasSubstr;
using ::testing::Not;
using testing::WrittenTree;

constexpr std::size_t kWidest = 130;

// Names of each kind as they occur in recordings; without ';', which separates frames here.
const std::vector<std::string> kNames = {
    "libvault.so!vault::Compressor::pack<char>(std::vector<char, std::allocator<char> > const&)",
    "libevents.so!events::to_json(std::__cxx11::basic_string<char, std::char_traits<char>, "
    "std::allocator<char> > const&)",
    "app!nlohmann::json_abi_v3_11_2::detail::lexer<int, char>::scan()",
    "libz.so.1!deflate",
    "libz.so.1!a_function_whose_own_name_is_longer_than_any_box_of_the_picture_has_room_for",
    "app!std::ostream& operator<< <std::char_traits<char> >(std::ostream&, char const*)",
    "app!Box::operator std::vector<int>() const",
    "app!(anonymous namespace)::Reader::Next(int)",
    "app!main::{lambda(int)#1}::operator()(int) const",
    "app!void (*choose(int))(char)",
    "app!größe::änderung::prüfe(int)",
    "app!\U0001F600\U0001F600\U0001F600::f(int)",
    "hashbrown::map::HashMap<K,V,S,A>::insert",
    "app!<alloc::vec::Vec<T> as core::ops::Drop>::drop",
    "JS:*slowLoop /tmp/work.js:5:18",
    "github.com/a/b.(*T).Run",
    "go.etcd.io/raft/v3.(*node).step.func1",
    "lib/b.Sum[go.shape.int]",
    "JS:~start node:internal/main:1:1",
    "libc.so!_int_free (malloc.c)",
    "app!parse(int) (parser.cc)",
    "libz.so+0x5d80 [1f95d549]",
    "libc.so.6+0x12345",
    "libc.so!+0x12345678",
    "[generated]",
    "main",
    "a!b!c::d(int)",
    "f(a!b)",
    "((((",
    "a::<>::(",
    "operator<",
};

std::string PageOf(const std::vector<std::string>& names) {
  testing::WrittenRun run;
  for (const std::string& name : names) run.emplace_back("main;" + name, 1000);
  const tree::MeanTree tree = tree::Average(WrittenTree({run})).value();
  return TreePageHtml({.tree = tree, .untrusted_operand = "a.fct", .untrusted_file = "a.fct"});
}

std::string Source(const std::string& part) {
  std::ifstream file(std::string(FIELDCOST_PAGE_PARTS) + "/" + part);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(TreePageNamesTest, TheScriptShortensNamesAsTheTerminalDoes) {
  if (std::system("node --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "there is no node";
  const std::string page = PageOf(kNames);
  const std::size_t tag = page.find("id=\"tree\"");
  ASSERT_NE(tag, std::string::npos);
  const std::size_t begin = page.find('>', tag) + 1;
  const std::string data = page.substr(begin, page.find("</script>", begin) - begin);
  json::object expected;
  const json::value tree = json::parse(data);
  for (const json::value& name : tree.at("names").as_array()) {
    json::array shown;
    for (std::size_t width = 0; width <= kWidest; ++width) {
      shown.emplace_back(draw::ShortenName(std::string(name.as_string()), width, {.utf8 = true}));
    }
    expected[name.as_string()] = std::move(shown);
  }
  ASSERT_GE(expected.size(), kNames.size());
  const std::string script = Source("tree_model.js") + Source("short_names.js") +
                             fmt::format(R"(
const model = new TreeModel({});
const expected = {};
let compared = 0;
for (let node = 1; node < model.count; ++node) {{
  const name = model.nameOf(node);
  expected[name].forEach((text, room) => {{
    const shown = model.shortNameOf(node, room);
    if (shown !== text) console.log(`${{name}} in ${{room}}: "${{shown}}", not "${{text}}"`);
    ++compared;
  }});
}}
console.log(`compared ${{compared}}`);
)",
                                         data, json::serialize(expected));
  const testing::ProcessResult result =
      testing::RunProcess({.arguments = {"node", "-"}, .input = script});
  EXPECT_EQ(result.exit_status, 0) << result.errors;
  // "main" is also the root.
  EXPECT_EQ(result.output, fmt::format("compared {}\n", (kNames.size() + 1) * (kWidest + 1)));
}

TEST(TreeSvgNamesTest, BoxesKeepTheFunctionsOwnName) {
  testing::WrittenRun run;
  for (int i = 0; i < 15; ++i) run.emplace_back(fmt::format("main;caller{};{}", i, kNames[0]), 100);
  const analysis::TreeView view = analysis::TopDown(tree::Average(WrittenTree({run})).value(), 0);
  const std::string svg = TreeSvg(view, {});
  EXPECT_THAT(svg, HasSubstr(">…::pack</text>"));  // 80 pixels wide
  EXPECT_THAT(svg, Not(HasSubstr("\"#111\">libv")));
}

}  // namespace
}  // namespace fieldcost::report
