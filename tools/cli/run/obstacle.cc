#include "tools/cli/run/obstacle.h"

#include <fmt/format.h>

#include <filesystem>

#include "agent/reach/reach.h"
#include "common/base/text.h"

namespace fieldcost::cli {

std::string Obstacle(const std::string& program) {
  const std::filesystem::path path = reach::FindProgram(program);
  if (path.empty()) return {};
  const auto why = reach::ExplainProgram(path);
  if (!why || why->reach == reach::Reach::kAble || why->reach == reach::Reach::kNotProgram ||
      why->reach == reach::Reach::kUnreadable) {
    return {};
  }
  std::string text = fmt::format("{}: {}", program, Phrase(why->reach));
  if (why->program != path) text += fmt::format(" ({})", why->program.string());
  return EscapeControl(text);
}

}  // namespace fieldcost::cli
