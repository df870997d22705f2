#include "common/catalog/name_search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <set>
#include <tuple>

#include "common/base/ascii.h"
#include "common/base/text.h"
#include "common/catalog/catalog.h"
#include "common/catalog/catalog_schema.h"
#include "common/names/cxx_name.h"
#include "tests/common/catalog/publisher.h"
#include "tests/support/fake_clock.h"

namespace fieldcost::catalog {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::MakeRow;

constexpr WallTime kNow{std::chrono::hours(24 * 20'000)};

std::vector<std::string> Names(const std::vector<FoundApi>& found) {
  std::vector<std::string> names;
  for (const FoundApi& api : found) names.push_back(api.soname + "!" + api.symbol);
  return names;
}

// The specification of Catalog::Search(): a scan of all names in order.
class AllNames {
 public:
  explicit AllNames(const std::vector<stats::StatRow>& rows) {
    std::map<std::pair<std::string, std::string>, std::vector<stats::StatRow>> by_name;
    for (const stats::StatRow& row : rows) {
      by_name[{row.key.api.symbol, row.key.api.soname}].push_back(row);
    }
    for (const auto& [name, own] : by_name) {
      all_.push_back({TotalColumn(own), {name.second, name.first}});
    }
    std::stable_sort(all_.begin(), all_.end(),
                     [](const auto& a, const auto& b) { return a.total > b.total; });
  }

  std::vector<std::string> Search(const SearchOptions& options) const {
    const NamePattern pattern(options.pattern);
    std::vector<FoundApi> found;
    for (const Ranked& one : all_) {
      const bool fits = pattern.Matches(one.api.soname, one.api.symbol) &&
                        (options.library.empty() || GlobMatch(options.library, one.api.soname));
      if (fits && !(options.leave_out && options.leave_out(one.api))) found.push_back(one.api);
    }
    if (options.order == SearchOptions::Order::kName) {
      std::sort(found.begin(), found.end(), [](const FoundApi& a, const FoundApi& b) {
        return std::tie(a.symbol, a.soname) < std::tie(b.symbol, b.soname);
      });
    }
    if (found.size() > options.limit) found.resize(options.limit);
    return Names(found);
  }

  const FoundApi& at(std::size_t i) const { return all_[i % all_.size()].api; }

 private:
  struct Ranked {
    std::uint64_t total;
    FoundApi api;
  };
  std::vector<Ranked> all_;
};

// Names of few different pieces, so that parts of them occur in many names.
class RandomNames {
 public:
  std::string Symbol() {
    constexpr std::array kMangled = {"_ZN4Json6Reader5parseERKSsRNS_5ValueEb",
                                     "_ZNK4Json5Value8isMemberEPKc",
                                     "_ZN4Json6ReaderC1Ev",
                                     "_ZNSt6vectorIiSaIiEE9push_backERKi",
                                     "_Znwm",
                                     "_ZTVN4Json6ReaderE",
                                     "_ZN1a1bIcE1fIiEEvT_",
                                     "_ZN3xyz9\xc3\xa9t\xc3\xa9\xe6\x97\xa5"
                                     "e3fooEv",
                                     "_Z2\xc3\xa9v",
                                     "_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_PKc",
                                     "_Znot_a_name"};
    if (Draw(4) == 0) {
      std::string symbol = kMangled[Draw(kMangled.size())];
      return Draw(3) == 0 ? symbol + ".isra." + std::to_string(Draw(9)) : symbol;
    }
    std::string symbol;
    for (std::size_t left = 1 + Draw(6); left > 0; --left) symbol += Piece();
    return symbol;
  }
  std::string Soname() { return "lib" + kSonames_[Draw(kSonames_.size())] + ".so." + Number(); }

  // A pattern that often matches: part of a name, changed in some way, or something else.
  std::string Pattern(const FoundApi& api) {
    std::string text = PartOf(Draw(2) == 0 ? api.symbol : names::ShortName(api.symbol));
    if (Draw(4) == 0) text = PartOf(api.soname) + "!" + text;
    for (char& c : text) {
      if (Draw(6) == 0) c = static_cast<char>(c ^ (IsLetter(c) ? 0x20 : 0));
    }
    if (Draw(3) == 0 && !text.empty()) text[Draw(text.size())] = "*?*%_\"'"[Draw(7)];
    if (Draw(5) == 0) text = "*" + text + "*";
    if (Draw(8) == 0) text += Piece();
    if (Draw(20) == 0) text = kHostile_[Draw(kHostile_.size())];
    return text;
  }
  std::size_t Draw(std::size_t below) { return random_() % below; }

 private:
  std::string Number() { return std::to_string(Draw(3)); }
  std::string Piece() {
    constexpr std::array kPieces = {"get",
                                    "Get",
                                    "_",
                                    "set",
                                    "a",
                                    "b",
                                    "ab",
                                    "BUF",
                                    "\"",
                                    "*",
                                    "%",
                                    "?",
                                    "'",
                                    "AND",
                                    "OR",
                                    "NOT",
                                    "NEAR",
                                    "(",
                                    ")",
                                    "-",
                                    "\xc3\xa9",
                                    "\xe6\x97\xa5\xe6\x9c\xac",
                                    "\xc3\x89",
                                    "buf",
                                    "lib",
                                    ".so",
                                    "\xee\x81\xac",
                                    "0",
                                    "^",
                                    ":"};
    return kPieces[Draw(kPieces.size())];
  }
  std::string PartOf(const std::string& name) {
    const std::size_t begin = Draw(name.size());
    return name.substr(begin, Draw(name.size() - begin + 1));
  }

  std::mt19937_64 random_{20261129};
  const std::vector<std::string> kSonames_ = {"z", "ssl", "sqlite3", "SDL2-2.0", "a", "stdc++"};
  const std::vector<std::string> kHostile_ = {std::string("get\0set", 7),
                                              std::string(1, '\0'),
                                              "\"get\"*",
                                              "get AND set",
                                              "symbol:get",
                                              "{symbol}:get",
                                              "NEAR(get set)",
                                              "^get",
                                              "get OR",
                                              "\"",
                                              "\"\"\"\"",
                                              "\xc3\xa9t\xc3",
                                              "\xa9get",
                                              "\xff\xfe\xfd",
                                              "'; DROP TABLE ranking; --",
                                              std::string(5000, 'g'),
                                              std::string(300, '*'),
                                              "!",
                                              "!!",
                                              "lib!",
                                              "!get",
                                              "lib*!*",
                                              "::",
                                              "operator new",
                                              "(",
                                              " "};
};

class NameSearchTest : public ::testing::Test {
 protected:
  Catalog Make(const std::vector<stats::StatRow>& rows, unsigned fragment_bits = 2) {
    publisher_.Publish(rows, fragment_bits, kNow);
    SyncOptions options = publisher_.Client(directory_.path());
    options.full = true;
    const auto report = Sync(options, clock_);
    EXPECT_TRUE(report.has_value()) << report.error().message;
    return *Catalog::Open(file());
  }
  std::filesystem::path file() const { return directory_.path() / "catalog.db"; }
  std::uint64_t Number(const char* sql) const {
    return *sqlite::Database::Open(file(), sqlite::Database::Access::kRead)->QueryInt(sql);
  }

  testing::TempDir directory_;
  testing::FakeClock clock_{kNow};
  testing::Publisher publisher_{kNow};
};

std::vector<stats::StatRow> RandomRows(RandomNames& names, std::size_t count) {
  std::vector<stats::StatRow> rows;
  std::set<std::pair<std::string, std::string>> seen;
  while (rows.size() < count) {
    const std::string soname = names.Soname();
    const std::string symbol = names.Symbol();
    if (!seen.emplace(soname, symbol).second) continue;
    // Few different totals, so that names decide, too.
    rows.push_back(MakeRow(soname, symbol, 1 + names.Draw(3), names.Draw(4)));
  }
  std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.key < b.key; });
  return rows;
}

TEST_F(NameSearchTest, EverySearchEqualsAScanOfAllNames) {
  RandomNames names;
  const std::vector<stats::StatRow> rows = RandomRows(names, 1500);
  const Catalog catalog = Make(rows);
  const AllNames all(rows);
  std::size_t matched = 0;
  for (int i = 0; i < 4000; ++i) {
    const FoundApi& api = all.at(names.Draw(100'000));
    SearchOptions options{.pattern = names.Pattern(api)};
    if (names.Draw(5) == 0)
      options.library = names.Draw(2) == 0 ? api.soname : "lib*" + api.soname.substr(4, 3) + "*";
    if (names.Draw(3) == 0) options.order = SearchOptions::Order::kName;
    if (names.Draw(2) == 0) options.limit = names.Draw(2000);
    if (names.Draw(8) == 0) {
      options.leave_out = [](const FoundApi& one) { return one.symbol.size() % 2 == 0; };
    }
    const auto found = catalog.Search(options);
    ASSERT_TRUE(found.has_value()) << found.error().message;
    ASSERT_EQ(Names(*found), all.Search(options))
        << "pattern " << EscapeControl(options.pattern) << ", library " << options.library;
    matched += found->empty() ? 0 : 1;
  }
  EXPECT_GT(matched, 2000u);
}

TEST_F(NameSearchTest, EverySyncUpdatesWhatIsFoundAndItsOrder) {
  RandomNames names;
  for (int round = 0; round < 4; ++round) {
    const std::vector<stats::StatRow> rows = RandomRows(names, 60);
    const Catalog catalog = Make(rows, 1 + round % 2);
    const AllNames all(rows);
    for (const char* pattern : {"", "get", "*buf*", "json::", "_Z"}) {
      EXPECT_EQ(Names(*catalog.Search({.pattern = pattern, .limit = 99})),
                all.Search({.pattern = pattern, .limit = 99}));
    }
    EXPECT_EQ(Number("SELECT count(*) FROM ranking"), 60u);
    EXPECT_EQ(Number("SELECT max(rank) FROM ranking"), 60u);
  }
}

TEST_F(NameSearchTest, AnInterruptedSyncIsSearchedWithoutTheIndex) {
  RandomNames names;
  const std::vector<stats::StatRow> rows = RandomRows(names, 300);
  Make(rows);
  {  // as a sync that is killed leaves it
    auto database = sqlite::Database::Open(file(), sqlite::Database::Access::kWrite);
    ASSERT_TRUE(
        database->Execute("UPDATE meta SET value = 0 WHERE key = 'is_ranked';"
                          "DELETE FROM ranking; DELETE FROM libraries;"
                          "INSERT INTO name_grams (name_grams) VALUES ('delete-all')"));
  }
  const AllNames all(rows);
  const Catalog catalog = *Catalog::Open(file());
  for (const char* pattern : {"", "get", "*buf*", "json::", "sqlite!a"}) {
    EXPECT_EQ(Names(*catalog.Search({.pattern = pattern})), all.Search({.pattern = pattern}));
  }
  std::size_t libraries = 0;
  ASSERT_TRUE(catalog.ForEachLibrary([&](std::string_view) { return ++libraries != 0; }));
  EXPECT_EQ(libraries, 18u);

  ASSERT_TRUE(Sync(publisher_.Client(directory_.path()), clock_)->already_done_today);
  EXPECT_EQ(Number("SELECT count(*) FROM ranking"), 300u) << "the next sync completes the index";
  EXPECT_EQ(Names(*catalog.Search({.pattern = "get"})), all.Search({.pattern = "get"}));
}

TEST_F(NameSearchTest, AFailedSyncRanksWhatItHasStored) {
  publisher_.Publish(testing::MakeRows(40, 1000), 2, kNow);
  publisher_.FailAfterFragments(2);
  ASSERT_FALSE(Sync(publisher_.Client(directory_.path()), clock_));
  const std::uint64_t stored = Number("SELECT count(*) FROM apis");
  EXPECT_GT(stored, 0u);
  EXPECT_LT(stored, 40u);
  EXPECT_EQ(Number("SELECT count(*) FROM ranking"), stored);
  EXPECT_EQ(Catalog::Open(file())->Search({.pattern = "function", .limit = 99})->size(), stored);
}

TEST_F(NameSearchTest, LibrariesAreVisitedOnceUntilTheVisitorHasEnough) {
  const Catalog catalog = Make(testing::MakeRows(40, 5));
  std::vector<std::string> libraries;
  ASSERT_TRUE(catalog.ForEachLibrary([&](std::string_view soname) {
    libraries.emplace_back(soname);
    return true;
  }));
  EXPECT_THAT(libraries,
              ElementsAre("lib0.so.1", "lib1.so.1", "lib2.so.1", "lib3.so.1", "lib4.so.1"));
  int visits = 0;
  ASSERT_TRUE(catalog.ForEachLibrary([&](auto) { return ++visits < 2; }));
  EXPECT_EQ(visits, 2);
}

TEST_F(NameSearchTest, CandidatesIncludeEveryNameWithTheParts) {
  const Catalog catalog = Make(
      {MakeRow("libz.so.1", "inflateInit2_", 3, 10), MakeRow("libz.so.1", "deflate", 3, 10),
       MakeRow("libz.so.1", "zError", 3, 10), MakeRow("libother.so.1", "inflateInit2_", 3, 10)});
  const auto candidates = [&](const NameParts& parts) {
    std::vector<FoundApi> found;
    EXPECT_TRUE(catalog.ForEachCandidate(parts, [&](const FoundApi& api) {
      found.push_back(api);
      return true;
    }));
    return Names(found);
  };
  EXPECT_THAT(candidates({.symbol = {"INIT", "flate"}, .library = {"libz"}}),
              ElementsAre("libz.so.1!inflateInit2_"));
  EXPECT_THAT(candidates({.symbol = {"z"}, .library = {}}), ::testing::SizeIs(4));
  EXPECT_THAT(candidates({.symbol = {"nothing"}, .library = {}}), IsEmpty());
}

TEST(GramQueryTest, QuotesEachThreeConsecutiveCharacters) {
  EXPECT_EQ(GramQuery({.symbol = {"abCd"}, .library = {}}), R"("abc" AND "bcd")");
  EXPECT_EQ(GramQuery({.symbol = {"a\"b"}, .library = {}}), R"("a""b")");
  EXPECT_EQ(GramQuery({.symbol = {"ab", "", "\xc3\xa9y"}, .library = {}}), "");
  EXPECT_EQ(GramQuery({.symbol = {"x\xc3\xa9y\xe6\x97"}, .library = {}}), "\"x\xc3\xa9y\"");
  EXPECT_EQ(GramQuery({.symbol = {std::string("ab\0cde", 6)}, .library = {}}), R"("cde")");
}

TEST(GramQueryTest, LibrariesHaveCharactersOfTheirOwn) {
  EXPECT_EQ(GramQuery({.symbol = {}, .library = {"lib", ".so."}}), "") << "in nearly all names";
  EXPECT_EQ(GramQuery({.symbol = {}, .library = {"LibZ"}}),
            "\"\xee\x81\xa9\xee\x81\xa2\xee\x81\xba\"");
}

TEST(GramQueryTest, LongTextsGiveBoundedQueries) {
  std::string text;
  for (int i = 0; i < 5000; ++i) text += std::to_string(i);
  EXPECT_LT(GramQuery({.symbol = {text}, .library = {text}}).size(), 1200u);
}

}  // namespace
}  // namespace fieldcost::catalog
