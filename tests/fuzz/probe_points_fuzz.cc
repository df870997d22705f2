// A project's file of probe points (probe.toml), and a plan as found in memory.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "agent/probe/probe_plan.h"
#include "common/base/check.h"
#include "common/base/file.h"
#include "common/shm/probe_file.h"
#include "tests/support/temp_dir.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fieldcost;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto points = probe::ParsePoints(bytes, "probe.toml")) {
    for (const probe::NamedPoint& point : points->named) {
      FIELDCOST_CHECK(!point.at.empty() && point.value <= 7);
    }
  } else {
    FIELDCOST_CHECK(points.error().message.find_first_of("\n\x1b") == std::string::npos);
  }
  static const testing::TempDir directory{testing::kMemory};
  FIELDCOST_CHECK(
      WriteFileAtomically(directory.path() / shm::kProbePlanName, bytes, 0600).has_value());
  if (const auto plan = probe::ReadPlan(directory.path())) {
    FIELDCOST_CHECK(plan->session != 0 && plan->tags.size() <= shm::kMaxProbeTags);
  }
  return 0;
}
