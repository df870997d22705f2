#include "common/tree/tree_metric.h"

#include "common/base/ascii.h"
#include "common/base/text.h"
#include "common/tree/tree_limits.h"

namespace fieldcost::tree {

std::string_view Name(Unit unit) {
  switch (unit) {
    case Unit::kNanoseconds:
      return "ns";
    case Unit::kCount:
      return "count";
    case Unit::kBytes:
      return "bytes";
  }
  return "";
}

Status Validate(const Metric& untrusted_metric) {
  const std::string& name = untrusted_metric.name;
  const bool is_name =
      !name.empty() && name.size() <= kMaxMetricNameBytes && AreAll(name, [](char c) {
        return IsLowerLetter(c) || IsDigit(c) || c == '-' || c == '_' || c == '.';
      });
  if (is_name && !Name(untrusted_metric.unit).empty()) return {};
  return Fail(ErrorCode::kInvalidArgument, "\"{}\" with unit {} is not a metric",
              EscapeControl(name.substr(0, kMaxMetricNameBytes)),
              static_cast<unsigned>(untrusted_metric.unit));
}

}  // namespace fieldcost::tree
