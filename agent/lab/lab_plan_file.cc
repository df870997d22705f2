// Writes the lab's plan; common/shm/lab_file.h defines its layout.
#include "agent/lab/lab_plan_file.h"

#include <algorithm>
#include <cstring>

#include "common/base/file.h"

namespace fieldcost::lab {

Status WritePlan(const std::filesystem::path& directory, PlanFile plan) {
  std::sort(plan.entries.begin(), plan.entries.end(),
            [](const auto& a, const auto& b) { return a.api_hash < b.api_hash; });
  shm::LabPlanHeader header{};
  const std::size_t entry_bytes = plan.entries.size() * sizeof(shm::LabPlanEntry);
  const std::size_t size = sizeof header + entry_bytes + plan.globs.size() + 1;
  if (size > shm::kMaxLabPlanBytes || plan.entries.size() > shm::kLabApis) {
    return Fail(ErrorCode::kTooLarge, "a plan of {} APIs takes {} bytes, at most {}",
                plan.entries.size(), size, shm::kMaxLabPlanBytes);
  }
  std::memcpy(header.magic, shm::kLabPlanMagic, sizeof header.magic);
  header.version = shm::kLabVersion;
  header.mode = plan.mode;
  header.size_bytes = size;
  header.tsc_to_ns_multiplier = plan.tsc_to_ns_multiplier;
  header.entry_count = static_cast<std::uint32_t>(plan.entries.size());
  header.glob_bytes = static_cast<std::uint32_t>(plan.globs.size() + 1);
  header.data_slots = plan.data_slots ? 1 : 0;
  std::string bytes(size, '\0');
  std::memcpy(bytes.data(), &header, sizeof header);
  std::memcpy(bytes.data() + sizeof header, plan.entries.data(), entry_bytes);
  std::memcpy(bytes.data() + sizeof header + entry_bytes, plan.globs.data(), plan.globs.size());
  return WriteFileAtomically(directory / shm::kLabPlanName, bytes, 0600);
}

}  // namespace fieldcost::lab
