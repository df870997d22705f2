#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "common/catalog/catalog.h"
#include "common/catalog/catalog_sync.h"
#include "tests/common/catalog/publisher.h"
#include "tests/support/fake_clock.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::catalog {

inline constexpr WallTime kNow{std::chrono::hours(24 * 20'000)};
inline constexpr std::chrono::hours kDay{24};

// A publishing server and a catalogue that syncs with it, on a clock that the test controls.
class SyncTest : public ::testing::Test {
 protected:
  Result<SyncReport> SyncNow(bool full, const std::string& wanted_api = "") {
    SyncOptions options = publisher_.Client(directory_.path());
    options.full = full;
    options.wanted_api = wanted_api;
    return Sync(options, clock_);
  }

  // Afterwards there is a complete catalogue, and all of its 16 fragments are stale, a day later.
  void FetchThenPublishAgain() {
    publisher_.Publish(testing::MakeRows(100, 10), 4, clock_.Now());
    ASSERT_TRUE(SyncNow(true).has_value());
    clock_.Advance(kDay);
    publisher_.Publish(testing::MakeRows(100, 1000), 4, clock_.Now());
    publisher_.TakeRequests();
  }

  void ExpectRefused(ErrorCode code, const std::string& why) {
    const auto report = SyncNow(true);
    ASSERT_FALSE(report.has_value());
    EXPECT_EQ(report.error().code, code) << report.error().message;
    EXPECT_THAT(report.error().message, ::testing::HasSubstr(why));
  }

  // The total cost of function_<i>, which has i + 1 calls; 0 if it is missing.
  std::uint64_t SumOf(unsigned i) {
    auto catalog = Catalog::Open(directory_.path() / "catalog.db");
    if (!catalog) return 0;
    const auto rows = catalog->Find("function_" + std::to_string(i), "");
    if (!rows || rows->empty()) return 0;
    EXPECT_EQ(rows->size(), 1U);
    return stats::Low64((*rows)[0].histogram.sum());
  }

  Freshness Fresh() {
    auto catalog = Catalog::Open(directory_.path() / "catalog.db");
    return catalog ? *catalog->GetFreshness() : Freshness{};
  }
  StoredRefresh Stored() const {
    return LoadRefresh(directory_.path() / "catalog.db").value_or(StoredRefresh());
  }

  testing::TempDir directory_;
  testing::FakeClock clock_{kNow};
  testing::Publisher publisher_{kNow};
};

}  // namespace fieldcost::catalog
