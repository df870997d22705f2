#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "common/catalog/catalog_sync.h"
#include "tests/common/catalog/publisher.h"
#include "tests/support/fake_clock.h"
#include "tests/support/temp_dir.h"
#include "tests/tools/lsp/lsp_client.h"

namespace fieldcost::lsp {

// A home directory with a catalogue that was really synced.
class LspTest : public ::testing::Test {
 protected:
  void PublishAndSync(const std::vector<stats::StatRow>& rows, bool synthetic = false) {
    publisher_.snapshot.synthetic = synthetic;
    const WallTime now = SystemClock().Now();
    publisher_.Publish(rows, 2, now);
    catalog::SyncOptions options = publisher_.Client(home());
    options.full = true;
    const auto report = catalog::Sync(options, SystemClock());
    ASSERT_TRUE(report.has_value()) << report.error().message;
  }
  const std::filesystem::path& home() const { return directory_.path(); }

  static boost::json::object At(const std::string& uri, int line, int character) {
    return {{"textDocument", boost::json::object{{"uri", uri}}},
            {"position", boost::json::object{{"line", line}, {"character", character}}}};
  }
  static boost::json::object In(const std::string& uri, int first_line, int last_line) {
    return {
        {"textDocument", boost::json::object{{"uri", uri}}},
        {"range",
         boost::json::object{{"start", boost::json::object{{"line", first_line}, {"character", 0}}},
                             {"end", boost::json::object{{"line", last_line}, {"character", 0}}}}},
        {"context", boost::json::object{{"diagnostics", boost::json::array{}}}}};
  }
  // The hover text at this position; "" if none.
  static std::string Hover(LspClient& client, const std::string& uri, int line, int character) {
    const boost::json::value result = client.Result("textDocument/hover", At(uri, line, character));
    if (!result.is_object()) return "";
    return boost::json::value_to<std::string>(result.at("contents").at("value"));
  }
  static boost::json::value Json(const char* text) { return boost::json::parse(text); }

  static std::vector<stats::StatRow> Rows() {
    using testing::MakeRow;
    return {MakeRow("libfast.so.1", "open_it", 300, 1500),
            MakeRow("libfast.so.1", "open_it_again", 300, 900),
            MakeRow("libslow.so.1", "slow_call", 100, 2'500'000),
            MakeRow("libslow.so.1", "hungry", 100, 10'000),
            MakeRow("libslow.so.1", "hungry", 100, 1 << 20, stats::Metric::kAllocInclusive),
            MakeRow("libslow.so.1", "chatty", 100, 10'000),
            MakeRow("libslow.so.1", "chatty", 100, 8192, stats::Metric::kDiskRead),
            MakeRow("liba.so.1", "twin", 50, 700),
            MakeRow("libb.so.2", "twin", 50, 7'000'000),
            MakeRow("libcv.so.4", "_ZN2cv6resizeEii", 50, 3000),
            MakeRow("libcv.so.4", "_ZN2cv6resizeEd", 50, 400'000),
            MakeRow("libcv.so.4", "_Z9stand_onei", 50, 60),
            MakeRow("libevil.so.1", "A<\"><img>", 50, 60)};
  }

  testing::TempDir directory_;
  testing::Publisher publisher_{SystemClock().Now()};
};

}  // namespace fieldcost::lsp
