// Writes and reads plans of probe points; common/shm/probe_file.h has their layout.
#include "agent/probe/probe_plan.h"

#include <cstring>
#include <span>

#include "agent/reach/preload_variable.h"
#include "agent/runs/untrusted_fields.h"
#include "common/base/file.h"

namespace fieldcost::probe {
namespace {

constexpr std::size_t kMaxPlanBytes =
    sizeof(shm::ProbePlan) + shm::kMaxProbePoints * sizeof(shm::ProbePlanPoint);

// Stores a text in a field of zeros. Returns false, storing nothing, if it does not fit with its
// terminating zero.
template <std::size_t kBytes>
bool Store(const std::string& text, char (&field)[kBytes]) {
  if (text.size() >= kBytes || text.find('\0') != std::string::npos) return false;
  std::memcpy(field, text.data(), text.size());
  return true;
}

Status StorePoint(const NamedPoint& point, shm::ProbePlanPoint& stored) {
  if (!Store(point.at, stored.pattern) || !Store(point.label, stored.label) ||
      !Store(point.event, stored.event)) {
    return Fail(ErrorCode::kTooLarge, "point {} at {}: a name is too long", point.label, point.at);
  }
  stored.begins = point.begins ? 1 : 0;
  stored.ends = point.ends ? 1 : 0;
  stored.stack = point.stack ? 1 : 0;
  stored.value = point.value;
  stored.when = static_cast<std::uint16_t>(point.when);
  return {};
}

Status StoreTags(const std::vector<std::string>& tags, shm::ProbePlan& plan) {
  if (tags.size() > shm::kMaxProbeTags) {
    return Fail(ErrorCode::kTooLarge, "{} tags, at most {}", tags.size(), shm::kMaxProbeTags);
  }
  for (const std::string& tag : tags) {
    if (!Store(tag, plan.tags[plan.tag_count++])) {
      return Fail(ErrorCode::kTooLarge, "tag {}: at most {} bytes", tag, sizeof plan.tags[0] - 1);
    }
  }
  return {};
}

Result<shm::ProbePlan> HeaderOf(const PlanOptions& options) {
  if (options.session == 0)
    return Fail(ErrorCode::kInvalidArgument, "the number of a session cannot be 0");
  shm::ProbePlan plan{};
  std::memcpy(plan.magic, shm::kProbePlanMagic, sizeof plan.magic);
  plan.version = shm::kProbeVersion;
  plan.point_count = static_cast<std::uint32_t>(options.points.named.size());
  plan.size_bytes = sizeof plan + plan.point_count * sizeof(shm::ProbePlanPoint);
  plan.session = options.session;
  plan.tsc_to_ns_multiplier = options.tsc_to_ns_multiplier;
  plan.start_unix_ns = options.start_unix_ns;
  plan.automatic = options.points.automatic;
  plan.stacks = options.stacks ? 1 : 0;
  plan.local = options.local ? 1 : 0;
  plan.starter_pid = static_cast<std::uint32_t>(options.starter);
  if (!Store(options.build, plan.build)) {
    return Fail(ErrorCode::kTooLarge, "build {}: at most {} bytes", options.build,
                sizeof plan.build - 1);
  }
  FIELDCOST_TRY(StoreTags(options.tags, plan));
  return plan;
}

template <typename Part>
void Append(const Part& part, std::string& bytes) {
  bytes.append(reinterpret_cast<const char*>(&part), sizeof part);
}

}  // namespace

Result<Variables> WritePlan(const std::filesystem::path& directory, const PlanOptions& options) {
  if (options.points.named.size() > shm::kMaxProbePoints) {
    return Fail(ErrorCode::kTooLarge, "a plan of {} points, at most {}",
                options.points.named.size(), shm::kMaxProbePoints);
  }
  std::string bytes;
  FIELDCOST_ASSIGN(const shm::ProbePlan plan, HeaderOf(options));
  Append(plan, bytes);
  for (const NamedPoint& point : options.points.named) {
    shm::ProbePlanPoint stored{};
    FIELDCOST_TRY(StorePoint(point, stored));
    Append(stored, bytes);
  }
  FIELDCOST_TRY(WriteFileAtomically(directory / shm::kProbePlanName, bytes, 0600));
  return Variables{{"LD_PRELOAD", reach::PreloadWith(options.library)},
                   {shm::kProbeDirectoryVariable, directory.string()}};
}

Result<PlanFacts> ReadPlan(const std::filesystem::path& directory) {
  const std::filesystem::path path = directory / shm::kProbePlanName;
  FIELDCOST_ASSIGN(const std::string untrusted_bytes, ReadFile(path, kMaxPlanBytes));
  shm::ProbePlan plan;
  if (untrusted_bytes.size() < sizeof plan) {
    return Fail(ErrorCode::kCorrupt, "{}: a plan of {} bytes", path.string(),
                untrusted_bytes.size());
  }
  std::memcpy(&plan, untrusted_bytes.data(), sizeof plan);
  if (std::memcmp(plan.magic, shm::kProbePlanMagic, sizeof plan.magic) != 0) {
    return Fail(ErrorCode::kCorrupt, "{}: not a plan of probe points", path.string());
  }
  if (plan.version != shm::kProbeVersion) {
    return Fail(ErrorCode::kUnsupported, "{}: plan has version {}; this program reads only {}",
                path.string(), plan.version, shm::kProbeVersion);
  }
  const auto build = runs::TextOf(plan.build);
  if (plan.size_bytes != untrusted_bytes.size() || plan.session == 0 || !build ||
      plan.tag_count > shm::kMaxProbeTags) {
    return Fail(ErrorCode::kCorrupt, "{}: inconsistent plan", path.string());
  }
  PlanFacts facts{.session = plan.session,
                  .start_unix_ns = plan.start_unix_ns,
                  .tsc_to_ns_multiplier = plan.tsc_to_ns_multiplier,
                  .local = plan.local != 0,
                  .has_named_points = plan.point_count != 0,
                  .build = std::string(*build)};
  for (const auto& untrusted_tag : std::span(plan.tags, plan.tag_count)) {
    const auto tag = runs::TextOf(untrusted_tag);
    if (!tag) return Fail(ErrorCode::kCorrupt, "{}: a tag is not terminated", path.string());
    facts.tags.emplace_back(*tag);
  }
  return facts;
}

}  // namespace fieldcost::probe
