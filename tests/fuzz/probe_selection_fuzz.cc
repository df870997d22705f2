#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/check.h"
#include "tools/cli/probe/event_selection.h"
#include "tools/cli/time_argument.h"

// A selection of events, typed by a user or by a script with external text: which, how much and
// when.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fieldcost;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto selection = cli::ParseEventSelection(text);
  if (selection) {
    for (const cli::EventName& name : selection->names) {
      FIELDCOST_CHECK(!name.digits.empty() && name.digits.size() <= (name.number ? 16 : 32));
      FIELDCOST_CHECK(name.digits.find_first_not_of("0123456789abcdef") == std::string::npos);
    }
    const bool has = selection->Has({.id = {.run = 0xabcdef0123456789, .number = 7},
                                     .label = "index_open",
                                     .build = "1.2",
                                     .tags = {"cold"},
                                     .session = 0xab});
    FIELDCOST_CHECK(!has || selection->program.empty());
  } else {
    const std::string& message = selection.error().message;
    FIELDCOST_CHECK(!message.empty() && message.find_first_of("\n\x1b\x07") == std::string::npos);
  }
  if (const auto percent = cli::ParsePercent(text))
    FIELDCOST_CHECK(*percent >= 0 && *percent <= 100);
  const WallTime now{std::chrono::sys_days{std::chrono::year{2026} / 11 / 23}};
  const auto time = cli::ParsePastTime(text, now);
  FIELDCOST_CHECK(time || time.error().message.find_first_of("\n\x1b") == std::string::npos);
  return 0;
}
