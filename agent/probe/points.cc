// Reads probe.toml, the points that a user names: ReadPoints() and ParsePoints() of probe_plan.h.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "agent/probe/probe_plan.h"
#include "common/config/toml_file.h"

namespace fieldcost::probe {
namespace {

using config::TomlFile;

// The library's limit per function.
constexpr std::size_t kMostOfFunction = 4;
constexpr char kLabelRule[] = "expected 1 to 64 bytes without control characters";

struct AutomaticName {
  const char* name;
  std::uint32_t bit;
};
constexpr AutomaticName kAutomatic[] = {
    {"start", shm::kProbeStart},   {"loaded", shm::kProbeLoaded},
    {"main", shm::kProbeMain},     {"first_output", shm::kProbeFirstOutput},
    {"dlopen", shm::kProbeDlopen}, {"exec", shm::kProbeExec},
    {"exit", shm::kProbeExit},
};

bool IsText(std::string_view text, std::size_t most) {
  return text.size() <= most && std::none_of(text.begin(), text.end(),
                                             [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

void ReadLabel(TomlFile& file, const std::string& key, std::string& label) {
  file.ReadString(key, label);
  if (file.Has(key) && (label.empty() || !IsText(label, shm::kProbeLabelBytes - 1))) {
    file.Refuse(key, kLabelRule);
  }
}

void ReadPattern(TomlFile& file, const std::string& key, std::string& at) {
  file.ReadString(key, at);
  const std::size_t mark = at.find('!');
  if (mark == std::string::npos || mark == 0 || mark + 1 == at.size() ||
      at.find(',') != std::string::npos || !IsText(at, sizeof(shm::ProbePlanPoint::pattern) - 1)) {
    file.Refuse(key,
                "expected \"library!symbol\", e.g. \"libsqlite3.so.0!sqlite3_step\", of at most "
                "255 bytes; '*' and '?' match");
  }
}

void ReadWhen(TomlFile& file, const std::string& key, std::uint32_t& when) {
  std::string text = "entry";
  file.ReadString(key, text);
  if (text == "entry") {
    when = shm::kProbeEntry;
  } else if (text == "return") {
    when = shm::kProbeReturn;
  } else if (text == "both") {
    when = shm::kProbeBoth;
  } else {
    file.Refuse(key, "expected \"entry\", \"return\" or \"both\"");
  }
}

void ReadValue(TomlFile& file, const std::string& key, NamedPoint& point) {
  std::string text;
  file.ReadString(key, text);
  if (!file.Has(key)) return;
  if (text == "result") {
    point.value = 7;
    if ((point.when & shm::kProbeReturn) == 0) {
      file.Refuse(key, "\"result\" needs when = \"return\" or \"both\"");
    }
  } else if (text.size() == 4 && text.starts_with("arg") && text[3] >= '1' && text[3] <= '6') {
    point.value = static_cast<std::uint8_t>(text[3] - '0');
    if ((point.when & shm::kProbeEntry) == 0) {
      file.Refuse(key, "an argument needs when = \"entry\" or \"both\"");
    }
  } else {
    file.Refuse(key, "expected \"arg1\" to \"arg6\" or \"result\"");
  }
}

NamedPoint ReadPoint(TomlFile& file, const std::string& prefix) {
  NamedPoint point;
  ReadLabel(file, prefix + "label", point.label);
  ReadLabel(file, prefix + "event", point.event);
  ReadPattern(file, prefix + "at", point.at);
  ReadWhen(file, prefix + "when", point.when);
  file.ReadBool(prefix + "begins", point.begins);
  file.ReadBool(prefix + "ends", point.ends);
  file.ReadBool(prefix + "stack", point.stack);
  ReadValue(file, prefix + "value", point);
  if (point.label.empty() && !(point.begins && !point.event.empty())) {
    file.Refuse(prefix + "label", kLabelRule);
  }
  if (point.event.empty() && (point.begins || point.ends)) {
    file.Refuse(prefix + "event", "expected the name of the event that begins or ends here");
  }
  if (point.begins && point.ends && point.when != shm::kProbeBoth) {
    file.Refuse(prefix + "when", "an event that begins and ends here needs \"both\"");
  }
  return point;
}

void ReadNamed(TomlFile& file, std::vector<NamedPoint>& named) {
  const std::size_t count = file.CountTables("point");
  if (count > shm::kMaxProbePoints) {
    file.Refuse("point", fmt::format("{} points, at most {}", count, shm::kMaxProbePoints));
    return;
  }
  std::map<std::string, std::size_t> of_function;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string prefix = fmt::format("point.{}.", i);
    named.push_back(ReadPoint(file, prefix));
    if (++of_function[named.back().at] > kMostOfFunction) {
      file.Refuse(prefix + "at",
                  fmt::format("at most {} points for one function", kMostOfFunction));
    }
  }
}

Result<Points> Read(Result<TomlFile> opened) {
  if (!opened) return opened.error();
  TomlFile& file = *opened;
  Points points;
  ReadNamed(file, points.named);
  for (const AutomaticName& point : kAutomatic) {
    bool taken = true;
    file.ReadBool(std::string("automatic.") + point.name, taken);
    if (!taken) points.automatic &= ~point.bit;
  }
  FIELDCOST_TRY(file.Finish());
  return points;
}

}  // namespace

Result<Points> ReadPoints(const std::filesystem::path& path) { return Read(TomlFile::Load(path)); }

Result<Points> ParsePoints(std::string_view text, std::string_view name) {
  return Read(TomlFile::Parse(text, name));
}

}  // namespace fieldcost::probe
