// Reads the output of `perf script`: per sample a header line, one line per frame (innermost
// first), and a blank line.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/base/ascii.h"
#include "common/base/text.h"
#include "common/tree/identity.h"
#include "tools/exchange/frame_text.h"
#include "tools/exchange/importers.h"
#include "tools/exchange/text_lines.h"

namespace fieldcost::exchange {
namespace {

constexpr std::string_view kAddressDigits = "0123456789abcdef";
constexpr std::uint64_t kNsPerSecond = 1'000'000'000;

// "h4 31007/31007 [001] 40155.960069:    2004008 task-clock: "
struct Header {
  std::string_view untrusted_command;
  std::uint32_t pid = 0;  // 0: not shown
  std::uint32_t tid = 0;
  std::uint64_t ns = 0;
  std::string_view untrusted_event;
  std::optional<std::uint64_t> period;
  std::string_view untrusted_rest;
};

// "40155.960069:"
bool IsTime(std::string_view word) {
  if (!word.ends_with(':')) return false;
  word.remove_suffix(1);
  const std::size_t point = word.find('.');
  if (point == 0 || point == std::string_view::npos || point + 1 == word.size()) return false;
  return AreAll(word.substr(0, point), IsDigit) && AreAll(word.substr(point + 1), IsDigit);
}

// The ns of "40155.960069:"; nullopt beyond 2^64.
std::optional<std::uint64_t> TimeOf(std::string_view untrusted_word) {
  untrusted_word.remove_suffix(1);
  const std::size_t point = untrusted_word.find('.');
  std::string digits(untrusted_word.substr(point + 1, 9));
  digits.resize(9, '0');
  const auto seconds = ParseUint64(untrusted_word.substr(0, point));
  const auto fraction = ParseUint64(digits);
  if (!seconds || !fraction || *seconds > UINT64_MAX / kNsPerSecond - 1) return std::nullopt;
  return *seconds * kNsPerSecond + *fraction;
}

// Parses "h4 31007/31007 [001]" or "h4 31007". False if the text does not end with a thread number
// (and a CPU number), because it may be only a part of the thread's name.
bool TakeThread(std::string_view untrusted_text, Header& header) {
  std::string_view text = Trim(untrusted_text);
  const auto last_word = [&] { return text.substr(text.find_last_of(" \t") + 1); };
  if (last_word().starts_with('[') && last_word().ends_with(']')) {
    text = Trim(text.substr(0, text.size() - last_word().size()));
  }
  const std::string_view word = last_word();
  const std::size_t slash = word.find('/');
  const auto id = [](std::string_view digits, std::uint32_t& number) {
    const auto parsed = ParseUint64(digits);
    // perf writes -1 for an unknown thread.
    if (parsed && *parsed <= UINT32_MAX) number = static_cast<std::uint32_t>(*parsed);
    return parsed.has_value() || digits == "-1";
  };
  if (slash != std::string_view::npos && !id(word.substr(0, slash), header.pid)) return false;
  if (!id(slash == std::string_view::npos ? word : word.substr(slash + 1), header.tid))
    return false;
  header.untrusted_command = Trim(text.substr(0, text.size() - word.size()));
  return !header.untrusted_command.empty();
}

// A command's name may contain any characters, so a header line is recognised by a time that
// follows a thread number.
std::optional<Header> ParseHeader(std::string_view untrusted_line) {
  const std::string_view line = untrusted_line;
  Header header;
  std::string_view word;
  do {
    word = TakeWord(untrusted_line);
    if (word.empty()) return std::nullopt;
    header = {};
  } while (
      !IsTime(word) ||
      !TakeThread(line.substr(0, static_cast<std::size_t>(word.data() - line.data())), header));
  const auto ns = TimeOf(word);
  if (!ns) return std::nullopt;
  header.ns = *ns;
  word = TakeWord(untrusted_line);
  if (header.period = ParseUint64(word); header.period) word = TakeWord(untrusted_line);
  while (word.ends_with(':')) word.remove_suffix(1);
  header.untrusted_event = word;  // empty: not shown
  header.untrusted_rest = Trim(untrusted_line);
  return header;
}

struct FrameLine {
  std::string_view untrusted_symbol;  // without an offset; empty: unknown
  std::string_view untrusted_file;    // empty: unknown
};

// The position of the " (" that precedes the file in "g(int) const+0x18 (/opt/My App (2)/h4)"; both
// names may contain blanks and parentheses. It is the one after an offset, else the one before a
// path or a name in brackets, else the last one.
std::size_t FileOf(std::string_view untrusted_text) {
  for (std::size_t at = untrusted_text.find("+0x"); at != std::string_view::npos;
       at = untrusted_text.find("+0x", at + 1)) {
    const std::size_t end = untrusted_text.find_first_not_of(kAddressDigits, at + 3);
    if (end == std::string_view::npos || end == at + 3) continue;
    if (untrusted_text.substr(end).starts_with(" (")) return end;
  }
  const std::size_t path = std::min(untrusted_text.find(" (/"), untrusted_text.find(" (["));
  if (path != std::string_view::npos) return path;
  constexpr std::string_view kDeleted = " (deleted))";
  if (untrusted_text.ends_with(kDeleted)) untrusted_text.remove_suffix(kDeleted.size());
  return untrusted_text.rfind(" (");
}

// "1151 g+0x18 (/tmp/h4)"
std::optional<FrameLine> ParseFrame(std::string_view untrusted_line) {
  const std::string_view address = TakeWord(untrusted_line);
  if (address.empty() || address.find_first_not_of(kAddressDigits) != std::string_view::npos) {
    return std::nullopt;
  }
  std::string_view rest = Trim(untrusted_line);
  FrameLine frame;
  if (rest.ends_with(')')) {
    const std::size_t blank = rest.front() == '(' ? std::string_view::npos : FileOf(rest);
    const std::size_t open = blank == std::string_view::npos ? 0 : blank + 1;
    frame.untrusted_file = rest.substr(open + 1, rest.size() - open - 2);
    rest = Trim(rest.substr(0, open));
  }
  if (const std::size_t offset = rest.rfind("+0x");
      offset != std::string_view::npos &&
      rest.find_first_not_of(kAddressDigits, offset + 3) == std::string_view::npos) {
    rest = rest.substr(0, offset);
  }
  frame.untrusted_symbol = rest;
  return frame;
}

class PerfScript {
 public:
  explicit PerfScript(Remarks& remarks) : remarks_(remarks) {}

