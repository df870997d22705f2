#include "tools/lsp/settings.h"

#include <gtest/gtest.h>

#include "tools/lsp/protocol.h"

namespace fieldcost::lsp {
namespace {

TEST(SettingsTest, MissingOrInvalidSettingsKeepTheirDefaults) {
  EXPECT_EQ(ParseSettings("{}"), Settings());
  EXPECT_EQ(ParseSettings("[]"), std::nullopt);
  EXPECT_EQ(ParseSettings("{\"fieldcost\": 3}"), std::nullopt);
  EXPECT_EQ(ParseSettings(R"({"hover": true, "completion": {"enabled": 1, "maxItems": 0},
                              "inlayHints": {"calls": {"minMicroseconds": -5}}, "x": null})"),
            Settings());
  EXPECT_EQ(ParseSettings(R"({"completion": {"maxItems": 201}})"), Settings());
}

TEST(SettingsTest, EverySettingOfTheTableIsRead) {
  const Settings all = {.hover = false,
                        .signatures = false,
                        .completion = false,
                        .completion_beside_others = true,
                        .completion_max_items = 7,
                        .completion_min_prefix = 1,
                        .hints = false,
                        .hint_current_line = false,
                        .hint_calls = false,
                        .calls_min_us = 1,
                        .hint_tail = false,
                        .tail_min_us = 2,
                        .tail_min_ratio = 3,
                        .hint_allocation = false,
                        .allocation_min_kib = 4,
                        .hint_io = false,
                        .io_min_kib = 5,
                        .diagnostics = true,
                        .drill_down_url = "https://h/{api}"};
  EXPECT_EQ(ParseSettings(R"({"fieldcost": {
      "hover": {"enabled": false},
      "signatureHelp": {"enabled": false},
      "completion": {"enabled": false, "besideOtherServers": true, "maxItems": 7, "minPrefix": 1},
      "inlayHints": {"enabled": false, "currentLine": {"enabled": false},
        "calls": {"enabled": false, "minMicroseconds": 1},
        "slowTail": {"enabled": false, "minMicroseconds": 2, "minRatio": 3.0},
        "allocation": {"enabled": false, "minKib": 4},
        "io": {"enabled": false, "minKib": 5}},
      "diagnostics": {"enabled": true},
      "drillDown": {"url": "https://h/{api}"}}})"),
            all);
}

}  // namespace
}  // namespace fieldcost::lsp
