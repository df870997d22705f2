// `fieldcost completion`, and the candidates for the shells' scripts.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "agent/settings/paths.h"
#include "common/base/ascii.h"
#include "common/catalog/catalog.h"
#include "common/command/complete.h"
#include "common/names/cxx_name.h"
#include "tools/analysis/version_order.h"
#include "tools/cli/cli_commands.h"
#include "tools/cli/commands/completion_script.h"
#include "tools/cli/costs/find_api.h"
#include "tools/cli/costs/library_versions.h"
#include "tools/cli/costs/source.h"
#include "tools/cli/terminal/terminal_io.h"

namespace fieldcost::cli {
namespace {

constexpr std::size_t kMaxApiNames = 1000;   // read for one word
constexpr std::size_t kMaxVersionApis = 50;  // read to list a library's versions

// Whether no shell treats any character of the name specially, however the user has quoted the
// word.
bool IsPlain(std::string_view name) {
  constexpr std::string_view kSafe = "_.+-!@~:,";
  return std::all_of(name.begin(), name.end(), [kSafe](char c) {
    return IsLetterOrDigit(c) || kSafe.find(c) != std::string_view::npos;
  });
}

using Names = std::vector<std::string>;

// Opens the local catalogue, if there is one. Never uses the network.
std::optional<catalog::Catalog> OpenCatalogue() {
  const auto paths = settings::AgentPaths::FromEnvironment();
  if (!paths) return std::nullopt;
  auto catalog = catalog::Catalog::Open(paths->catalog_file);
  if (!catalog) return std::nullopt;
  return std::move(*catalog);
}

Names Plain(Names names) {
  std::erase_if(names, [](const std::string& name) { return !IsPlain(name); });
  return names;
}

Names CompleteSymbols(std::string_view prefix) {
  const auto catalog = OpenCatalogue();
  if (!catalog) return {};
  auto names = catalog->FindPrefix(prefix, kMaxApiNames);
  return names ? Plain(std::move(*names)) : Names{};
}

// Adds the most expensive C++ functions whose names in source code begin with `prefix`. Most others
// are found by their symbols.
void AddCxxNames(const catalog::Catalog& catalog, std::string_view prefix, Names& names) {
  const std::vector<std::string> spelled = names::SpelledIdentifiers(prefix);
  std::set<std::string> found;
  const catalog::NameParts parts{.symbol = {std::string(prefix)}, .library = {}};
  static_cast<void>(catalog.ForEachCandidate(parts, [&](const catalog::FoundApi& api) {
    const std::string& symbol = api.symbol;
    const bool may_be = names::IsCxxSymbol(symbol) &&
                        std::ranges::all_of(spelled, [&symbol](const std::string& word) {
                          return symbol.find(word) != std::string::npos;
                        });
    if (!may_be) return true;
    const std::string name = names::ShortName(symbol);
    if (name.starts_with(prefix)) found.insert(fmt::format("{}!{}", api.soname, name));
    return found.size() < kMaxApiNames;
  }));
  names.insert(names.end(), found.begin(), found.end());
}

Names CompleteNames(std::string_view prefix) {
  const auto catalog = OpenCatalogue();
  if (!catalog) return {};
  auto symbols = catalog->FindPrefix(prefix, kMaxApiNames);
  if (!symbols) return {};
  Names names = std::move(*symbols);
  if (!names::IsCxxSymbol(prefix)) {
    std::erase_if(names, [](const std::string& name) {
      return names::IsCxxSymbol(std::string_view(name).substr(name.find('!') + 1));
    });
    AddCxxNames(*catalog, prefix, names);
  }
  names = Plain(std::move(names));
  std::ranges::sort(names);
  return names;
}

Names CompleteLibraries(std::string_view text) {
  const auto catalog = OpenCatalogue();
  if (!catalog) return {};
  std::set<std::string, std::less<>> all;
  static_cast<void>(catalog->ForEachLibrary([&](std::string_view soname) {
    all.emplace(soname);
    return true;
  }));
  Names begin;
  Names contain;
  for (const std::string& soname : all) {
    if (soname.starts_with(text)) begin.push_back(soname);
    if (soname.find(text) != std::string::npos) contain.push_back(soname);
  }
  // Given several candidates that merely contain the word, a shell would replace it by their common
  // prefix.
  if (begin.empty() && contain.size() == 1) begin = std::move(contain);
  return Plain(std::move(begin));
}

// The versions of a few functions suffice to know the library's.
Result<Names> LookUpVersions(std::string_view library, std::string_view api) {
  FIELDCOST_ASSIGN(const Source source, Source::Open(false));
  if (library.empty()) {
    FIELDCOST_ASSIGN(const std::vector<analysis::CostSummary> summaries,
                     FindApi(source, std::string(api), {}));
    std::set<std::string, analysis::OlderVersion> versions;  // overloads share versions
    for (const analysis::CostSummary& one : summaries) versions.insert(one.api.package_version);
    return Names(versions.begin(), versions.end());
  }
  FIELDCOST_ASSIGN(LibraryApis found, FindLibrary(source, std::string(library)));
  if (found.symbols.size() > kMaxVersionApis) found.symbols.resize(kMaxVersionApis);
  FIELDCOST_TRY(ReadVersions(source, found));
  Names names;
  for (const LibraryVersion& version : found.versions) names.push_back(version.name);
  return names;
}

Names CompleteVersions(std::string_view library, std::string_view api, std::string_view prefix) {
  auto names = LookUpVersions(library, api);
  if (!names) return {};
  std::erase_if(*names, [&](const std::string& name) { return !name.starts_with(prefix); });
  return Plain(std::move(*names));
}

Result<int> RunCompletion(const command::Arguments& arguments) {
  const std::string& shell = arguments.Text("shell");
  FIELDCOST_TRY(WriteStdout(CompletionScript(shell == "bash"  ? Shell::kBash
                                             : shell == "zsh" ? Shell::kZsh
                                                              : Shell::kFish)));
  return 0;
}

}  // namespace

Status PrintCompletion(const command::Command& program, const std::vector<std::string>& words) {
  return WriteStdout(command::CompletionAnswer(command::Complete(program, words,
                                                                 {.symbols = CompleteSymbols,
                                                                  .names = CompleteNames,
                                                                  .libraries = CompleteLibraries,
                                                                  .versions = CompleteVersions})));
}

command::Command CompletionCommand() {
  return {
      .name = "completion",
      .summary = "Print a shell's completion script",
      .help =
          R"(Names of APIs, libraries and versions come from the local catalogue; nothing is fetched. Examples:
  source <(fieldcost completion bash)
  fieldcost completion zsh > ~/.zsh/functions/_fieldcost
  fieldcost completion fish > ~/.config/fish/completions/fieldcost.fish)",
      .options = {{.names = "shell",
                   .value = "SHELL",
                   .help = "The shell",
                   .choices = {"bash", "zsh", "fish"},
                   .required = true}},
      .handler = RunCompletion,
      .without = {"--csv"}};
}

}  // namespace fieldcost::cli