  Status Add(std::string_view untrusted_line) {
    if (Trim(untrusted_line).empty()) return EndSample();
    if (untrusted_line.front() != '\t') {
      if (const auto header = ParseHeader(untrusted_line)) {
        FIELDCOST_TRY(EndSample());
        return BeginSample(*header);
      }
      if (untrusted_line.front() == '#') return {};  // a comment about the recording
      if (untrusted_line.front() != ' ' || !in_sample_) {
        return Fail(
            ErrorCode::kCorrupt,
            "neither a sample (\"COMMAND TID TIME: PERIOD EVENT:\", where `perf script -F` must "
            "have comm, tid and time) nor a function of one");
      }
    }
    if (!in_sample_) {
      return Fail(ErrorCode::kCorrupt, "a function outside of a sample");
    }
    return AddFrame(untrusted_line);
  }

  Result<Built> End() {
    FIELDCOST_TRY(EndSample());
    NameProcesses();
    return builder_.BuildTimed(remarks_);
  }

 private:
  Status BeginSample(const Header& header) {
    if (header.untrusted_event.starts_with("PERF_RECORD_")) {
      if (header.untrusted_event.starts_with("PERF_RECORD_LOST")) CountLost(header.untrusted_rest);
      return {};
    }
    const std::string_view event = header.untrusted_event;
    tree::Metric metric = {.name = MetricName(event), .unit = tree::Unit::kCount};
    if (!header.period) {
      metric.name = "samples";
    } else if (event.find("-clock") != std::string_view::npos) {
      metric.unit = tree::Unit::kNanoseconds;
    }
    FIELDCOST_ASSIGN(metric_, builder_.AddMetric(std::move(metric)));
    period_ = header.period.value_or(1);
    in_sample_ = true;
    ns_ = header.ns;
    FIELDCOST_ASSIGN(thread_, ThreadOf(header));
    // Without a stack, the location may be on the same line, as may the data of a tracepoint.
    if (header.untrusted_rest.ends_with(')') && ParseFrame(header.untrusted_rest)) {
      return AddFrame(header.untrusted_rest);
    }
    return {};
  }

