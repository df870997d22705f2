// Groups of the vendor report, by every kind: they partition the APIs, and their distributions are
// exactly the sums of the APIs'.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "tests/tools/analysis/vendor_fleet.h"
#include "tools/analysis/name_prefix.h"

namespace fieldcost::analysis {
namespace {

using ::testing::Each;
using ::testing::UnorderedElementsAre;

constexpr std::array kAllKinds = {GroupBy::kModule, GroupBy::kNamespace, GroupBy::kBoth,
                                  GroupBy::kPrefix, GroupBy::kHeader};
const HeaderOf kHeaders = {{"png_read", "png.h"},
                           {"png_write", "png.h"},
                           {"crc32", "checksum/crc.h"},
                           {"unmeasured", "png.h"}};

std::vector<stats::StatRow> RandomRows(std::mt19937& random, const std::string& soname,
                                       const std::string& symbol) {
  VersionFleet fleet(static_cast<unsigned>(random()));
  std::vector<stats::StatRow> rows;
  for (const char* version : {"1.0", "2.0"}) {
    if (random() % 4 == 0) continue;
    VersionFleet::Wish wish{.symbol = symbol,
                            .version = version,
                            .octaves = 4.0 + static_cast<double>(random() % 24),
                            .machines = 1 + static_cast<int>(random() % 4)};
    if (random() % 5 == 0) wish.metric = stats::Metric::kCallsPerRun;  // no time is known
    rows.push_back(fleet.Row(wish));
    rows.back().key.api.soname = soname;
  }
  return rows;
}

VendorReport RandomReport(unsigned seed, GroupBy by, stats::Whose whose) {
  std::mt19937 random(seed);
  VendorReportBuilder builder("lib*", by, whose);
  for (const char* soname : {"liba.so.1", "libb.so.2"}) {
    builder.Begin({.soname = soname, .versions = {"1.0", "2.0"}, .before = "1.0", .after = "2.0"});
    for (const char* symbol :
         {"png_read", "png_write", "png_free", "crc32", "inflate", "inflateEnd", "inflateInit_",
          "gzopen", "_ZN1z6Stream4readEv", "_ZN1z6Stream5writeEv", "_ZN3bad", ""}) {
      if (random() % 5 != 0) builder.Add(RandomRows(random, soname, symbol));
    }
  }
  return builder.Finish(kHeaders);
}

// The expected group of an API.
std::string ExpectedName(const VendorReport& report, const VendorApi& api) {
  const std::string& soname = report.libraries[api.library].soname;
  switch (report.by) {
    case GroupBy::kModule:
      return soname;
    case GroupBy::kNamespace:
      return api.name_space;
    case GroupBy::kBoth:
      return soname + ", " + api.name_space;
    case GroupBy::kHeader: {
      const auto found = kHeaders.find(api.symbol);
      return found == kHeaders.end() ? std::string(kUnknownHeader) : found->second;
    }
    case GroupBy::kPrefix:
      break;
  }
  std::set<std::string> names;
  for (const VendorApi& one : report.apis) {
    if (!one.symbol.starts_with("_Z")) names.insert(one.symbol);
  }
  return names.contains(api.symbol) ? GroupByPrefix(names).at(api.symbol) : api.name_space;
}

void ExpectSameBits(const stats::ApiSums& a, const stats::ApiSums& b) {
  EXPECT_EQ(a.histogram, b.histogram);
  EXPECT_EQ(a.scalars, b.scalars);
  EXPECT_EQ(a.weights, b.weights);
  EXPECT_EQ(a.bounded, b.bounded);
}

TEST(VendorGroupsTest, EveryKindPartitionsTheApisAndSumsAreExact) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    const stats::Whose whose = seed % 2 == 0 ? stats::Whose::kField : stats::Whose::kOwn;
    stats::ApiSums whole;
    for (const GroupBy by : kAllKinds) {
      const VendorReport report = RandomReport(seed, by, whose);
      std::vector<stats::ApiSums> sums(report.groups.size());
      std::vector<std::size_t> apis(report.groups.size());
      std::vector<std::size_t> timed(report.groups.size());
      // In reverse: the order does not matter.
      for (std::size_t i = report.apis.size(); i-- > 0;) {
        const VendorApi& api = report.apis[i];
        ASSERT_LT(api.group, report.groups.size());
        EXPECT_EQ(NameOf(report.groups[api.group]), ExpectedName(report, api));
        sums[api.group].Merge(api.sums);
        ++apis[api.group];
        timed[api.group] += api.version.empty() ? 0U : 1U;
      }
      stats::ApiSums all;
      for (std::size_t i = 0; i < report.groups.size(); ++i) {
        const VendorGroup& group = report.groups[i];
        ExpectSameBits(group.sums, sums[i]);
        EXPECT_EQ(group.apis, apis[i]);
        EXPECT_EQ(group.timed_apis, timed[i]);
        EXPECT_EQ(group.time.quantiles.has_value(), timed[i] != 0);
        EXPECT_EQ(draw::FindUsedSlots(group.bars).has_value(), timed[i] != 0);
        all.Merge(group.sums);
      }
      // All kinds divide the same sum.
      if (by == kAllKinds.front()) whole = all;
      ExpectSameBits(all, whole);
    }
  }
}

