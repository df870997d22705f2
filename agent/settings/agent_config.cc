#include "agent/settings/agent_config.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <string_view>
#include <utility>

#include "common/base/ascii.h"
#include "common/base/file.h"
#include "common/base/text.h"
#include "common/base/units.h"
#include "common/config/toml_file.h"
#include "common/shm/policy_file.h"
#include "common/wire/batch.h"
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
constexpr std::size_t kMaxMirrors = 16;
constexpr std::size_t kMaxPresets = 64;
constexpr std::size_t kMaxIdMapBytes = 64 * kKiB;
constexpr uid_t kOverflowUser = 65534;  // /proc/sys/kernel/overflowuid, unless changed
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

void ReadService(config::TomlFile& file, AgentConfig& config) {
  std::string url;
  file.ReadString("aggregator.url", url);
  if (!url.empty() && !url.starts_with("https://")) {
    file.Refuse("aggregator.url", "only https:// addresses are accepted");
  }
  if (!url.empty() && url != config.url) {
    config.url = std::move(url);
    config.ca_file.clear();
    config.root_sha256.clear();
    config.catalog_urls.clear();
    config.catalog_ca_file.clear();
  }
  file.ReadPath("aggregator.ca_file", config.ca_file);
  file.ReadString("aggregator.root_sha256", config.root_sha256);
  if (!config.root_sha256.empty() && !IsHexSha256(config.root_sha256)) {
    file.Refuse("aggregator.root_sha256", "expected 64 lower-case hexadecimal digits");
  }
}

void ReadMirrors(config::TomlFile& file, AgentConfig& config) {
  file.ReadStrings("catalog.urls", config.catalog_urls);
  file.ReadPath("catalog.ca_file", config.catalog_ca_file);
  if (config.catalog_urls.size() > kMaxMirrors) {
    file.Refuse("catalog.urls", "more than 16 addresses");
  }
  for (const std::string& url : config.catalog_urls) {
    if (url.starts_with("https://")) continue;
    file.Refuse("catalog.urls", "only https:// addresses are accepted");
    break;
  }
}

enum class FileOf { kUser, kInstaller };

// Overrides the settings by those of a file; none if it does not exist.
Status Override(const std::filesystem::path& path, FileOf file_of, AgentConfig& config) {
  auto file = config::TomlFile::Load(path);
  if (!file) {
    if (file.error().code == ErrorCode::kNotFound) return {};
    return file.error();
  }
  ReadService(*file, config);
  ReadMirrors(*file, config);
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
  if (file_of == FileOf::kInstaller && file->Has("modules.extra_modules")) {
    file->Refuse("modules.extra_modules", "only each user's own agent.toml may name libraries");
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
  return file->Finish();
}

// Whether files of root, and only of users without an id here, appear as the overflow user's: the
// unit of fieldcostd (PrivateUsers=) runs in a user namespace that has only the user's own id.
// /proc/self/uid_map has lines "FIRST_ID FIRST_ID_OUTSIDE COUNT".
bool IsRootWithoutId() {
  const auto id_map = ReadFile("/proc/self/uid_map", kMaxIdMapBytes);
  if (!id_map) return false;
  for (const std::string_view line : Split(*id_map, "\n")) {
    std::vector<std::uint64_t> numbers;
    for (const std::string_view word : Split(line, " ")) {
      if (const auto number = ParseUint64(word)) numbers.push_back(*number);
    }
    if (numbers.size() != 3) continue;
    const bool has_overflow_user =
        kOverflowUser >= numbers[0] && kOverflowUser - numbers[0] < numbers[2];
    if (numbers[1] == 0 || has_overflow_user) return false;
  }
  return true;
}

Status CheckPreset(const std::filesystem::path& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return ErrnoError("inspect the preset", path, errno);
  const bool is_ours = info.st_uid == 0 || info.st_uid == ::geteuid() ||
                       (info.st_uid == kOverflowUser && IsRootWithoutId());
  if (is_ours && (info.st_mode & (S_IWGRP | S_IWOTH)) == 0) return {};
  return Fail(ErrorCode::kPermissionDenied,
              "the preset {} could be changed by other users than root; run chown root: and chmod "
              "go-w on it",
              path.string());
}

// Ascending by name.
Result<std::vector<std::filesystem::path>> Presets(const std::filesystem::path& directory) {
  std::vector<std::filesystem::path> presets;
  std::error_code error;
  if (!std::filesystem::exists(directory, error) && !error) return presets;
  for (auto it = std::filesystem::directory_iterator(directory, error);
       !error && it != std::filesystem::directory_iterator(); it.increment(error)) {
    if (it->path().extension() == ".toml") presets.push_back(it->path());
  }
  if (error) return ErrnoError("list the presets in", directory, error.value());
  if (presets.size() > kMaxPresets) {
    return Fail(ErrorCode::kTooLarge, "{} has {} presets, at most {} are accepted",
                directory.string(), presets.size(), kMaxPresets);
  }
  std::sort(presets.begin(), presets.end());
  return presets;
}

}  // namespace

std::string AgentConfig::HowToJoin() const {
  if (suggested.url.empty()) return "join one with fieldcost agent join URL";
  return fmt::format("join {}, which an installer suggests, with fieldcost agent on",
                     EscapeControl(suggested.url));
}

Result<AgentConfig> AgentConfig::Load(const std::filesystem::path& path) {
  AgentConfig config;
  FIELDCOST_TRY(Override(path, FileOf::kUser, config));
  return config;
}

Result<AgentConfig> AgentConfig::Load(const AgentPaths& paths) {
  AgentConfig config;
  FIELDCOST_ASSIGN(const std::vector<std::filesystem::path> presets, Presets(paths.presets_dir));
  for (const std::filesystem::path& preset : presets) {
    FIELDCOST_TRY(CheckPreset(preset));
    FIELDCOST_TRY(Override(preset, FileOf::kInstaller, config));
  }
  // The service of a preset becomes that of the user only by joining it.
  config.suggested = {.url = std::exchange(config.url, {}),
                      .ca_file = std::exchange(config.ca_file, {}),
                      .root_sha256 = std::exchange(config.root_sha256, {}),
                      .catalog_urls = std::exchange(config.catalog_urls, {}),
                      .catalog_ca_file = std::exchange(config.catalog_ca_file, {})};
  FIELDCOST_TRY(Override(paths.service_file(), FileOf::kUser, config));
  FIELDCOST_TRY(Override(paths.config_file, FileOf::kUser, config));
  const bool is_suggested = !config.url.empty() && config.url == config.suggested.url;
  if (is_suggested && config.catalog_urls.empty()) {
    config.catalog_urls = config.suggested.catalog_urls;
    config.catalog_ca_file = config.suggested.catalog_ca_file;
  }
  return config;
}

}  // namespace fieldcost::settings
