// Writes policy files; common/shm/policy_file.h has their layout.
#include "agent/runs/policy_writer.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <system_error>

#include "agent/runs/skip_counts.h"
#include "agent/runs/tsc_calibration.h"
#include "agent/settings/pause.h"
#include "agent/settings/public_modules.h"
#include "common/base/file.h"
#include "common/base/log.h"
#include "common/shm/policy_file.h"
#include "common/shm/skip_file.h"

namespace fieldcost::runs {
namespace {

constexpr char kClockCacheName[] = "clock";
constexpr char kLockName[] = "policy.lock";
constexpr std::uint64_t kSecondsPerMinute = 60;

std::uint32_t Per65536(double share) {
  return static_cast<std::uint32_t>(std::lround(std::clamp(share, 0.0, 1.0) * 65536.0));
}

// 0 means "no budget", so the smallest budget is not rounded down to it.
std::uint32_t OverheadPer65536(double percent) {
  return percent <= 0 ? 0 : std::max(Per65536(percent / 100), 1U);
}

std::uint32_t SerialOf(const std::string& bytes) {
  shm::PolicyHeader header;
  if (bytes.size() < sizeof header) return 0;
  std::memcpy(&header, bytes.data(), sizeof header);
  const bool is_policy = std::memcmp(header.magic, shm::kPolicyMagic, sizeof header.magic) == 0 &&
                         header.version == shm::kPolicyVersion && header.size_bytes == bytes.size();
  return is_policy ? header.policy_serial : 0;
}

bool AreValid(const std::vector<shm::WeightEntry>& weights) {
  const auto is_wrong = [](const shm::WeightEntry& a, const shm::WeightEntry& b) {
    return a.api_hash >= b.api_hash;
  };
  return std::adjacent_find(weights.begin(), weights.end(), is_wrong) == weights.end() &&
         std::all_of(weights.begin(), weights.end(), [](const shm::WeightEntry& entry) {
           return entry.weight <= shm::kFullWeight && entry.reserved == 0;
         });
}

// Offsets of the parts of a policy file that SerialOf accepts.
struct Parts {
  shm::PolicyHeader header;
  std::uint64_t weights_at = 0;
  std::uint64_t documented_at = 0;
};

// nullopt if the sizes of the parts do not add up to the file's.
std::optional<Parts> PartsOf(const std::string& bytes) {
  Parts parts;
  const shm::PolicyHeader& header = parts.header;
  std::memcpy(&parts.header, bytes.data(), sizeof header);
  parts.weights_at =
      sizeof header + std::uint64_t{header.allowed_module_count} * sizeof(shm::AllowedModule);
  parts.documented_at =
      parts.weights_at + std::uint64_t{header.weight_count} * sizeof(shm::WeightEntry);
  if (parts.documented_at + header.documented_bytes != bytes.size()) return std::nullopt;
  return parts;
}

// The weights of a policy file that SerialOf accepts; nullopt if they are damaged.
std::optional<std::vector<shm::WeightEntry>> WeightsOf(const std::string& bytes) {
  const auto parts = PartsOf(bytes);
  if (!parts) return std::nullopt;
  std::vector<shm::WeightEntry> weights(parts->header.weight_count);
  std::copy_n(bytes.data() + parts->weights_at, parts->documented_at - parts->weights_at,
              reinterpret_cast<char*>(weights.data()));
  if (!AreValid(weights)) return std::nullopt;
  return weights;
}

// The documented names of a policy file that SerialOf accepts; none if they are damaged.
DocumentedNames DocumentedNamesOf(const std::string& bytes) {
  const auto parts = PartsOf(bytes);
  if (!parts || !shm::IsDocumentedSize(parts->header.documented_bytes)) return {};
  return {.bits = bytes.substr(parts->documented_at), .source = parts->header.documented_source};
}

// Held for some milliseconds while the policy is replaced, so that serials are unique.
Result<UniqueFd> LockPolicy(const settings::AgentPaths& paths) {
  const std::filesystem::path file = paths.state_dir / kLockName;
  UniqueFd lock(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!lock.valid()) return ErrnoError("open", file, errno);
  while (::flock(lock.get(), LOCK_EX) != 0) {
    if (errno != EINTR) return ErrnoError("lock", file, errno);
  }
  return lock;
}

// Finds or creates the directory in which programs may write, with a skip file. On failure, logs a
// message and returns nullopt.
std::optional<settings::MemoryDir> MemoryFor(const settings::AgentPaths& paths) {
  const auto memory = settings::MakeMemoryDir(paths);
  const Status status =
      memory ? MakeSkipFile(memory->directory / shm::kSkipFileName) : Status(memory.error());
  if (!status) LogWarning("{}", status.error().message);
  if (!memory) return std::nullopt;
  return *memory;
}

// Sets the file's time, up to which its weights reflect the catalogue.
void SetTime(const std::filesystem::path& file, std::int64_t unseen_ns) {
  constexpr std::int64_t kNsPerSecond = 1'000'000'000;
  const timespec before{.tv_sec = unseen_ns / kNsPerSecond, .tv_nsec = unseen_ns % kNsPerSecond};
  const timespec times[2] = {before, before};
  ::utimensat(AT_FDCWD, file.c_str(), unseen_ns == 0 ? nullptr : times, 0);
}

}  // namespace

std::int64_t ChangeNs(const std::filesystem::path& file) {
  struct stat info {};
  if (::stat(file.c_str(), &info) != 0 || info.st_size == 0) return 0;
  return std::int64_t{info.st_mtim.tv_sec} * 1'000'000'000 + info.st_mtim.tv_nsec;
}

std::vector<std::string> AllowedModules(const settings::AgentConfig& config) {
  std::vector<std::string> modules;
  for (const std::string& soname : config.extra_modules) modules.push_back(soname);
  for (wire::PolicyModule& module : settings::PublicModulesOf(config)) {
    modules.push_back(std::move(module.soname));
  }
  std::erase_if(modules, [](const std::string& soname) {
    return soname.empty() || soname.size() >= shm::kMaxSonameBytes;
  });
  // The user's own modules come first, so that they are the last to be dropped.
  if (modules.size() > shm::kMaxAllowedModules) modules.resize(shm::kMaxAllowedModules);
  std::sort(modules.begin(), modules.end());
  modules.erase(std::unique(modules.begin(), modules.end()), modules.end());
  return modules;
}

// The second at which programs resume measuring without the agent; 0 = never.
std::uint32_t ResumeSecond(const std::optional<WallTime>& paused_until) {
  if (!paused_until) return 0;
  const auto second =
      std::chrono::floor<std::chrono::seconds>(*paused_until).time_since_epoch().count();
  const bool fits = second > 0 && second <= std::numeric_limits<std::uint32_t>::max();
  return fits ? static_cast<std::uint32_t>(second) : 0;
}

namespace {

shm::PolicyHeader HeaderFrom(const settings::AgentConfig& config, const PolicyInput& input,
                             std::size_t module_count) {
  shm::PolicyHeader header{};
  std::memcpy(header.magic, shm::kPolicyMagic, sizeof header.magic);
  header.version = shm::kPolicyVersion;
  header.size_bytes = static_cast<std::uint32_t>(
      sizeof header + module_count * sizeof(shm::AllowedModule) +
      input.weights.size() * sizeof(shm::WeightEntry) + input.documented.bits.size());
  header.policy_serial = input.serial;
  header.collection_enabled = input.collection_enabled && !input.paused_until ? 1 : 0;
  if (input.collection_enabled) header.resume_unix_second = ResumeSecond(input.paused_until);
  header.selection_per_65536 = Per65536(config.selection_probability);
  header.picks_per_run = static_cast<std::uint32_t>(config.picks_per_run);
  header.max_load_per_core_percent = static_cast<std::uint32_t>(config.max_load_per_core_percent);
  header.max_run_files = static_cast<std::uint32_t>(config.max_run_files);
  header.alloc_per_65536 = Per65536(config.alloc_probability);
  header.allowed_module_count = static_cast<std::uint32_t>(module_count);
  header.tsc_to_ns_multiplier = input.tsc_to_ns_multiplier;
  header.weight_count = static_cast<std::uint32_t>(input.weights.size());
  header.default_weight = shm::kFullWeight;
  header.max_leases = static_cast<std::uint32_t>(config.max_programs);
  header.max_cpu_pressure_percent = static_cast<std::uint32_t>(config.max_cpu_pressure_percent);
  header.overhead_per_65536 = OverheadPer65536(config.overhead_percent);
  header.io_per_65536 = Per65536(config.io_probability);
  header.cycles_per_65536 = Per65536(config.cycles_probability);
  header.sampling_log2 = static_cast<std::uint32_t>(std::countr_zero(config.sampling));
  header.phase_seconds = static_cast<std::uint32_t>(config.phase_minutes * kSecondsPerMinute);
  header.max_phases = static_cast<std::uint32_t>(config.max_phases);
  header.data_slots = config.data_slots ? 1 : 0;
  header.weights_policy = input.weights_policy;
  header.documented_bytes = static_cast<std::uint32_t>(input.documented.bits.size());
  header.documented_source = input.documented.source;
  if (input.memory) {
    header.memory_root_bytes = static_cast<std::uint32_t>(input.memory->root.native().size());
    const std::string& directory = input.memory->directory.native();
    directory.copy(header.memory_dir, sizeof header.memory_dir - 1);
  }
  return header;
}

}  // namespace

std::string BuildPolicy(const settings::AgentConfig& config, const PolicyInput& input) {
  const std::vector<std::string> modules = AllowedModules(config);
  const shm::PolicyHeader header = HeaderFrom(config, input, modules.size());
  std::string bytes(header.size_bytes, '\0');
  std::memcpy(bytes.data(), &header, sizeof header);
  std::size_t at = sizeof header;
  for (const std::string& soname : modules) {
    std::memcpy(bytes.data() + at, soname.data(), soname.size());
    at += sizeof(shm::AllowedModule);
  }
  // Not memcpy: without any, their address may be null.
  std::copy_n(reinterpret_cast<const char*>(input.weights.data()),
              input.weights.size() * sizeof(shm::WeightEntry), bytes.data() + at);
  at += input.weights.size() * sizeof(shm::WeightEntry);
  input.documented.bits.copy(bytes.data() + at, input.documented.bits.size());
  return bytes;
}

std::uint32_t PolicySerial(const std::filesystem::path& file) {
  const auto untrusted_bytes = ReadFile(file, kMaxPolicyBytes);
  return untrusted_bytes ? SerialOf(*untrusted_bytes) : 0;
}

PresentPolicy LoadPresentPolicy(const settings::AgentPaths& paths) {
  PresentPolicy present;
  present.change_ns = ChangeNs(paths.policy_file());
  const auto untrusted_bytes = ReadFile(paths.policy_file(), kMaxPolicyBytes);
  if (!untrusted_bytes || SerialOf(*untrusted_bytes) == 0) return present;
  shm::PolicyHeader header;
  std::memcpy(&header, untrusted_bytes->data(), sizeof header);
  present.serial = header.policy_serial;
  present.weights_policy = header.weights_policy;
  present.documented_source = header.documented_source;
  present.weights = WeightsOf(*untrusted_bytes);
  return present;
}

Status WritePolicyFile(const settings::AgentPaths& paths, const settings::AgentConfig& config,
                       bool collection_enabled, PolicyWeights weights,
                       std::optional<DocumentedNames> documented) {
  FIELDCOST_TRY(MakeDirectories(paths.state_dir, 0700));
  PolicyInput input;
  input.memory = MemoryFor(paths);
  input.collection_enabled = collection_enabled;
  input.paused_until = settings::PausedUntil(paths, SystemClock().Now());
  input.tsc_to_ns_multiplier = TscMultiplier(paths.state_dir / kClockCacheName);
  input.weights = std::move(weights.entries);
  input.weights_policy = weights.policy;
  FIELDCOST_ASSIGN(const UniqueFd lock, LockPolicy(paths));
  const std::string old = ReadFile(paths.policy_file(), kMaxPolicyBytes).value_or("");
  input.serial = SerialOf(old);
  if (documented) {
    input.documented = *std::move(documented);
  } else if (input.serial != 0) {
    input.documented = DocumentedNamesOf(old);
  }
  if (input.serial == 0 || BuildPolicy(config, input) != old) {
    ++input.serial;
    FIELDCOST_TRY(WriteFileAtomically(paths.policy_file(), BuildPolicy(config, input), 0600));
  }
  SetTime(paths.policy_file(), weights.unseen_ns);
  return {};
}

Status StopMeasuring(const settings::AgentPaths& paths, const settings::AgentConfig& config) {
  std::error_code error;
  if (!std::filesystem::exists(paths.policy_file(), error)) return {};
  PresentPolicy present = LoadPresentPolicy(paths);
  // Damaged weights count as reflecting no catalogue, so the next policy computes them again.
  const std::int64_t unseen_ns = present.weights ? present.change_ns : 1;
  return WritePolicyFile(
      paths, config, false,
      {.entries = std::move(present.weights).value_or(std::vector<shm::WeightEntry>()),
       .policy = present.weights_policy,
       .unseen_ns = unseen_ns});
}

}  // namespace fieldcost::runs
