#include "tools/report/lab/lab_library_names.h"

#include <algorithm>

namespace fieldcost::report {
namespace {

constexpr std::size_t kBuildIdDigits = 8;

}  // namespace

LibraryNames::LibraryNames(std::span<const analysis::LabCost> costs) {
  for (const analysis::LabCost& cost : costs) {
    const stats::ApiKey& api = cost.summary.api;
    builds_[api.soname].emplace(api.package_version, api.build_id);
  }
}

std::string LibraryNames::Of(const stats::ApiKey& untrusted_api) const {
  const auto found = builds_.find(untrusted_api.soname);
  if (found == builds_.end() || found->second.size() < 2) return untrusted_api.soname;
  const auto of_version = std::ranges::count_if(found->second, [&](const auto& build) {
    return build.first == untrusted_api.package_version;
  });
  std::string name = untrusted_api.soname;
  if (!untrusted_api.package_version.empty()) name += " " + untrusted_api.package_version;
  if (of_version > 1 || untrusted_api.package_version.empty()) {
    const std::string build = untrusted_api.build_id.substr(0, kBuildIdDigits);
    name += build.empty() ? " without build-id" : " build " + build;
  }
  return name;
}

}  // namespace fieldcost::report
