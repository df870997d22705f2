#include "tools/analysis/name_prefix.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <link.h>

#include <random>
#include <sstream>

#include "tests/support/process.h"

namespace fieldcost::analysis {
namespace {

using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;
using Names = std::set<std::string>;

TEST(GroupByPrefixTest, PrefixesEndAtUnderscoresAndBeforeCapitals) {
  EXPECT_THAT(GroupByPrefix(
                  {"inflate", "inflateEnd", "inflateInit_", "png_error", "png_free", "png_malloc"}),
              UnorderedElementsAre(Pair("inflate", "inflate"), Pair("inflateEnd", "inflate"),
                                   Pair("inflateInit_", "inflate"), Pair("png_error", "png_"),
                                   Pair("png_free", "png_"), Pair("png_malloc", "png_")));
  // A whole name is a prefix with its underscore, too.
  EXPECT_THAT(GroupByPrefix({"crc32", "crc32_combine", "crc32_z"}),
              UnorderedElementsAre(Pair("crc32", "crc32_"), Pair("crc32_combine", "crc32_"),
                                   Pair("crc32_z", "crc32_")));
  // Leading underscores begin no word, and repeated ones end together.
  EXPECT_EQ(GroupByPrefix({"__xml_a", "__xml_b", "__xml_c"}).at("__xml_a"), "__xml_");
  EXPECT_EQ(GroupByPrefix({"a__b", "a__c", "a__d"}).at("a__b"), "a__");
  // The s of sRGB is no word.
  EXPECT_EQ(GroupByPrefix({"png_set_sBIT", "png_set_sPLT", "png_set_sRGB"}).at("png_set_sRGB"),
            "png_set_");
}

TEST(GroupByPrefixTest, TheLongestPrefixOfEnoughNamesIsChosen) {
  // Two iterators are too few: they belong to the tables. So does everything else to g_.
  const auto groups = GroupByPrefix({"g_hash_table_iter_init", "g_hash_table_iter_next",
                                     "g_hash_table_new", "g_free", "g_list_free", "g_list_append"});
  EXPECT_EQ(groups.at("g_hash_table_iter_init"), "g_hash_table_");
  EXPECT_EQ(groups.at("g_hash_table_new"), "g_hash_table_");
  EXPECT_EQ(groups.at("g_list_free"), "g_");
  EXPECT_EQ(groups.at("g_free"), "g_");
  // Names that nothing else shares enough of.
  EXPECT_THAT(GroupByPrefix({"gzopen", "gzread", "gzclose", "uncompress"}),
              ::testing::Each(Pair(::testing::_, kOtherNames)));
  EXPECT_THAT(GroupByPrefix({}), IsEmpty());
}

TEST(GroupByPrefixTest, HostileNamesStayBounded) {
  Names names = {"", "_", "___", "a_", "A<\"><img>_x"};
  std::string words;
  for (int i = 0; i < 10'000; ++i) words += "a_B";
  for (const char* end : {"1", "2", "3"}) names.insert(words + end);
  const auto groups = GroupByPrefix(names);
  EXPECT_EQ(groups.size(), names.size());
  for (const auto& [name, prefix] : groups) EXPECT_LE(prefix.size(), kMostPrefixBytes);
  EXPECT_EQ(groups.at(""), kOtherNames);
}

TEST(GroupByPrefixTest, EveryNameHasOneGroupOfEnoughNames) {
  std::mt19937 random(7);
  const auto below = [&](unsigned limit) { return static_cast<unsigned>(random() % limit); };
  for (int round = 0; round < 200; ++round) {
    Names names;
    for (unsigned i = below(60); i > 0; --i) {
      std::string name;
      for (unsigned words = 1 + below(4); words > 0; --words) {
        name += std::string(1 + below(2), "abX2"[below(4)]);
        if (below(2) == 0) name += "_";
      }
      names.insert(name);
    }
    const auto groups = GroupByPrefix(names);
    std::map<std::string, std::size_t> sizes;
    Names found;
    for (const auto& [name, prefix] : groups) {
      found.insert(name);
      ++sizes[prefix];
      EXPECT_TRUE(prefix == kOtherNames || (name + "_").starts_with(prefix)) << name;
    }
    EXPECT_EQ(found, names);
    for (const auto& [prefix, size] : sizes) {
      EXPECT_TRUE(prefix == kOtherNames || size >= kLeastPrefixNames) << prefix;
    }
  }
}

// The functions that an installed library exports; empty if it is not installed.
Names ExportsOf(const std::string& soname) {
  void* library = dlopen(soname.c_str(), RTLD_LAZY);
  if (library == nullptr) return {};
  link_map* map = nullptr;
  EXPECT_EQ(dlinfo(library, RTLD_DI_LINKMAP, &map), 0);
  const testing::ProcessResult result =
      testing::RunProcess({.arguments = {"nm", "-D", "--defined-only", map->l_name}});
  EXPECT_EQ(result.exit_status, 0) << result.errors;
  dlclose(library);
  Names names;
  std::istringstream lines(result.output);
  for (std::string address, kind, name; lines >> address >> kind >> name;) {
    if (kind == "T" || kind == "W" || kind == "i") names.insert(name.substr(0, name.find('@')));
  }
  return names;
}

TEST(GroupByPrefixTest, RealLibrariesHaveTheirUsualPrefixes) {
  struct Expected {
    const char* soname;
    std::map<std::string, std::string> prefixes;
  };
  std::size_t installed = 0;
  for (const Expected& expected :
       {Expected{"libz.so.1",
                 {{"inflate", "inflate"},
                  {"inflateEnd", "inflate"},
                  {"deflateInit_", "deflate"},
                  {"crc32_combine", "crc32_combine_"},
                  {"gzopen", "(other)"},
                  {"uncompress", "(other)"}}},
        {"libsqlite3.so.0",
         {{"sqlite3_step", "sqlite3_"},
          {"sqlite3_column_int", "sqlite3_column_"},
          {"sqlite3_bind_blob", "sqlite3_bind_"}}},
        {"libexpat.so.1",
         {{"XML_ErrorString", "XML_"},
          {"XML_ParserCreate", "XML_Parser"},
          {"XML_SetElementHandler", "XML_Set"}}},
        {"libpng16.so.16",
         {{"png_error", "png_"}, {"png_set_sRGB", "png_set_"}, {"png_get_IHDR", "png_get_"}}},
        {"libxml2.so.2",
         {{"xmlParseDocument", "xmlParse"},
          {"htmlParseFile", "htmlParse"},
          {"xmlFreeDoc", "xmlFree"}}},
        {"libglib-2.0.so.0",
         {{"g_free", "g_"},
          {"g_hash_table_insert", "g_hash_table_"},
          {"g_hash_table_iter_next", "g_hash_table_iter_"},
          {"g_utf8_validate", "g_utf8_"}}}}) {
    const Names names = ExportsOf(expected.soname);
    if (names.empty()) continue;
    ++installed;
    const auto groups = GroupByPrefix(names);
    EXPECT_EQ(groups.size(), names.size());
    for (const auto& [name, prefix] : expected.prefixes) {
      ASSERT_TRUE(groups.contains(name)) << name;
      EXPECT_EQ(groups.at(name), prefix) << name;
    }
  }
  EXPECT_GE(installed, 2U);  // the project itself uses zlib and SQLite
}

}  // namespace
}  // namespace fieldcost::analysis
