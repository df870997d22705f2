// The payload of a measuring policy (wire.proto; metadata_payload.cc has the head and the times).
//
//   policy := head["policy"], published_us,
//             number:u32*                            ; each optional; kFields has the ranges
//             module { soname package }*             ; ascending; package "": any
//             weight { soname symbol per_65536:u32 }*        ; ascending
#include "common/wire/policy.h"

#include <array>
#include <iterator>
#include <tuple>

#include "common/wire/batch.h"
#include "common/wire/metadata_payload.h"
#include "common/wire/wire.pb.h"

namespace fieldcost::wire {
namespace {

constexpr std::string_view kPolicyRole = "policy";
constexpr std::uint32_t kWhole = 65536;
constexpr std::uint32_t kDaySeconds = 86'400;
constexpr std::string_view kPackageCharacters = "abcdefghijklmnopqrstuvwxyz0123456789+-.";

struct Field {
  PolicyNumber number;
  bool (proto::PolicyPayload::*has)() const;
  std::uint32_t (proto::PolicyPayload::*get)() const;
  void (proto::PolicyPayload::*set)(std::uint32_t);
};

#define FIELDCOST_FIELD(name, min, max)                                          \
  Field {                                                                        \
    {#name, &PolicyMetadata::name, min, max}, &proto::PolicyPayload::has_##name, \
        &proto::PolicyPayload::name, &proto::PolicyPayload::set_##name           \
  }
constexpr Field kFields[] = {
    FIELDCOST_FIELD(selection_per_65536, 0, kWhole),
    FIELDCOST_FIELD(picks_per_run, 1, 512),  // the maximum in a run file
    FIELDCOST_FIELD(alloc_per_65536, 0, kWhole),
    FIELDCOST_FIELD(io_per_65536, 0, kWhole),
    FIELDCOST_FIELD(cycles_per_65536, 0, kWhole),
    FIELDCOST_FIELD(max_programs, 0, 64),
    FIELDCOST_FIELD(max_load_per_core_percent, 0, 10'000),
    FIELDCOST_FIELD(max_cpu_pressure_percent, 0, 100),
    FIELDCOST_FIELD(overhead_per_65536, 0, kWhole),
    FIELDCOST_FIELD(max_run_files, 1, 65'536),
    FIELDCOST_FIELD(phase_seconds, 0, 366 * kDaySeconds),
    FIELDCOST_FIELD(max_phases, 1, 65'536),
    FIELDCOST_FIELD(sampling_log2, 0, 14),
    FIELDCOST_FIELD(max_batch_bytes, 1024, kBatchTargetBytes),
    FIELDCOST_FIELD(max_batch_age_hours, 1, 366 * 24),
    FIELDCOST_FIELD(min_upload_interval_seconds, 0, 31 * kDaySeconds),
};
#undef FIELDCOST_FIELD
constexpr std::size_t kNumbers = std::size(kFields);

constexpr std::array<PolicyNumber, kNumbers> MakeNumbers() {
  std::array<PolicyNumber, kNumbers> numbers{};
  for (std::size_t i = 0; i < kNumbers; ++i) numbers[i] = kFields[i].number;
  return numbers;
}
constexpr std::array<PolicyNumber, kNumbers> kPolicyNumbers = MakeNumbers();

Status ValidatePackage(std::string_view untrusted_name) {
  if (untrusted_name.size() > kMaxVersionBytes ||
      untrusted_name.find_first_not_of(kPackageCharacters) != std::string_view::npos) {
    return Fail(ErrorCode::kCorrupt, "invalid or too long Debian package name");
  }
  return {};
}

Status ValidateModules(const std::vector<PolicyModule>& modules) {
  if (modules.size() > kMaxPolicyModules) {
    return Fail(ErrorCode::kCorrupt, "{} modules, at most {} are accepted", modules.size(),
                kMaxPolicyModules);
  }
  for (std::size_t i = 0; i < modules.size(); ++i) {
    FIELDCOST_TRY(ValidateApiKey({.soname = modules[i].soname, .symbol = "any"}));
    FIELDCOST_TRY(ValidatePackage(modules[i].package));
    if (i != 0 && modules[i - 1].soname >= modules[i].soname) {
      return Fail(ErrorCode::kCorrupt, "module {} does not sort after the one before it",
                  modules[i].soname);
    }
  }
  return {};
}

Status ValidateWeights(const std::vector<PolicyWeight>& weights) {
  if (weights.size() > kMaxPolicyWeights) {
    return Fail(ErrorCode::kCorrupt, "{} weights, at most {} are accepted", weights.size(),
                kMaxPolicyWeights);
  }
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const PolicyWeight& weight = weights[i];
    FIELDCOST_TRY(ValidateApiKey({.soname = weight.soname, .symbol = weight.symbol}));
    if (weight.weight_per_65536 > kWhole) {
      return Fail(ErrorCode::kCorrupt, "the weight of {}!{} is {}, at most {} is accepted",
                  weight.soname, weight.symbol, weight.weight_per_65536, kWhole);
    }
    if (i != 0 && std::tie(weights[i - 1].soname, weights[i - 1].symbol) >=
                      std::tie(weight.soname, weight.symbol)) {
      return Fail(ErrorCode::kCorrupt, "the weight of {}!{} does not sort after the one before it",
                  weight.soname, weight.symbol);
    }
  }
  return {};
}

}  // namespace

std::span<const PolicyNumber> PolicyNumbers() { return kPolicyNumbers; }

Status ValidatePolicy(const PolicyMetadata& untrusted_policy) {
  for (const PolicyNumber& number : kPolicyNumbers) {
    const std::optional<std::uint32_t>& value = untrusted_policy.*number.member;
    if (value && (*value < number.min || *value > number.max)) {
      return Fail(ErrorCode::kCorrupt, "{} is {}, {} to {} are accepted", number.name, *value,
                  number.min, number.max);
    }
  }
  FIELDCOST_TRY(ValidateModules(untrusted_policy.modules));
  return ValidateWeights(untrusted_policy.weights);
}

std::string EncodePayload(const PolicyMetadata& policy) {
  proto::PolicyPayload payload;
  SetHead(policy, kPolicyRole, payload);
  for (const Field& field : kFields) {
    if (const auto& value = policy.*field.number.member) (payload.*field.set)(*value);
  }
  for (const PolicyModule& module : policy.modules) {
    payload.add_module_soname(module.soname);
    payload.add_module_package(module.package);
  }
  for (const PolicyWeight& weight : policy.weights) {
    payload.add_weight_soname(weight.soname);
    payload.add_weight_symbol(weight.symbol);
    payload.add_weight_per_65536(weight.weight_per_65536);
  }
  return SerializeMessage(payload);
}

Result<PolicyMetadata> DecodePolicy(std::string_view untrusted_payload) {
  proto::PolicyPayload payload;
  FIELDCOST_TRY(ParsePayload(untrusted_payload, kPolicyRole, payload));
  if (payload.module_package_size() != payload.module_soname_size() ||
      payload.weight_symbol_size() != payload.weight_soname_size() ||
      payload.weight_per_65536_size() != payload.weight_soname_size()) {
    return Fail(ErrorCode::kCorrupt, "columns of a policy have different lengths");
  }
  PolicyMetadata policy{.version = payload.version(),
                        .expires = TimeOf(payload.expires_us()),
                        .published = TimeOf(payload.published_us())};
  for (const Field& field : kFields) {
    if ((payload.*field.has)()) policy.*field.number.member = (payload.*field.get)();
  }
  for (int i = 0; i < payload.module_soname_size(); ++i) {
    policy.modules.push_back({payload.module_soname(i), payload.module_package(i)});
  }
  for (int i = 0; i < payload.weight_soname_size(); ++i) {
    policy.weights.push_back(
        {payload.weight_soname(i), payload.weight_symbol(i), payload.weight_per_65536(i)});
  }
  FIELDCOST_TRY(ValidatePolicy(policy));
  return policy;
}

}  // namespace fieldcost::wire