  // A thread with another name, as after an exec, is a different thread.
  Result<std::uint32_t> ThreadOf(const Header& header) {
    const std::string name(header.untrusted_command);
    if (header.pid == header.tid) process_names_.insert_or_assign(header.pid, name);
    return builder_.timed().ThreadOf(
        fmt::format("{} {} {}", header.pid, header.tid, name),
        {.pid = header.pid, .tid = header.tid, .process = "", .name = name});
  }

  // A process is named like its main thread, whose first sample may come late.
  void NameProcesses() {
    for (std::uint32_t i = 0; i < builder_.timed().threads(); ++i) {
      recording::Thread thread = builder_.timed().thread(i);
      const auto known = process_names_.find(thread.pid);
      if (thread.pid == thread.tid || thread.pid == 0) {
        thread.process = thread.name;
      } else if (known != process_names_.end()) {
        thread.process = known->second;
      }
      builder_.timed().SetThread(i, std::move(thread));
    }
  }

  void CountLost(std::string_view untrusted_rest) {
    TakeWord(untrusted_rest);  // "lost"
    remarks_.Count("records lost, according to perf",
                   ParseUint64(TakeWord(untrusted_rest)).value_or(1));
  }

  Status AddFrame(std::string_view untrusted_line) {
    const std::optional<FrameLine> frame = ParseFrame(untrusted_line);
    if (!frame) {
      remarks_.Count(
          "lines of stacks that are not functions (source lines, for example), left out");
      return {};
    }
    stack_.push_back(*frame);
    return {};
  }

  Result<tree::FrameId> FrameOf(std::string_view untrusted_symbol,
                                std::string_view untrusted_file) {
    std::string key = fmt::format("{}\n{}", untrusted_symbol, untrusted_file);
    if (const auto known = frames_.find(key); known != frames_.end()) return known->second;
    if (untrusted_file == "[unknown]") untrusted_file = "";
    if (untrusted_symbol == "[unknown]") untrusted_symbol = "";
    const std::string function =
        untrusted_symbol.empty() ? std::string() : tree::FunctionName(untrusted_symbol);
    FIELDCOST_ASSIGN(const tree::FrameId frame,
                     builder_.AddFrame(FrameOfNames(untrusted_file, function)));
    frames_.emplace(std::move(key), frame);
    return frame;
  }

  Status EndSample() {
    if (!in_sample_) return {};
    in_sample_ = false;
    tree::PathId path = tree::kRootPath;
    if (stack_.empty()) {
      remarks_.Count("samples without a stack, at [cut]");
      FIELDCOST_ASSIGN(const tree::FrameId cut, builder_.AddFrame(tree::SpecialFrame(tree::kCut)));
      FIELDCOST_ASSIGN(path, builder_.AddPath(path, cut));
    }
    std::string_view file;  // of the function into which the frame is inlined
    for (auto frame = stack_.rbegin(); frame != stack_.rend(); ++frame) {
      if (frame->untrusted_file != "inlined") file = frame->untrusted_file;
      FIELDCOST_ASSIGN(const tree::FrameId id, FrameOf(frame->untrusted_symbol, file));
      FIELDCOST_ASSIGN(path, builder_.AddPath(path, id));
    }
    stack_.clear();
    builder_.timed().Add(metric_, path, thread_, ns_, period_);
    return builder_.AddSample(metric_, path, period_);
  }

  Remarks& remarks_;
  TreeBuilder builder_;
  std::unordered_map<std::string, tree::FrameId> frames_;
  bool in_sample_ = false;
  std::size_t metric_ = 0;
  std::uint64_t period_ = 0;
  std::uint64_t ns_ = 0;
  std::uint32_t thread_ = 0;
  std::unordered_map<std::uint32_t, std::string> process_names_;
  std::vector<FrameLine> stack_;  // the innermost first
};

}  // namespace

bool IsPerfSampleLine(std::string_view untrusted_line) {
  return ParseHeader(untrusted_line).has_value();
}

Result<Built> ImportPerfScript(std::string_view untrusted_text, Remarks& remarks) {
  PerfScript script(remarks);
  TextLines lines(untrusted_text);
  while (!lines.at_end()) {
    FIELDCOST_ASSIGN(const std::string_view untrusted_line, lines.Take());
    if (const Status added = script.Add(untrusted_line); !added) {
      return Within(added.error(), fmt::format("line {}", lines.number()));
    }
  }
  return script.End();
}

}  // namespace fieldcost::exchange
