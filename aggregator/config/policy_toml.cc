#include "aggregator/config/policy_toml.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <tuple>
#include <vector>

#include "common/base/json_writer.h"
#include "common/base/text.h"
#include "common/base/time_text.h"
#include "common/config/toml_file.h"

namespace fieldcost::aggregator {
namespace {

constexpr std::uint64_t kMaxLifetimeDays = 366;
constexpr char kModulesKey[] = "policy.modules";
constexpr char kWeightsKey[] = "policy.weights";

// "libz.so.1" or "libz.so.1 zlib1g".
void ReadModules(config::TomlFile& file, wire::PolicyMetadata& policy) {
  std::vector<std::string> texts;
  file.ReadStrings(kModulesKey, texts);
  for (const std::string& text : texts) {
    const std::size_t blank = text.find(' ');
    wire::PolicyModule module{.soname = text.substr(0, blank)};
    if (blank != std::string::npos) module.package = text.substr(blank + 1);
    policy.modules.push_back(std::move(module));
  }
  std::sort(policy.modules.begin(), policy.modules.end(),
            [](const auto& a, const auto& b) { return a.soname < b.soname; });
}

// "libz.so.1!crc32 32768".
void ReadWeights(config::TomlFile& file, wire::PolicyMetadata& policy) {
  std::vector<std::string> texts;
  file.ReadStrings(kWeightsKey, texts);
  for (const std::string& text : texts) {
    const std::size_t mark = text.find('!');
    const std::size_t blank = text.find(' ', mark == std::string::npos ? 0 : mark);
    const auto weight = blank == std::string::npos
                            ? std::nullopt
                            : ParseUint64(std::string_view(text).substr(blank + 1));
    if (mark == std::string::npos || !weight || *weight > 65536) {
      file.Refuse(kWeightsKey,
                  fmt::format("'{}' is not of the form \"soname!symbol weight\" with a weight of 0 "
                              "to 65536",
                              EscapeControl(text)));
      return;
    }
    policy.weights.push_back({.soname = text.substr(0, mark),
                              .symbol = text.substr(mark + 1, blank - mark - 1),
                              .weight_per_65536 = static_cast<std::uint32_t>(*weight)});
  }
  std::sort(policy.weights.begin(), policy.weights.end(), [](const auto& a, const auto& b) {
    return std::tie(a.soname, a.symbol) < std::tie(b.soname, b.symbol);
  });
}

// Checks the lists one by one, so that an error names the right key.
void CheckLists(config::TomlFile& file, const wire::PolicyMetadata& policy) {
  if (const Status status = wire::ValidatePolicy({.modules = policy.modules}); !status) {
    file.Refuse(kModulesKey, status.error().message);
  }
  if (const Status status = wire::ValidatePolicy({.weights = policy.weights}); !status) {
    file.Refuse(kWeightsKey, status.error().message);
  }
}

}  // namespace

Result<PolicyText> LoadPolicyText(const std::filesystem::path& path) {
  FIELDCOST_ASSIGN(config::TomlFile file, config::TomlFile::Load(path));
  PolicyText text;
  auto days = static_cast<std::uint64_t>(text.lifetime.count());
  file.ReadUint("policy.lifetime_days", 1, kMaxLifetimeDays, days);
  text.lifetime = std::chrono::days(days);
  for (const wire::PolicyNumber& number : wire::PolicyNumbers()) {
    const std::string key = fmt::format("policy.{}", number.name);
    const bool given = file.Has(key);
    std::uint64_t value = number.min;
    file.ReadUint(key, number.min, number.max, value);
    if (given) text.policy.*number.member = static_cast<std::uint32_t>(value);
  }
  ReadModules(file, text.policy);
  ReadWeights(file, text.policy);
  CheckLists(file, text.policy);
  FIELDCOST_TRY(file.Finish());
  return text;
}

// Texts of a policy are printable ASCII, which TOML and JSON escape alike.
std::string ShowPolicy(const wire::PolicyMetadata& policy, WallTime now) {
  std::string text =
      fmt::format("# version {}, published {}, {} {}\n[policy]\n", policy.version,
                  Rfc3339Text(policy.published), policy.expires <= now ? "EXPIRED" : "expires",
                  Rfc3339Text(policy.expires));
  const auto lifetime = std::chrono::floor<std::chrono::days>(policy.expires - policy.published);
  text += fmt::format("lifetime_days = {}\n", lifetime.count());
  for (const wire::PolicyNumber& number : wire::PolicyNumbers()) {
    if (const auto& value = policy.*number.member) {
      text += fmt::format("{} = {}\n", number.name, *value);
    }
  }
  text += "modules = [\n";
  for (const wire::PolicyModule& module : policy.modules) {
    const std::string package = module.package.empty() ? "" : ' ' + module.package;
    text += fmt::format("  {},\n", QuoteJson(module.soname + package));
  }
  text += "]\nweights = [\n";
  for (const wire::PolicyWeight& weight : policy.weights) {
    text += fmt::format("  {},\n", QuoteJson(fmt::format("{}!{} {}", weight.soname, weight.symbol,
                                                         weight.weight_per_65536)));
  }
  return text + "]\n";
}

std::string ShowPolicyJson(const wire::PolicyMetadata& policy, WallTime now) {
  JsonWriter writer;
  writer.Object().Member("version", policy.version);
  writer.Member("published", Rfc3339Text(policy.published));
  writer.Member("expires", Rfc3339Text(policy.expires)).Member("expired", policy.expires <= now);
  writer.Key("numbers").Object();
  for (const wire::PolicyNumber& number : wire::PolicyNumbers()) {
    if (const auto& value = policy.*number.member) writer.Member(number.name, *value);
  }
  writer.EndObject().Key("modules").Array();
  for (const wire::PolicyModule& module : policy.modules) {
    writer.Object().Member("soname", module.soname).Member("package", module.package).EndObject();
  }
  writer.EndArray().Key("weights").Array();
  for (const wire::PolicyWeight& weight : policy.weights) {
    writer.Object().Member("soname", weight.soname).Member("symbol", weight.symbol);
    writer.Member("per_65536", weight.weight_per_65536).EndObject();
  }
  return writer.EndArray().EndObject().Take();
}

}  // namespace fieldcost::aggregator
