#include <algorithm>

#include "agent/settings/paths.h"
#include "common/catalog/catalog.h"
#include "common/command/complete.h"
#include "tools/cli/commands.h"
#include "tools/cli/completion_script.h"
#include "tools/cli/terminal_io.h"

namespace fieldcost::cli {
namespace {

constexpr std::size_t kMaxApiNames = 1000;  // looked at for one word

// No shell takes anything in such a name for its own, however the user has quoted the word.
bool IsPlain(std::string_view name) {
  constexpr std::string_view kSafe = "_.+-!@~:,";
  return std::all_of(name.begin(), name.end(), [kSafe](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           kSafe.find(c) != std::string_view::npos;
  });
}

// Of the local catalogue; none where there is none. Never the network.
std::vector<std::string> CatalogueNames(std::string_view symbol_prefix) {
  const auto paths = agent::AgentPaths::FromEnvironment();
  if (!paths) return {};
  const auto catalog = catalog::Catalog::Open(paths->catalog_file);
  if (!catalog) return {};
  auto names = catalog->FindPrefix(symbol_prefix, kMaxApiNames);
  if (!names) return {};
  std::erase_if(*names, [](const std::string& name) { return !IsPlain(name); });
  return std::move(*names);
}

Result<int> Run(const command::Arguments& arguments) {
  const std::string& shell = arguments.Text("shell");
  FIELDCOST_TRY(WriteStdout(CompletionScript(shell == "bash"  ? Shell::kBash
                                             : shell == "zsh" ? Shell::kZsh
                                                              : Shell::kFish)));
  return 0;
}

}  // namespace

Status PrintCompletion(const command::Command& program, const std::vector<std::string>& words) {
  return WriteStdout(command::CompletionAnswer(command::Complete(program, words, CatalogueNames)));
}

command::Command CompletionCommand() {
  return {.name = "completion",
          .summary = "The completion script of a shell",
          .help = R"(Names of APIs come from the local catalogue; nothing is fetched. Examples:
  source <(fieldcost completion bash)
  fieldcost completion zsh > ~/.zsh/functions/_fieldcost
  fieldcost completion fish > ~/.config/fish/completions/fieldcost.fish)",
          .options = {{.names = "shell",
                       .value = "SHELL",
                       .help = "Which one",
                       .choices = {"bash", "zsh", "fish"},
                       .required = true}},
          .handler = Run,
          .without = {"--csv"}};
}

}  // namespace fieldcost::cli
