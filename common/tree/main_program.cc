#include "common/tree/main_program.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "common/base/check.h"
#include "common/base/text.h"
#include "common/tree/identity.h"

namespace fieldcost::tree {
namespace {

using Names = std::set<std::string, std::less<>>;

Names ModulesOf(const Dictionary& dictionary) {
  Names names;
  for (std::uint32_t i = 0; i < dictionary.frames.size(); ++i) {
    const Frame& frame = dictionary.frames.frame(FrameId(i));
    if (frame.kind != FrameKind::kSpecial && !frame.module.empty()) names.insert(frame.module);
  }
  return names;
}

bool IsExecutable(std::string_view module) {
  return !module.ends_with(".so") && !module.starts_with('[');
}

// The executables that only this side has, in the order of the words in its command.
std::vector<std::string> OwnPrograms(const Names& own, const Names& other,
                                     std::string_view command) {
  std::vector<std::string> found;
  const auto is_own = [&](const std::string& name) {
    return own.contains(name) && !other.contains(name) && IsExecutable(name);
  };
  for (const std::string_view word : Split(command, " ")) {
    const std::string name = ModuleName(word);
    if (is_own(name) && std::ranges::find(found, name) == found.end()) found.push_back(name);
  }
  if (!found.empty()) return found;
  std::ranges::copy_if(own, std::back_inserter(found), is_own);
  if (found.size() > 1) found.clear();  // it is unknown which one is the main program
  return found;
}

// Turns "[thread old/worker]" into "[thread new/worker]": threads and processes are named after a
// program, truncated as by the kernel. Other texts are returned unchanged.
std::string RenamedOwner(const std::string& function, std::string_view from, std::string_view to) {
  constexpr std::size_t kMostNameBytes = 15;
  from = from.substr(0, kMostNameBytes);
  for (const std::string_view kind : {"[thread ", "[process "}) {
    if (!function.starts_with(kind)) continue;
    const std::string_view rest = std::string_view(function).substr(kind.size());
    if (!rest.starts_with(from) || rest.size() == from.size()) continue;
    if (std::string_view("] /").find(rest[from.size()]) == std::string_view::npos) continue;
    return std::string(kind) + std::string(to.substr(0, kMostNameBytes)) +
           std::string(rest.substr(from.size()));
  }
  return function;
}

}  // namespace

std::optional<MainPrograms> DifferentPrograms(const Dictionary& before,
                                              std::string_view command_before,
                                              const Dictionary& after,
                                              std::string_view command_after) {
  const Names modules_before = ModulesOf(before);
  const Names modules_after = ModulesOf(after);
  const auto programs_before = OwnPrograms(modules_before, modules_after, command_before);
  const auto programs_after = OwnPrograms(modules_after, modules_before, command_after);
  if (programs_before.empty() || programs_after.empty()) return std::nullopt;
  return MainPrograms{.before = programs_before.front(), .after = programs_after.front()};
}

Result<std::shared_ptr<const Dictionary>> RenameModule(const Dictionary& dictionary,
                                                       std::string_view from, std::string_view to) {
  auto renamed = std::make_shared<Dictionary>();
  for (std::uint32_t i = 0; i < dictionary.frames.size(); ++i) {
    Frame frame = dictionary.frames.frame(FrameId(i));
    FIELDCOST_CHECK(frame.module != to);
    if (frame.kind == FrameKind::kSpecial) {
      const Frame renamed_owner = SpecialFrame(RenamedOwner(frame.function, from, to));
      if (!dictionary.frames.Find(renamed_owner)) frame = renamed_owner;
    } else if (frame.module == from) {
      frame.module = to;
    }
    FIELDCOST_ASSIGN(const FrameId id, renamed->frames.Intern(frame));
    FIELDCOST_CHECK(id.value() == i);
  }
  for (std::uint32_t i = 1; i < dictionary.paths.size(); ++i) {
    const PathId path(i);
    FIELDCOST_ASSIGN(const PathId id, renamed->paths.Intern(dictionary.paths.parent(path),
                                                            dictionary.paths.frame(path)));
    FIELDCOST_CHECK(id == path);
  }
  return renamed;
}

}  // namespace fieldcost::tree
