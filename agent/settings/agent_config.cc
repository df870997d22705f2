#include "agent/settings/agent_config.h"

#include <algorithm>
#include <array>
#include <bit>
#include <string_view>

#include "common/base/text.h"
#include "common/base/units.h"
#include "common/config/toml_file.h"
#include "common/shm/policy_file.h"
#include "common/wire/wire_limits.h"

namespace fieldcost::settings {
namespace {

constexpr std::uint64_t kMinBatchBytes = 1024;
// A compressed batch of this size cannot exceed the wire's cap, even if zstd gains nothing.
constexpr std::uint64_t kMaxBatchBytes = 192 * kKiB;
static_assert(kMaxBatchBytes < wire::kMaxBatchBodyBytes);
constexpr std::uint64_t kMaxBatchAgeHours = 24 * 28;
constexpr std::uint64_t kMaxLoadPercent = 10'000;
constexpr std::uint64_t kMaxPressurePercent = 200;  // half of it is 100: never a busy machine
constexpr double kMaxOverheadPercent = 100;
constexpr std::uint64_t kMaxRunFileLimit = 4096;
constexpr std::uint64_t kMaxPhaseMinutes = 60 * 24 * 28;
constexpr std::uint64_t kMaxSampling = std::uint64_t{1} << shm::kMaxSamplingLog2;
constexpr std::uint64_t kMaxExtraModules = 256;
// The aggregator accepts rows up to five weeks old.
constexpr std::uint64_t kMaxSpoolAgeDays = 28;
constexpr std::uint64_t kMaxSpoolLimitBytes = 1024 * kMiB;

// The keys that the service's policy may set unless the user has set them.
constexpr std::array<std::string_view, 15> kPolicyKeys = {"selection.selection_probability",
                                                          "selection.picks_per_run",
                                                          "selection.alloc_probability",
                                                          "selection.io_probability",
                                                          "selection.cycles_probability",
                                                          "selection.max_programs",
                                                          "selection.max_load_per_core_percent",
                                                          "selection.max_cpu_pressure_percent",
                                                          "selection.overhead_percent",
                                                          "selection.max_run_files",
                                                          "selection.phase_minutes",
                                                          "selection.max_phases",
                                                          "selection.sampling",
                                                          "batch.max_batch_bytes",
                                                          "batch.max_batch_age_hours"};

bool IsSoname(std::string_view text) {
  if (text.empty() || text.size() > wire::kMaxSonameBytes) return false;
  for (const char c : text) {
    if (c <= ' ' || c > '~' || c == '/') return false;
  }
  return true;
}

}  // namespace

Result<AgentConfig> AgentConfig::Load(const std::filesystem::path& path) {
  AgentConfig config;
  auto file = config::TomlFile::Load(path);
  if (!file) {
    if (file.error().code == ErrorCode::kNotFound) return config;
    return file.error();
  }
  file->ReadString("aggregator.url", config.url);
  file->ReadPath("aggregator.ca_file", config.ca_file);
  file->ReadString("aggregator.proxy", config.proxy);
  file->ReadBool("aggregator.download_policy", config.download_policy);
  file->ReadUint("batch.max_batch_bytes", kMinBatchBytes, kMaxBatchBytes, config.max_batch_bytes);
  file->ReadUint("batch.max_batch_age_hours", 1, kMaxBatchAgeHours, config.max_batch_age_hours);
  file->ReadDouble("selection.selection_probability", 0, 1, config.selection_probability);
  file->ReadUint("selection.picks_per_run", 1, shm::kMaxPicks, config.picks_per_run);
  file->ReadDouble("selection.alloc_probability", 0, 1, config.alloc_probability);
  file->ReadUint("selection.max_load_per_core_percent", 0, kMaxLoadPercent,
                 config.max_load_per_core_percent);
  file->ReadDouble("selection.io_probability", 0, 1, config.io_probability);
  file->ReadDouble("selection.cycles_probability", 0, 1, config.cycles_probability);
  file->ReadUint("selection.max_programs", 0, shm::kMaxLeases, config.max_programs);
  file->ReadUint("selection.max_cpu_pressure_percent", 0, kMaxPressurePercent,
                 config.max_cpu_pressure_percent);
  file->ReadDouble("selection.overhead_percent", 0, kMaxOverheadPercent, config.overhead_percent);
  file->ReadUint("selection.phase_minutes", 0, kMaxPhaseMinutes, config.phase_minutes);
  file->ReadUint("selection.max_phases", 1, shm::kMaxPicks, config.max_phases);
  file->ReadUint("selection.sampling", 1, kMaxSampling, config.sampling);
  if (!std::has_single_bit(config.sampling)) {
    file->Refuse("selection.sampling", "not a power of two");
  }
  file->ReadBool("selection.data_slots", config.data_slots);
  file->ReadUint("selection.max_run_files", 1, kMaxRunFileLimit, config.max_run_files);
  file->ReadBool("modules.builtin_modules", config.builtin_modules);
  file->ReadStrings("modules.extra_modules", config.extra_modules);
  file->ReadUint("spool.max_spool_bytes", kMaxBatchBytes, kMaxSpoolLimitBytes,
                 config.max_spool_bytes);
  file->ReadUint("spool.max_spool_age_days", 1, kMaxSpoolAgeDays, config.max_spool_age_days);
  file->ReadUint("spool.max_sent_bytes", 0, kMaxSpoolLimitBytes, config.max_sent_bytes);
  file->ReadBool("upload.on_battery", config.on_battery);
  file->ReadBool("upload.on_metered", config.on_metered);
  if (!config.url.empty() && !config.url.starts_with("https://")) {
    file->Refuse("aggregator.url", "only https:// addresses are accepted");
  }
  if (config.extra_modules.size() > kMaxExtraModules) {
    file->Refuse("modules.extra_modules", "more than 256 modules");
  }
  for (const std::string& module : config.extra_modules) {
    if (IsSoname(module)) continue;
    file->Refuse("modules.extra_modules",
                 "each entry is a soname such as \"libfoo.so.1\", at most 63 bytes");
    break;
  }
  for (const std::string_view key : kPolicyKeys) {
    if (file->Has(key)) config.written.emplace(key);
  }
  FIELDCOST_TRY(file->Finish());
  return config;
}

}  // namespace fieldcost::settings
