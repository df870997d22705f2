#include "tools/cli/tree/operand.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "common/base/file.h"
#include "common/base/text.h"
#include "common/recording/recording_writer.h"
#include "common/tree/codec.h"
#include "tools/exchange/exchange_limits.h"

namespace fieldcost::cli {
namespace {

using recording::Interval;
using recording::Recording;

constexpr std::string_view kByThread = "thread";
constexpr std::string_view kByProcess = "process";

struct TimeUnit {
  std::string_view name;
  std::uint64_t ns;
};
constexpr std::array<TimeUnit, 6> kTimeUnits = {{{"ns", 1},
                                                 {"us", 1'000},
                                                 {"ms", 1'000'000},
                                                 {"s", 1'000'000'000},
                                                 {"m", 60'000'000'000},
                                                 {"h", 3'600'000'000'000}}};

// The value of the `digits` after the decimal point; nullopt unless it is a whole number of ns.
std::optional<std::uint64_t> Fraction(std::string_view digits, std::uint64_t unit_ns) {
  std::uint64_t ns = 0;
  for (const char digit : digits) {
    if (digit < '0' || digit > '9') return std::nullopt;
    if (unit_ns % 10 != 0 && digit != '0') return std::nullopt;
    unit_ns /= 10;
    ns += static_cast<std::uint64_t>(digit - '0') * unit_ns;
  }
  return ns;
}

Result<LoadedTree> DecodeAny(std::string_view untrusted_bytes) {
  auto runs = tree::DecodeTree(untrusted_bytes);
  if (runs) return LoadedTree{.tree = *std::move(runs), .remarks = {}};
  auto mean = tree::DecodeMeanTree(untrusted_bytes);
  if (mean) return LoadedTree{.tree = *std::move(mean), .remarks = {}};
  return Error(std::move(runs).error());
}

Result<LoadedTree> TreeOf(const Recording& recording, const std::optional<Interval>& interval) {
  if (!recording.contents().streams.empty()) {
    FIELDCOST_ASSIGN(RecordedRuns recorded, RunsOf(recording, interval));
    FIELDCOST_ASSIGN(tree::Tree tree, tree::TreeOf(std::move(recorded.dictionary),
                                                   std::move(recorded.metrics), recorded.runs));
    return LoadedTree{.tree = std::move(tree), .remarks = std::move(recorded.remarks)};
  }
  FIELDCOST_ASSIGN(const std::vector<std::string> trees, recording.Trees());
  if (trees.size() != 1) {
    return Fail(ErrorCode::kCorrupt, "it has {} trees and no samples; expected one tree",
                trees.size());
  }
  if (interval) {
    return Fail(ErrorCode::kInvalidArgument,
                "it is a tree without time: no interval can be selected");
  }
  return DecodeAny(trees[0]);
}

// The same recording, divided as the operand requests.
Result<Recording> Divided(Recording recording, const TreeOperand& operand) {
  if (!operand.by) return recording;
  if (recording.contents().streams.empty()) {
    return Fail(ErrorCode::kInvalidArgument,
                "it is a tree without threads: it cannot be divided by thread or process");
  }
  return recording::DividedByThread(recording, *operand.by, operand.by_name);
}

// nullopt if the file is of another kind.
Result<std::optional<Recording>> OpenRecording(const std::filesystem::path& file) {
  Result<Recording> recording = Recording::Open(file);
  if (recording) return std::optional(*std::move(recording));
  if (recording.error().code == ErrorCode::kInvalidArgument) return std::optional<Recording>();
  return Within(recording.error(), EscapeControl(file.string()));
}

Result<LoadedTree> LoadedOf(Recording whole, const TreeOperand& operand) {
  const std::string lost = whole.contents().stop.reason;
  const std::uint64_t offset = whole.contents().stop.offset;
  std::vector<recording::ThreadFrame> threads;
  if (operand.by) threads = recording::ThreadFramesOf(whole, *operand.by, operand.by_name);
  FIELDCOST_ASSIGN(Recording recording, Divided(std::move(whole), operand));
  FIELDCOST_ASSIGN(LoadedTree loaded, TreeOf(recording, operand.interval));
  if (operand.by && !lost.empty()) loaded.remarks.push_back(RemarkOfStop(offset, lost));
  loaded.threads = std::move(threads);
  if (!recording.contents().streams.empty() && HasTimes(recording)) {
    loaded.recording = std::make_shared<const Recording>(std::move(recording));
  }
  return loaded;
}

// For imports without times and threads.
Result<LoadedTree> LoadedOf(exchange::Imported imported, const TreeOperand& operand) {
  const auto refuse = [&](std::string_view why) -> Error {
    return Fail(ErrorCode::kInvalidArgument, "{} ({}) {}", EscapeControl(operand.file.string()),
                exchange::InfoOf(imported.format).name, why);
  };
  if (operand.interval) return refuse("has no times: no interval can be selected");
  if (operand.by) return refuse("names no threads: it cannot be divided by thread or process");
  LoadedTree loaded{.tree = std::move(imported.tree), .remarks = {}};
  loaded.remarks = std::move(imported.untrusted_remarks);
  return loaded;
}

}  // namespace

std::optional<std::uint64_t> ParseNanoseconds(std::string_view text) {
  if (text == "0") return 0;
  const std::size_t unit_at = text.find_first_not_of("0123456789.");
  if (unit_at == std::string_view::npos) return std::nullopt;
  const auto unit = std::ranges::find(kTimeUnits, text.substr(unit_at), &TimeUnit::name);
  if (unit == kTimeUnits.end()) return std::nullopt;
  const std::string_view number = text.substr(0, unit_at);
  const std::size_t point = std::min(number.find('.'), number.size());
  std::uint64_t whole = 0;
  const auto [end, why] = std::from_chars(number.data(), number.data() + point, whole);
  if (why != std::errc() || end != number.data() + point) return std::nullopt;
  if (point + 1 == number.size()) return std::nullopt;
  const auto part = Fraction(point < number.size() ? number.substr(point + 1) : "", unit->ns);
  if (!part || whole > recording::kMaxTimeNs / unit->ns) return std::nullopt;
  const std::uint64_t ns = whole * unit->ns + *part;
  return ns <= recording::kMaxTimeNs ? std::optional(ns) : std::nullopt;
}

Result<TreeOperand> ParseTreeOperand(std::string_view text) {
  const std::size_t mark = text.rfind('@');
  const std::size_t dots = mark == std::string_view::npos ? mark : text.find("..", mark);
  if (dots == std::string_view::npos || text.find('/', dots) != std::string_view::npos) {
    return TreeOperand{.file = text, .interval = {}};
  }
  const std::string_view from = text.substr(mark + 1, dots - mark - 1);
  const std::string_view to = text.substr(dots + 2);
  const auto from_ns = from.empty() ? 0 : ParseNanoseconds(from);
  const auto to_ns = to.empty() ? recording::kMaxTimeNs : ParseNanoseconds(to);
  if (!from_ns || !to_ns || *from_ns >= *to_ns) {
    return Fail(
        ErrorCode::kInvalidArgument,
        "{} is not an interval; expected FILE@FROM..TO, such as a.fct@12s..14.5s or a.fct@..300ms",
        EscapeControl(text));
  }
  return TreeOperand{.file = text.substr(0, mark),
                     .interval = Interval{.from_ns = *from_ns, .to_ns = *to_ns}};
}

std::optional<recording::DivideBy> DivideByOf(std::string_view text) {
  if (text == kByThread) return recording::DivideBy::kThread;
  if (text == kByProcess) return recording::DivideBy::kProcess;
  return std::nullopt;
}

Result<exchange::Imported> ImportFile(const std::filesystem::path& file,
                                      const exchange::ImportOptions& options) {
  FIELDCOST_ASSIGN(const std::string untrusted_bytes, ReadFile(file, exchange::kMaxImportBytes));
  auto imported = exchange::Import(untrusted_bytes, options);
  if (!imported) return Within(imported.error(), EscapeControl(file.string()));
  return imported;
}

Result<LoadedTree> LoadTree(const TreeOperand& operand) {
  FIELDCOST_ASSIGN(std::optional<Recording> recording, OpenRecording(operand.file));
  std::vector<std::string> remarks;
  if (!recording) {
    FIELDCOST_ASSIGN(exchange::Imported imported, ImportFile(operand.file, {}));
    if (!imported.recording) return LoadedOf(std::move(imported), operand);
    remarks = std::move(imported.untrusted_remarks);
    FIELDCOST_ASSIGN(recording, Recording::Of(*std::move(imported.recording)));
  }
  Result<LoadedTree> loaded = LoadedOf(*std::move(recording), operand);
  if (!loaded) return Within(loaded.error(), EscapeControl(operand.file.string()));
  loaded->remarks.insert(loaded->remarks.begin(), remarks.begin(), remarks.end());
  return loaded;
}

Result<std::optional<RecordedRuns>> LoadEachRun(const TreeOperand& operand,
                                                std::uint64_t divided_by) {
  const std::string name = EscapeControl(operand.file.string());
  FIELDCOST_ASSIGN(std::optional<Recording> opened, OpenRecording(operand.file));
  if (!opened) return std::optional<RecordedRuns>();
  if (opened->contents().streams.empty()) return std::optional<RecordedRuns>();
  const Result<Recording> recording = Divided(*std::move(opened), operand);
  if (!recording) return Within(recording.error(), name);
  Result<RecordedRuns> recorded = RunsOf(*recording, operand.interval, divided_by);
  if (!recorded) return Within(recorded.error(), name);
  return std::optional(*std::move(recorded));
}

Result<tree::MeanTree> MeanOf(const LoadedTree& loaded) {
  if (const auto* const runs = std::get_if<tree::Tree>(&loaded.tree)) return tree::Average(*runs);
  return std::get<tree::MeanTree>(loaded.tree);
}

Status SaveTree(const std::filesystem::path& file, std::string_view encoded_tree) {
  const tree::Dictionary none;
  // No creation time, so that equal trees give equal bytes.
  FIELDCOST_ASSIGN(recording::Writer writer, recording::Writer::Create(file, none, {}));
  FIELDCOST_TRY(writer.PutTree(encoded_tree));
  return writer.Close();
}

}  // namespace fieldcost::cli
