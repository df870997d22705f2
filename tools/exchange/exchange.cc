#include "tools/exchange/exchange.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "common/base/check.h"
#include "common/base/text.h"
#include "tools/exchange/exchange_limits.h"
#include "tools/exchange/export_view.h"
#include "tools/exchange/exporters.h"
#include "tools/exchange/foreign_kind.h"
#include "tools/exchange/frame_text.h"
#include "tools/exchange/gzip.h"
#include "tools/exchange/importers.h"
#include "tools/exchange/pprof.h"
#include "tools/exchange/text_lines.h"

namespace fieldcost::exchange {
namespace {

constexpr std::array<FormatInfo, 7> kFormats = {{
    {Format::kPprof, "pprof", ".pb.gz", "pprof's profile.proto, gzip", true, true},
    {Format::kFolded, "folded", ".folded", "folded stacks, \"a;b;c 12\", for flame graphs", true,
     true},
    {Format::kSpeedscope, "speedscope", ".speedscope.json", "speedscope's file format", true, true},
    {Format::kChrome, "chrome", ".json", "Chrome's trace events, also uftrace's", true, true},
    {Format::kFirefox, "firefox", ".json", "Firefox Profiler's processed profile", false, true},
    {Format::kPerfScript, "perf-script", ".txt", "what `perf script` prints", true, false},
    {Format::kEvents, "events", ".events", "lines of TIME THREAD enter|exit FUNCTION", true, false},
}};

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";  // UTF-8, as written by Windows

// The number of lines examined to detect the format of a text.
constexpr int kLooks = 64;

// The format of a text that is not JSON.
Format DetectText(std::string_view untrusted_text) {
  TextLines lines(untrusted_text);
  for (int look = 0; look < kLooks && !lines.at_end(); ++look) {
    const auto untrusted_line = lines.Take();
    if (!untrusted_line) break;
    if (IsPerfSampleLine(*untrusted_line)) return Format::kPerfScript;
    if (Trim(*untrusted_line).empty() || untrusted_line->starts_with('#')) continue;
    if (IsEventLine(*untrusted_line)) return Format::kEvents;
    break;
  }
  return Format::kFolded;
}

bool IsJson(std::string_view untrusted_bytes) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const std::size_t begin = untrusted_bytes.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return false;
  const char first = untrusted_bytes[begin];
  if (first != '{' && first != '[') return false;
  const std::size_t next = untrusted_bytes.find_first_not_of(kBlanks, begin + 1);
  if (next == std::string_view::npos) return false;
  const char second = untrusted_bytes[next];
  // "[kernel] 12" and "{lambda()#1} 12" are folded stacks.
  return first == '{' ? second == '"' || second == '}' : second == '{' || second == ']';
}

Format Detect(std::string_view untrusted_bytes) {
  // The first string of a profile is empty: two bytes, the second of which is 0.
  constexpr std::string_view kEmptyText("\x32\x00", 2);
  if (IsJson(untrusted_bytes)) {
    const auto has = [&](std::string_view text) {
      return untrusted_bytes.find(text) != std::string_view::npos;
    };
    if (has("\"traceEvents\"")) return Format::kChrome;
    if (has("speedscope.app/file-format-schema.json")) return Format::kSpeedscope;
    return has("\"preprocessedProfileVersion\"") ? Format::kFirefox : Format::kChrome;
  }
  if (untrusted_bytes.find(kEmptyText) != std::string_view::npos) return Format::kPprof;
  return DetectText(untrusted_bytes);
}

Result<Built> ImportAs(Format format, std::string_view untrusted_bytes,
                       const ImportOptions& options, Remarks& remarks) {
  switch (format) {
    case Format::kPprof:
      return ImportPprof(untrusted_bytes, remarks);
    case Format::kFolded:
      return ImportFolded(untrusted_bytes,
                          options.folded_metric.value_or(tree::Metric{
                              .name = "samples", .unit = tree::Unit::kCount, .per_sample = 1}),
                          remarks);
    case Format::kSpeedscope:
      return ImportSpeedscope(untrusted_bytes, remarks);
    case Format::kChrome:
      return ImportChrome(untrusted_bytes, remarks);
    case Format::kPerfScript:
      return ImportPerfScript(untrusted_bytes, remarks);
    case Format::kEvents:
      return ImportEvents(untrusted_bytes, remarks);
    case Format::kFirefox:
      break;
  }
  return Fail(ErrorCode::kUnsupported,
              "this format is only for export; open the file at profiler.firefox.com");
}

// Reports what the formats cannot hold.
void TellWhatIsLost(const ExportView& view, Format format, std::vector<std::string>& remarks) {
  const tree::Tree& tree = view.tree();
  if (tree.runs > 1) {
    remarks.push_back(
        fmt::format("values are sums over {} runs; their differences are left out", tree.runs));
  }
  if (tree.least_of != 0) {
    remarks.push_back(
        fmt::format("values are the minimum of {} runs; variation is left out", tree.least_of));
  }
  std::size_t files = 0;
  std::size_t build_ids = 0;
  for (const tree::Frame* frame : view.frames()) {
    if (!frame->file.empty()) ++files;
    if (!frame->build_id.empty()) ++build_ids;
  }
  if (files != 0 && format != Format::kPprof && format != Format::kSpeedscope) {
    remarks.push_back(fmt::format("source files of local functions, left out: {}", files));
  }
  if (build_ids != 0 && format != Format::kPprof) {
    remarks.push_back(fmt::format("build-ids of places without a name, left out: {}", build_ids));
  }
}

Result<std::string> ExportAs(const ExportView& view, Format format, std::size_t metric,
                             const ExportOptions& options) {
  switch (format) {
    case Format::kPprof:
      return ExportPprof(view, options.title);
    case Format::kFolded:
      return ExportFolded(view, metric);
    case Format::kSpeedscope:
      return ExportSpeedscope(view, options.title);
    case Format::kChrome:
      return ExportChrome(view);
    case Format::kFirefox:
      return ExportFirefox(view, options.title);
    case Format::kPerfScript:
    case Format::kEvents:
      break;
  }
  return Fail(ErrorCode::kUnsupported, "this format is only for import");
}

Result<Exported> ExportNow(const tree::Tree& tree, Format format, const ExportOptions& options) {
  if (tree.metrics.empty()) return Fail(ErrorCode::kInvalidArgument, "the tree has no metrics");
  std::size_t metric = MainMetric(tree.metrics);
  if (!options.metric.empty()) {
    const auto found = tree::FindMetric(tree.metrics, options.metric);
    if (!found) return Fail(ErrorCode::kInvalidArgument, "no metric {}", options.metric);
    metric = *found;
  }
  const bool has_threads = format == Format::kPprof || format == Format::kSpeedscope ||
                           format == Format::kChrome || format == Format::kFirefox;
  const ExportView view(tree,
                        has_threads ? options.threads : std::vector<recording::ThreadFrame>());
  Exported exported;
  FIELDCOST_ASSIGN(exported.bytes, ExportAs(view, format, metric, options));
  TellWhatIsLost(view, format, exported.remarks);
  if (format == Format::kFolded) {
    for (const tree::Metric& other : tree.metrics) {
      if (other.name == tree.metrics[metric].name) continue;
      exported.remarks.push_back(fmt::format("{} is left out: the format has one metric, {}",
                                             other.name, tree.metrics[metric].name));
    }
  }
  return exported;
}

}  // namespace

