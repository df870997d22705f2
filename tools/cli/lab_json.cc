#include "tools/cli/lab_json.h"

#include <boost/json.hpp>

#include "common/base/clock.h"
#include "common/draw/numbers.h"
#include "tools/cli/json_parts.h"
#include "tools/cli/lab_file.h"

namespace fieldcost::cli {
namespace {

namespace json = boost::json;

json::array PartsJson(const wire::LabTable& table) {
  json::array parts;
  for (const wire::LabPart& part : table.parts) {
    const WallTime started{std::chrono::microseconds(part.started_us)};
    parts.push_back(json::object{{"content_hash", Text(part.content_hash)},
                                 {"name", UntrustedText(part.name)},
                                 {"seed", Text(std::to_string(part.seed))},
                                 {"rounds", part.rounds},
                                 {"runs", part.runs},
                                 {"left_out", part.left_out},
                                 {"started", Text(draw::FormatTime(started))},
                                 {"environment", UntrustedText(part.environment)}});
  }
  return parts;
}

}  // namespace

std::string WrittenTableJson(const std::filesystem::path& file, std::uint64_t size_bytes,
                             const wire::LabTable& table) {
  return Print({{"file", UntrustedText(file.string())},
                {"size_bytes", size_bytes},
                {"api_count", table.apis.size()},
                {"calls", CallsOf(table)},
                {"parts", PartsJson(table)}});
}

}  // namespace fieldcost::cli
