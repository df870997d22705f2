// What users type, and scripts with texts of others in it: a pattern and a name, a line each.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "agent/perf/counter.h"
#include "common/base/ascii.h"
#include "common/base/check.h"
#include "common/catalog/name_pattern.h"
#include "tests/fuzz/request_text.h"
#include "tools/analysis/row_selection.h"
#include "tools/cli/find_api.h"
#include "tools/cli/pick.h"
#include "tools/cli/time_argument.h"
#include "tools/cli/tree/operand.h"
#include "tools/report/link_template.h"

namespace {

using namespace fieldcost;

void CheckLinks(const std::string& first, const std::string& second) {
  const stats::ApiKey api{.soname = "libz.so.1", .symbol = second};
  if (report::CheckLinkTemplate(first)) {
    const std::string link = report::FillLink(first, api);
    FIELDCOST_CHECK(link.find_first_of("\"'<> \n\x1b") == std::string::npos);
  }
  const std::string link = report::FillUntrustedLink(first, api);
  const std::string start = LowerCase(link.substr(0, 8));
  FIELDCOST_CHECK(link.empty() || start.starts_with("http://") || start == "https://");
  FIELDCOST_CHECK(link.find_first_of("\"<>() []\n\x1b") == std::string::npos);
}

void CheckArguments(const std::string& text) {
  (void)cli::CheckApiName(text);
  (void)cli::PickGlobs(text);
  (void)cli::ResolvePick(text);
  if (const auto duration = cli::ParseDuration(text)) FIELDCOST_CHECK(duration->count() >= 0);
  if (const auto operand = cli::ParseTreeOperand(text)) {
    FIELDCOST_CHECK(operand->file.string().size() <= text.size());
  }
  if (const auto weeks = analysis::ParseWeeks(text)) FIELDCOST_CHECK(weeks->first <= weeks->last);
  (void)analysis::ParseMetric(text);
  if (const auto counters = perf::ParseCounters(text)) FIELDCOST_CHECK(!counters->empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::string first(fuzz::TakeLine(bytes));
  const std::string second(fuzz::TakeLine(bytes));
  (void)catalog::NamePattern(first).Matches("libz.so.1", second);
  (void)catalog::NamePattern(first).Matches(second, first);
  CheckLinks(first, second);
  CheckArguments(first);
  return 0;
}
