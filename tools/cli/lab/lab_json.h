#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <filesystem>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "common/wire/lab_table.h"
#include "tools/analysis/coverage.h"
#include "tools/analysis/lab_change.h"
#include "tools/analysis/lab_cost.h"
#include "tools/analysis/lab_counts.h"
#include "tools/analysis/requirement.h"

namespace fieldcost::cli {

// The --json output of commands about lab tables. Names are stable; ../JSON.md describes them.

// The output of `merge` about the table it has written.
std::string WrittenTableJson(const std::filesystem::path& file, std::uint64_t size_bytes,
                             const wire::LabTable& table);

// Which exported functions were called.
boost::json::object CoverageJson(const analysis::Coverage& coverage);

// The rows of `measure`, `top --table` and `show --table`, and for `measure` also what it left out
// and the coverage; nullptr = null.
std::string LabJson(const std::vector<analysis::LabCost>& costs,
                    std::span<const wire::LabPart> parts,
                    const std::set<std::string>& untrusted_left_out_apis = {},
                    const analysis::Coverage* coverage = nullptr);

struct LabDiffContent {
  std::string lead;  // report::LabDiffLead()
  std::span<const analysis::LabChange> times;
  const analysis::LabCounts& counts;
  std::span<const wire::LabPart> before;
  std::span<const wire::LabPart> after;
};
std::string LabDiffJson(const LabDiffContent& content);

// `measure --require`.
std::string RequirementJson(std::span<const analysis::JudgedRequirement> judged,
                            std::span<const wire::LabPart> parts);

}  // namespace fieldcost::cli
