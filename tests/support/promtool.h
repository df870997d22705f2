#pragma once

#include <filesystem>
#include <string>

#include "tests/support/process.h"

namespace fieldcost::testing {

// The path of Prometheus' promtool, which tests/run.sh unpacks; "" if it is missing.
inline std::string FindPromtool(const std::filesystem::path& source_dir) {
  for (const std::filesystem::path& path :
       {source_dir / "build/packages/prometheus/usr/bin/promtool",
        std::filesystem::path("/usr/bin/promtool")}) {
    if (std::filesystem::exists(path)) return path.string();
  }
  return "";
}

// Returns promtool's complaints about these metrics; "" if there are none.
inline std::string CheckMetrics(const std::string& promtool, const std::string& metrics) {
  const ProcessResult checked =
      RunProcess({.arguments = {promtool, "check", "metrics"}, .input = metrics});
  const std::string text = checked.output + checked.errors;
  return text.empty() && checked.exit_status != 0 ? "failed without a message" : text;
}

}  // namespace fieldcost::testing
