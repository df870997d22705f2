#include "tools/cli/session/session_text.h"

#include <algorithm>

#include "common/base/text.h"
#include "common/shm/policy_file.h"

namespace fieldcost::cli {
namespace {

constexpr std::string_view kHead =
    "# Written by \"fieldcost agent session on\", removed by \"fieldcost agent session off\".\n";
constexpr std::string_view kMade = "# directories made for it: ";
constexpr unsigned kMaxDirectoriesMade = 8;

// The line in a profile: kBegin, snippet, ..., kMark, and the file's previous state.
constexpr std::string_view kBegin = "if [ -r '";
constexpr std::string_view kMark = "; fi # fieldcost agent session";
constexpr std::string_view kNoEnd = ": the line before had no end";
constexpr std::string_view kMadeFile = ": made this file";

constexpr std::string_view kPathPunctuation = "/._-+@,=%~";

std::string SessionLine(std::string_view snippet, std::string_view before) {
  return fmt::format("{}{}' ]; then . '{}'{}{}\n", kBegin, snippet, snippet, kMark, before);
}

bool IsSessionLine(std::string_view line) {
  return line.starts_with(kBegin) && line.find(kMark) != std::string_view::npos;
}

// Returns the first of our lines, with its newline; empty if none.
std::string_view FindSessionLine(std::string_view profile) {
  for (std::size_t begin = 0; begin < profile.size();) {
    const std::size_t end = std::min(profile.find('\n', begin), profile.size() - 1) + 1;
    const std::string_view line = profile.substr(begin, end - begin);
    if (IsSessionLine(line)) return line;
    begin = end;
  }
  return {};
}

}  // namespace

Status CheckSessionPath(std::string_view path) {
  const bool good = path.starts_with('/') && std::all_of(path.begin(), path.end(), [](char c) {
                      const auto byte = static_cast<unsigned char>(c);
                      return byte >= 0x80 || (byte >= 'a' && byte <= 'z') ||
                             (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') ||
                             kPathPunctuation.find(c) != std::string_view::npos;
                    });
  if (good) return {};
  return Fail(
      ErrorCode::kInvalidArgument,
      "session: the path {} holds a character, such as a space or colon, that LD_PRELOAD or "
      "environment.d cannot express",
      EscapeControl(path));
}

std::string EnvironmentFileText(const SessionTextOptions& options) {
  return fmt::format(
      "{}{}{}\n"
      "LD_PRELOAD={}${{LD_PRELOAD:+:$LD_PRELOAD}}\n"
      "{}={}\n"
      "ASAN_OPTIONS=verify_asan_link_order=0${{ASAN_OPTIONS:+:$ASAN_OPTIONS}}\n",
      kHead, kMade, options.directories_made, options.library, shm::kStateDirVariable,
      options.state_dir);
}

std::string SnippetText(const SessionTextOptions& options) {
  const std::string_view library = options.library;
  const std::string_view name = library.substr(library.rfind('/'));
  return fmt::format(
      "{0}{1}{2}\n"
      "# POSIX shell. Lets programs started from this login on take part in measuring.\n"
      "if [ -r '{3}' ] && [ -e '{7}' ]; then\n"
      "  case \":${{LD_PRELOAD-}}:\" in\n"
      "    *'{4}:'* | *'{4} '*) ;;\n"
      "    *)\n"
      "      export LD_PRELOAD='{3}'\"${{LD_PRELOAD:+:$LD_PRELOAD}}\"\n"
      "      export {5}='{6}'\n"
      "      ;;\n"
      "  esac\n"
      "  # Programs built with gcc's AddressSanitizer refuse to start after any preloaded "
      "library.\n"
      "  case \":${{ASAN_OPTIONS-}}:\" in\n"
      "    *:verify_asan_link_order=*) ;;\n"
      "    *) export ASAN_OPTIONS=\"verify_asan_link_order=0${{ASAN_OPTIONS:+:$ASAN_OPTIONS}}\" "
      ";;\n"
      "  esac\n"
      "fi\n",
      kHead, kMade, options.directories_made, library, name, shm::kStateDirVariable,
      options.state_dir, options.source);
}

std::optional<unsigned> DirectoriesMade(std::string_view text) {
  if (!text.starts_with(kHead)) return std::nullopt;
  text.remove_prefix(kHead.size());
  if (!text.starts_with(kMade)) return 0;
  text.remove_prefix(kMade.size());
  const auto number = ParseUint64(text.substr(0, text.find('\n')));
  return number && *number <= kMaxDirectoriesMade ? static_cast<unsigned>(*number) : 0;
}

bool HasSessionLine(std::string_view profile) { return !FindSessionLine(profile).empty(); }

bool HasSessionLine(std::string_view profile, std::string_view snippet) {
  const std::string_view line = FindSessionLine(profile);
  return line.starts_with(fmt::format("{}{}' ]", kBegin, snippet));
}

std::string AddSessionLine(const std::optional<std::string>& profile, std::string_view snippet) {
  if (!profile) return SessionLine(snippet, kMadeFile);
  if (profile->empty() || profile->back() == '\n') return *profile + SessionLine(snippet, "");
  return *profile + "\n" + SessionLine(snippet, kNoEnd);
}

std::optional<std::string> RemoveSessionLine(std::string_view profile) {
  std::string text(profile);
  bool was_made = false;
  for (;;) {
    const std::string_view line = FindSessionLine(text);
    if (line.empty()) break;
    const std::size_t begin = static_cast<std::size_t>(line.data() - text.data());
    if (line.find(kMadeFile) != std::string_view::npos) was_made = true;
    const bool had_no_end = line.find(kNoEnd) != std::string_view::npos;
    const bool is_last = begin + line.size() == text.size();
    text.erase(begin, line.size());
    // Text added later needs the newline before it.
    if (had_no_end && is_last && text.ends_with('\n')) text.pop_back();
  }
  if (text.empty() && was_made) return std::nullopt;
  return text;
}

}  // namespace fieldcost::cli
