#include "tools/cli/join/join_record.h"

#include <algorithm>
#include <array>
#include <set>

#include "common/base/file.h"
#include "common/base/text.h"

namespace fieldcost::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFirstLine = "fieldcost joined 1";
constexpr std::size_t kMaxRecordBytes = 64 * 1024;
constexpr std::size_t kMaxDirectories = 256;

struct Had {
  std::string_view word;
  bool JoinRecord::*had;
};
constexpr std::array<Had, 6> kHad = {{{"state", &JoinRecord::had_state},
                                      {"root", &JoinRecord::had_root},
                                      {"catalogue", &JoinRecord::had_catalogue},
                                      {"session", &JoinRecord::had_session},
                                      {"units", &JoinRecord::had_units},
                                      {"refresh", &JoinRecord::had_refresh}}};

Error NotARecord() {
  return Fail(ErrorCode::kCorrupt, "it is not a record that `fieldcost agent join` has written");
}

Status ReadLine(std::string_view line, JoinRecord& record) {
  const std::size_t space = line.find(' ');
  if (space == std::string_view::npos) return NotARecord();
  const std::string_view word = line.substr(0, space);
  const std::string_view value = line.substr(space + 1);
  if (word == "mode") {
    FIELDCOST_ASSIGN(record.mode, settings::ParseMode(value));
    return {};
  }
  if (word == "had") {
    const auto found =
        std::ranges::find_if(kHad, [value](const Had& had) { return had.word == value; });
    if (found == kHad.end()) return NotARecord();
    record.*(found->had) = true;
    return {};
  }
  const fs::path directory(value);
  if (word != "made" || !directory.is_absolute() || directory != directory.lexically_normal() ||
      record.made.size() == kMaxDirectories) {
    return NotARecord();
  }
  record.made.push_back(directory);
  return {};
}

}  // namespace

fs::path JoinRecordFile(const settings::AgentPaths& paths) { return paths.state_dir / "joined"; }

std::string EncodeJoinRecord(const JoinRecord& record) {
  std::string text = fmt::format("{}\nmode {}\n", kFirstLine, Name(record.mode));
  for (const Had& had : kHad) {
    if (record.*(had.had)) text += fmt::format("had {}\n", had.word);
  }
  for (const fs::path& directory : record.made) {
    text += fmt::format("made {}\n", directory.string());
  }
  return text;
}

Result<JoinRecord> DecodeJoinRecord(std::string_view untrusted_text) {
  if (!untrusted_text.ends_with('\n')) return NotARecord();
  const std::vector<std::string_view> lines =
      Split(untrusted_text.substr(0, untrusted_text.size() - 1), "\n");
  if (lines.size() < 2 || lines[0] != kFirstLine || !lines[1].starts_with("mode "))
    return NotARecord();
  JoinRecord record;
  for (std::size_t i = 1; i < lines.size(); ++i) FIELDCOST_TRY(ReadLine(lines[i], record));
  return record;
}

Result<std::optional<JoinRecord>> LoadJoinRecord(const settings::AgentPaths& paths) {
  const fs::path file = JoinRecordFile(paths);
  const auto text = ReadFile(file, kMaxRecordBytes);
  if (!text && text.error().code == ErrorCode::kNotFound) return std::optional<JoinRecord>();
  if (!text) return text.error();
  auto record = DecodeJoinRecord(*text);
  if (!record) return Within(record.error(), "read " + file.string());
  return std::optional(std::move(*record));
}

std::vector<fs::path> MissingDirectories(const std::vector<fs::path>& wanted) {
  std::set<fs::path> missing;  // a parent sorts before what is in it
  std::error_code error;
  for (fs::path directory : wanted) {
    for (; directory.has_relative_path() && !fs::exists(fs::symlink_status(directory, error));
         directory = directory.parent_path()) {
      missing.insert(directory);
    }
  }
  return {missing.begin(), missing.end()};
}

}  // namespace fieldcost::cli
