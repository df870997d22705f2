#include <set>

#include "common/base/text.h"
#include "tools/cli/commands.h"
#include "tools/cli/freshness_text.h"
#include "tools/cli/json_output.h"
#include "tools/cli/source.h"
#include "tools/cli/terminal_io.h"

namespace fieldcost::cli {
namespace {

struct ApiName {
  std::string_view soname;  // empty = any
  std::string_view symbol;
};

Result<ApiName> ParseName(std::string_view text) {
  const std::size_t mark = text.find('!');
  const ApiName name = mark == std::string_view::npos
                           ? ApiName{"", text}
                           : ApiName{text.substr(0, mark), text.substr(mark + 1)};
  if (name.symbol.empty() || mark == 0) {
    return Fail(ErrorCode::kInvalidArgument, "'{}' is neither a symbol nor soname!symbol",
                EscapeControl(text));
  }
  return name;
}

template <typename Names>
std::string Join(const Names& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

Error Unknown(const std::string& name, const std::vector<std::string>& suggestions,
              const std::optional<catalog::Freshness>& freshness) {
  std::string why = fmt::format("no measurements of {}", name);
  if (!suggestions.empty()) why += fmt::format("; did you mean {}?", Join(suggestions));
  if (freshness && freshness->fragments_current < freshness->fragments_total) {
    why += " (the local catalogue is not complete: fieldcost sync --full)";
  }
  return Fail(ErrorCode::kNotFound, "{}", why);
}

}  // namespace

Result<int> Run(const ShowCommand& command, const Output& output) {
  FIELDCOST_ASSIGN(const ApiName name, ParseName(command.api));
  FIELDCOST_ASSIGN(const Source source, Source::Open(command.local));
  FIELDCOST_ASSIGN(const std::vector<stats::StatRow> rows, source.Find(name.symbol, name.soname));
  if (rows.empty()) {
    FIELDCOST_ASSIGN(const std::vector<std::string> suggestions, source.Suggest(name.symbol));
    return Unknown(command.api, suggestions, source.freshness());
  }
  std::set<std::string> candidates;
  for (const stats::StatRow& row : rows) candidates.insert(stats::DisplayName(row.key.api));
  if (candidates.size() > 1) {
    return Fail(ErrorCode::kInvalidArgument, "{} is in several libraries; choose one: {}",
                command.api, Join(candidates));
  }
  const std::vector<report::CostSummary> summaries = report::Summarise(rows);
  if (output.json) {
    FIELDCOST_TRY(WriteStdout(RowsJson(summaries, source.freshness())));
    return 0;
  }
  std::string text;
  for (const report::CostSummary& summary : summaries) {
    text += report::CostDetail(summary, output.style) + "\n";
  }
  if (source.freshness()) text += FreshnessText(*source.freshness(), SystemClock().Now());
  FIELDCOST_TRY(WriteStdout(text));
  return 0;
}

}  // namespace fieldcost::cli
