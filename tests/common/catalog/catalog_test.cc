#include "common/catalog/catalog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "common/base/file.h"
#include "common/sqlite/sqlite.h"
#include "common/wire/fragment.h"
#include "tests/common/catalog/publisher.h"
#include "tests/common/stats/published_row.h"
#include "tests/support/fake_clock.h"

namespace fieldcost::catalog {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::MakeRow;

constexpr WallTime kNow{std::chrono::hours(24 * 20'000)};

class CatalogTest : public ::testing::Test {
 protected:
  // Creates a catalogue of these rows with a real sync.
  Catalog Make(const std::vector<stats::StatRow>& rows, unsigned fragment_bits = 2) {
    publisher_.Publish(rows, fragment_bits, kNow);
    SyncOptions options = publisher_.Client(directory_.path());
    options.full = true;
    const auto report = Sync(options, clock_);
    EXPECT_TRUE(report.has_value()) << report.error().message;
    auto catalog = Catalog::Open(file());
    EXPECT_TRUE(catalog.has_value()) << catalog.error().message;
    return std::move(*catalog);
  }
  std::filesystem::path file() const { return directory_.path() / "catalog.db"; }

  testing::TempDir directory_;
  testing::FakeClock clock_{kNow};
  testing::Publisher publisher_{kNow};
};

TEST_F(CatalogTest, NoFileMeansNotFoundWithTheWayOut) {
  const auto catalog = Catalog::Open(file());
  ASSERT_FALSE(catalog.has_value());
  EXPECT_EQ(catalog.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(catalog.error().message, HasSubstr("fieldcost sync"));
}

TEST_F(CatalogTest, AFileThatIsNotACatalogueIsCorrupt) {
  ASSERT_TRUE(WriteFileAtomically(file(), std::string(5000, 'x'), 0644).has_value());
  const auto catalog = Catalog::Open(file());
  ASSERT_FALSE(catalog.has_value());
  EXPECT_EQ(catalog.error().code, ErrorCode::kCorrupt);
}

TEST_F(CatalogTest, RowsComeBackBitForBitAndInKeyOrder) {
  std::vector<stats::StatRow> rows = testing::MakeRows(50, 1000);
  rows.push_back(MakeRow("libx.so.1", "f", 1, ~std::uint64_t{0}));
  rows.push_back(MakeRow("libx.so.1", "f", 3, 0, stats::Metric::kAllocInclusive));
  const Catalog catalog = Make(rows);
  std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.key < b.key; });
  const auto all = catalog.AllRows();
  ASSERT_TRUE(all.has_value());
  EXPECT_EQ(*all, rows);
}

TEST_F(CatalogTest, FindGivesAllVersionsAndMetricsOfASymbol) {
  stats::StatRow other_version = MakeRow("liba.so.1", "open_it", 7, 12);
  other_version.key.api.package_version = "9";
  const std::vector<stats::StatRow> rows = {
      MakeRow("liba.so.1", "open_it", 3, 10),
      MakeRow("liba.so.1", "open_it", 3, 20, stats::Metric::kAllocInclusive), other_version,
      MakeRow("libb.so.1", "open_it", 1, 30), MakeRow("liba.so.1", "open_it2", 1, 40)};
  const Catalog catalog = Make(rows);
  EXPECT_EQ(catalog.Find("open_it", "")->size(), 4U);
  EXPECT_EQ(catalog.Find("open_it", "liba.so.1")->size(), 3U);
  EXPECT_THAT(*catalog.Find("open_it", "libb.so.1"), ElementsAre(rows[3]));
  EXPECT_THAT(*catalog.Find("open", ""), IsEmpty());
}

TEST_F(CatalogTest, PrefixFindsNamesOnceAndStopsAtTheLimit) {
  const Catalog catalog = Make(
      {MakeRow("liba.so.1", "sqlite3_open", 3, 10),
       MakeRow("liba.so.1", "sqlite3_open", 3, 10, stats::Metric::kAllocInclusive),
       MakeRow("libb.so.1", "sqlite3_open", 3, 10), MakeRow("liba.so.1", "sqlite3_open_v2", 3, 10),
       MakeRow("liba.so.1", "sqlite3_step", 3, 10)});
  EXPECT_THAT(
      *catalog.FindPrefix("sqlite3_o", 10),
      ElementsAre("liba.so.1!sqlite3_open", "libb.so.1!sqlite3_open", "liba.so.1!sqlite3_open_v2"));
  EXPECT_EQ(catalog.FindPrefix("sqlite3_", 2)->size(), 2U);
  EXPECT_THAT(*catalog.FindPrefix("SQLITE", 10), IsEmpty());
}

TEST_F(CatalogTest, AMistypedNameFindsItsNeighboursBestFirst) {
  const Catalog catalog =
      Make({MakeRow("liba.so.1", "sqlite3_step", 3, 10),
            MakeRow("liba.so.1", "sqlite3_stmt", 3, 10), MakeRow("libz.so.1", "deflate", 3, 10)});
  EXPECT_THAT(*catalog.Nearest("sqlite3_stp", 5),
              ElementsAre("liba.so.1!sqlite3_step", "liba.so.1!sqlite3_stmt"));
  EXPECT_THAT(*catalog.Nearest("completely_else", 5), IsEmpty());
}

TEST_F(CatalogTest, FreshnessNamesTheStoredAndTheCurrentVersions) {
  const Catalog catalog = Make(testing::MakeRows(50, 1000), 3);
  const auto fresh = catalog.GetFreshness();
  ASSERT_TRUE(fresh.has_value());
  EXPECT_EQ(fresh->snapshot_version, 1U);
  EXPECT_EQ(fresh->snapshot_published, kNow);
  EXPECT_EQ(fresh->last_sync, kNow);
  EXPECT_EQ(fresh->fragments_total, 8U);
  EXPECT_EQ(fresh->fragments_present, 8U);
  EXPECT_EQ(fresh->fragments_current, 8U);
  EXPECT_EQ(fresh->row_count, 50U);
  EXPECT_EQ(fresh->contribution_threshold, 5U);
  EXPECT_FALSE(fresh->synthetic);
}

TEST_F(CatalogTest, EveryNameIsVisitedOnceUntilTheVisitorHasEnough) {
  std::vector<stats::StatRow> rows = testing::MakeRows(40, 5);
  rows.push_back(MakeRow("libz.so.1", "function_7", 3, 9));
  const Catalog catalog = Make(rows);
  std::vector<std::string> names;
  ASSERT_TRUE(catalog.ForEachName([&](std::string_view soname, std::string_view symbol) {
    names.push_back(fmt::format("{}!{}", soname, symbol));
    return true;
  }));
  EXPECT_EQ(names.size(), 41u);
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::unique(names.begin(), names.end()), names.end());
  EXPECT_TRUE(std::binary_search(names.begin(), names.end(), "libz.so.1!function_7"));
  int visits = 0;
  ASSERT_TRUE(catalog.ForEachName([&](auto, auto) { return ++visits < 3; }));
  EXPECT_EQ(visits, 3);
}

TEST_F(CatalogTest, AReaderKeepsItsViewWhileASyncWrites) {
  const Catalog before = Make(testing::MakeRows(20, 1000));
  const Catalog after = Make(testing::MakeRows(20, 5000));
  EXPECT_EQ((*before.Find("function_3", ""))[0].histogram.sum(), 4U * 5000U);
  EXPECT_EQ((*after.Find("function_3", ""))[0].histogram.sum(), 4U * 5000U);
}

TEST_F(CatalogTest, AThousandApisTakeLittleRoomOnDisk) {
  std::vector<stats::StatRow> rows;
  for (int i = 0; i < 1000; ++i) {
    stats::StatRow row = MakeRow("libsome.so.1", "some_function_" + std::to_string(i), 1, 900);
    for (std::uint64_t cost = 1000; cost < 9000; cost += 37) row.histogram.Add(cost);
    row.scalars = stats::ScalarsOf(row.histogram);
    row.weights = stats::WeightsOf(row.histogram);
    rows.push_back(row);
    row.key.metric = stats::Metric::kAllocInclusive;
    rows.push_back(row);
  }
  Make(rows, 4);
  const auto bytes_per_row = std::filesystem::file_size(file()) / rows.size();
  RecordProperty("bytes_per_row", static_cast<int>(bytes_per_row));
  EXPECT_LT(bytes_per_row, 300U);  // an index and the ranking repeat the name
}

std::vector<std::string> Names(const Result<std::vector<FoundApi>>& found) {
  std::vector<std::string> names;
  for (const FoundApi& api : found.value()) names.push_back(api.soname + "!" + api.symbol);
  return names;
}

class CatalogSearchTest : public CatalogTest {
 protected:
  const std::vector<stats::StatRow> rows_ = {
      MakeRow("libsqlite3.so.0", "sqlite3_step", 10, 100),        // 1,000 ns in total
      MakeRow("libsqlite3.so.0", "sqlite3_stmt_readonly", 1, 5),  // 5
      MakeRow("libz.so.1", "deflate", 3, 5000),                   // 15,000
      MakeRow("libz.so.1", "inflate", 3, 7000),                   // 21,000
      MakeRow("libz.so.1", "inflate", 1'000'000, 1, stats::Metric::kAllocInclusive),
      MakeRow("libz.so.1", "inflateEnd", 1, 1, stats::Metric::kAllocInclusive)};
};

TEST_F(CatalogSearchTest, FindsPartsOfNamesDearestFirst) {
  const Catalog catalog = Make(rows_);
  EXPECT_THAT(Names(catalog.Search({.pattern = "FLATE"})),
              ElementsAre("libz.so.1!inflate", "libz.so.1!deflate", "libz.so.1!inflateEnd"));
  EXPECT_THAT(Names(catalog.Search({.pattern = "*flate"})),
              ElementsAre("libz.so.1!inflate", "libz.so.1!deflate"));
  EXPECT_THAT(Names(catalog.Search({.pattern = "sqlite!st?"})), IsEmpty());
  EXPECT_THAT(Names(catalog.Search({.pattern = "sqlite!_st"})),
              ElementsAre("libsqlite3.so.0!sqlite3_step", "libsqlite3.so.0!sqlite3_stmt_readonly"));
  EXPECT_THAT(Names(catalog.Search({.library = "libz*", .limit = 1})),
              ElementsAre("libz.so.1!inflate"));
  EXPECT_THAT(Names(catalog.Search({.limit = 0})), IsEmpty());
  EXPECT_EQ((*catalog.Search({.pattern = "deflate"}))[0].total, stats::FieldCost{.ns = 15'000});
}

TEST_F(CatalogSearchTest, TotalsOverAllRunsSortBeforePartialOnes) {
  std::vector<stats::StatRow> rows = rows_;
  stats::StatRow drawn = rows_[2];
  drawn.key.metric = stats::Metric::kTimePerRun;
  drawn.key.api.symbol = "a_flate";
  drawn.histogram.Clear();
  drawn.histogram.Add(40, 256);
  drawn.scalars = ScalarsOf(drawn.histogram);
  drawn.weights = WeightsOf(drawn.histogram);
  drawn.bounded = BoundedSumsOf(drawn.histogram);
  drawn.fullest_quarter = {};
  rows.push_back(drawn);
  const Catalog catalog = Make(rows);
  const auto found = catalog.Search({.pattern = "*flate"});
  EXPECT_THAT(Names(found),
              ElementsAre("libz.so.1!a_flate", "libz.so.1!inflate", "libz.so.1!deflate"));
  EXPECT_EQ((*found)[0].total, (stats::FieldCost{.of_all_runs = true, .ns = 10 * 1024}));
}

TEST_F(CatalogSearchTest, ByNameTheLimitKeepsTheFirstNames) {
  const Catalog catalog = Make(rows_);
  EXPECT_THAT(Names(catalog.Search({.order = SearchOptions::Order::kName, .limit = 3})),
              ElementsAre("libz.so.1!deflate", "libz.so.1!inflate", "libz.so.1!inflateEnd"));
}

TEST_F(CatalogSearchTest, OneContributionCannotReachTheTop) {
  stats::RowKey key = rows_[2].key;
  key.api.symbol = "deflateEnd";
  const Catalog catalog = Make({rows_[0], rows_[2], rows_[3], testing::RowWithOneLiar(key)});
  const auto found = catalog.Search({.pattern = "*flate*"});
  EXPECT_THAT(Names(found),
              ElementsAre("libz.so.1!inflate", "libz.so.1!deflate", "libz.so.1!deflateEnd"));
}

TEST_F(CatalogSearchTest, CountsOfRowsFollowWhatIsPublished) {
  Make(rows_);
  const Catalog fewer = Make({rows_[0], rows_[2]});
  EXPECT_EQ(fewer.GetFreshness()->row_count, 2U);
  EXPECT_THAT(Names(fewer.Search({})),
              ElementsAre("libz.so.1!deflate", "libsqlite3.so.0!sqlite3_step"));
}

TEST_F(CatalogSearchTest, ALookUpLeavesNoView) {
  const Catalog reader = Make(rows_);
  ASSERT_EQ(reader.Find("deflate", "")->size(), 1U);
  ASSERT_EQ(reader.FindPrefix("in", 1)->size(), 1U);
  Make({MakeRow("libz.so.1", "deflate", 3, 9)});
  EXPECT_EQ((*reader.Find("deflate", ""))[0].histogram.sum(), 27U) << "sees what is newer";
}

TEST_F(CatalogTest, DoesNotTouchACatalogueOfAnotherVersion) {
  Make(testing::MakeRows(3, 1000));
  {
    auto database = sqlite::Database::Open(file(), sqlite::Database::Access::kWrite);
    ASSERT_TRUE(database->Execute("PRAGMA user_version=2").has_value());
  }
  EXPECT_EQ(Catalog::Open(file()).error().code, ErrorCode::kUnsupported);
  EXPECT_EQ(Sync(publisher_.Client(directory_.path()), clock_).error().code,
            ErrorCode::kUnsupported);
}

TEST(FragmentIndexTest, FewerBitsAreThePrefixOfMore) {
  // So a catalogue can replace rows of one division into fragments with those of another.
  for (int i = 0; i < 100; ++i) {
    const std::string symbol = "symbol_" + std::to_string(i);
    const std::uint32_t whole = wire::FragmentIndexOf("lib.so", symbol, wire::kMaxFragmentBits);
    for (unsigned bits = 0; bits <= wire::kMaxFragmentBits; ++bits) {
      EXPECT_EQ(wire::FragmentIndexOf("lib.so", symbol, bits),
                whole >> (wire::kMaxFragmentBits - bits));
    }
  }
}

}  // namespace
}  // namespace fieldcost::catalog
