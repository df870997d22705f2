#include "tools/cli/lab/requirement_file.h"

#include <fmt/format.h>

#include <limits>
#include <utility>

#include "common/config/toml_file.h"
#include "tools/cli/run/pick.h"

namespace fieldcost::cli {
namespace {

using analysis::RequiredFigure;
using analysis::Requirement;

// The limit of one figure; nothing is added without one.
void ReadLimit(config::TomlFile& untrusted_file, const std::string& table,
               const Requirement& function, RequiredFigure figure,
               std::vector<Requirement>& requirements) {
  const std::string key = fmt::format("{}.{}", table, analysis::Name(figure));
  const bool is_given = untrusted_file.Has(key);
  Requirement requirement = function;
  requirement.figure = figure;
  if (figure == RequiredFigure::kGrowing) {
    bool is_growing = false;
    untrusted_file.ReadBool(key, is_growing);
    if (is_growing) return untrusted_file.Refuse(key, "expected false: it requires no growth");
  } else if (figure == RequiredFigure::kCalls) {
    untrusted_file.ReadUint(key, 0, std::numeric_limits<std::uint32_t>::max(), requirement.most);
  } else {
    std::string untrusted_limit;
    untrusted_file.ReadString(key, untrusted_limit);
    if (!is_given) return;
    const Result<std::uint64_t> limit = analysis::ParseLimit(untrusted_limit, figure);
    if (!limit) return untrusted_file.Refuse(key, limit.error().message);
    requirement.most = *limit;
  }
  if (is_given) requirements.push_back(std::move(requirement));
}

void ReadFunction(config::TomlFile& untrusted_file, const std::string& table,
                  std::vector<Requirement>& requirements) {
  Requirement function;
  const std::string key = table + ".name";
  untrusted_file.ReadString(key, function.name);
  const Result<std::string> globs = PickGlobs(function.name);
  if (function.name.empty()) {
    untrusted_file.Refuse(key, "expected the name of a function");
  } else if (!globs) {
    untrusted_file.Refuse(key, globs.error().message);
  } else {
    function.globs = *globs;
  }
  const std::size_t before = requirements.size();
  for (std::size_t i = 0; i < analysis::kRequiredFigures; ++i) {
    ReadLimit(untrusted_file, table, function, static_cast<RequiredFigure>(i), requirements);
  }
  if (requirements.size() == before) {
    // A missing key: an unknown one, which may be this one misspelt, is reported instead.
    untrusted_file.Refuse(table + ".p99",
                          "expected this or another limit, such as allocated = \"0 B\"");
  }
}

Result<std::vector<Requirement>> Read(config::TomlFile untrusted_file) {
  std::vector<Requirement> requirements;
  const std::size_t functions = untrusted_file.CountTables("function");
  if (functions == 0) {
    untrusted_file.Refuse("function", "expected at least one [[function]]");
  } else if (functions > kMostRequiredFunctions) {
    untrusted_file.Refuse("function",
                          fmt::format("expected at most {} of them", kMostRequiredFunctions));
  } else {
    for (std::size_t i = 0; i < functions; ++i) {
      ReadFunction(untrusted_file, fmt::format("function.{}", i), requirements);
    }
  }
  FIELDCOST_TRY(untrusted_file.Finish());
  return requirements;
}

}  // namespace

Result<std::vector<Requirement>> ReadRequirements(const std::filesystem::path& file) {
  FIELDCOST_ASSIGN(config::TomlFile untrusted_file, config::TomlFile::Load(file));
  return Read(std::move(untrusted_file));
}

Result<std::vector<Requirement>> ParseRequirements(std::string_view untrusted_text,
                                                   std::string_view name) {
  FIELDCOST_ASSIGN(config::TomlFile untrusted_file, config::TomlFile::Parse(untrusted_text, name));
  return Read(std::move(untrusted_file));
}

}  // namespace fieldcost::cli