TEST(VendorGroupsTest, AGroupOfOneApiHasItsFigures) {
  VersionFleet fleet(3);
  VendorReportBuilder builder("libz.so.1", GroupBy::kHeader);
  builder.Begin(kLibrary);
  builder.Add(VendorRows(fleet, "crc32", 10, 11));
  const VendorReport report = builder.Finish(kHeaders);
  ASSERT_EQ(report.groups.size(), 1U);
  const VendorGroup& group = report.groups[0];
  const VendorApi& api = report.apis[0];
  EXPECT_EQ(NameOf(group), "checksum/crc.h");
  EXPECT_EQ(group.time.quantiles->p50.estimate, api.time.quantiles->p50.estimate);
  EXPECT_EQ(group.time.quantiles->p99.high, api.time.quantiles->p99.high);
  EXPECT_EQ(group.time.sum, api.time.sum);
  EXPECT_EQ(group.time.all_calls.has_value(), api.time.all_calls.has_value());
  EXPECT_EQ(group.bars.heights, api.bars.heights);
}

// One machine made 2^40 calls of crc32, so figures of all its calls are not shown.
TEST(VendorGroupsTest, FiguresOfAllCallsNeedThoseOfEachApi) {
  for (const double octaves : {4.0, 20.0}) {  // crc32 is the cheapest, or the most expensive
    VersionFleet fleet(5);
    VendorReportBuilder builder("libz.so.1", GroupBy::kModule);
    builder.Begin(kLibrary);
    stats::StatRow row = fleet.Row({.symbol = "crc32", .version = "2.0", .octaves = octaves});
    row.histogram.Add(1024, std::uint64_t{1} << 40);
    builder.Add(std::vector{row});
    for (const char* symbol : {"adler32", "gzopen"}) {
      builder.Add(std::vector{fleet.Row({.symbol = symbol, .version = "2.0"})});
    }
    const VendorGroup group = builder.Finish().groups[0];
    EXPECT_EQ(group.timed_apis, 3U);
    EXPECT_TRUE(group.time.few_machines);
    EXPECT_FALSE(group.time.all_calls);
    EXPECT_TRUE(group.time.quantiles);
  }
}

TEST(VendorGroupsTest, WithoutHeadersAllAreUnknown) {
  VersionFleet fleet(4);
  VendorReportBuilder builder("libz.so.1", GroupBy::kHeader);
  builder.Begin(kLibrary);
  builder.Add(VendorRows(fleet, "crc32", 10, 11));
  std::vector<std::string> names;
  for (const VendorGroup& group : builder.Finish().groups) names.push_back(NameOf(group));
  EXPECT_THAT(names, Each(std::string(kUnknownHeader)));
}

TEST(VendorGroupsTest, CxxNamesAreGroupedByNamespaceNextToPrefixes) {
  std::vector<std::string> names;
  for (const VendorGroup& group : ZlibReport(GroupBy::kPrefix).groups) {
    names.push_back(NameOf(group));
  }
  EXPECT_THAT(names, UnorderedElementsAre("(other)", "z::Stream"));  // two are too few for z_
}

}  // namespace
}  // namespace fieldcost::analysis