std::span<const FormatInfo> Formats() { return kFormats; }

const FormatInfo& InfoOf(Format format) {
  const auto* const found = std::find_if(kFormats.begin(), kFormats.end(),
                                         [&](const auto& info) { return info.format == format; });
  FIELDCOST_CHECK(found != kFormats.end());
  return *found;
}

const FormatInfo* FindFormat(std::string_view name) {
  const auto* const found = std::find_if(kFormats.begin(), kFormats.end(),
                                         [&](const auto& info) { return info.name == name; });
  return found == kFormats.end() ? nullptr : found;
}

Result<Imported> Import(std::string_view untrusted_bytes, const ImportOptions& options) {
  const auto too_large = [](std::size_t size) {
    return Fail(ErrorCode::kTooLarge, "{} bytes, at most {} are read", size, kMaxImportBytes);
  };
  if (untrusted_bytes.size() > kMaxImportBytes) return too_large(untrusted_bytes.size());
  std::string decompressed;
  if (IsGzip(untrusted_bytes) && options.format != Format::kPprof) {
    Result<std::string> content = Gunzip(untrusted_bytes, kMaxImportBytes);
    if (!content) return Within(std::move(content).error(), "decompressing");
    decompressed = std::move(*content);
    untrusted_bytes = decompressed;
  }
  if (untrusted_bytes.starts_with(kByteOrderMark)) {
    untrusted_bytes.remove_prefix(kByteOrderMark.size());
  }
  if (IsJson(untrusted_bytes)) {
    // Trims space that a program reserved but had not filled when it crashed. A line end after a
    // truncated string would become part of the string.
    constexpr std::string_view kPadding(" \t\r\n\0", 5);
    untrusted_bytes = untrusted_bytes.substr(0, untrusted_bytes.find_last_not_of(kPadding) + 1);
  }
  // If the format is given, the importer decides.
  if (!options.format) {
    if (const std::string kind = ForeignKind(untrusted_bytes); !kind.empty()) {
      return Fail(ErrorCode::kUnsupported, "cannot import it: it is {}", kind);
    }
  }
  const Format format = options.format ? *options.format : Detect(untrusted_bytes);
  Remarks remarks;
  Result<Built> built = ImportAs(format, untrusted_bytes, options, remarks);
  if (!built) {
    if (const std::string kind = ForeignKind(untrusted_bytes); !kind.empty()) {
      return Fail(ErrorCode::kUnsupported, "reading it as {}: it is {}", InfoOf(format).name, kind);
    }
    return Within(std::move(built).error(), fmt::format("reading it as {}", InfoOf(format).name));
  }
  return Imported{.tree = std::move(built->tree),
                  .format = format,
                  .untrusted_remarks = remarks.Lines(),
                  .recording = std::move(built->recording)};
}

Result<Exported> Export(const tree::Tree& tree, Format format, const ExportOptions& options) {
  Result<Exported> exported = ExportNow(tree, format, options);
  if (!exported) {
    return Within(std::move(exported).error(), fmt::format("writing {}", InfoOf(format).name));
  }
  return exported;
}

std::size_t MainMetric(const std::vector<tree::Metric>& metrics) {
  FIELDCOST_CHECK(!metrics.empty());
  for (const std::string_view name : {"wall", "cpu"}) {
    if (const auto found = tree::FindMetric(metrics, name)) return *found;
  }
  const auto time = std::find_if(metrics.begin(), metrics.end(), [](const tree::Metric& metric) {
    return metric.unit == tree::Unit::kNanoseconds;
  });
  return time == metrics.end() ? 0 : static_cast<std::size_t>(time - metrics.begin());
}

}  // namespace fieldcost::exchange
