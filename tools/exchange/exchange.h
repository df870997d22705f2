#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/recording/by_thread.h"
#include "common/tree/metric.h"
#include "common/tree/tree.h"

namespace fieldcost::exchange {

// Call trees from and to formats of other programs. README.md beside this file has what each of
// them holds. Pure functions, thread-safe.

enum class Format : std::uint8_t {
  kPprof,
  kFolded,
  kSpeedscope,
  kChrome,
  kFirefox,
  kPerfScript,
  kEvents,
};

struct FormatInfo {
  Format format;
  std::string_view name;         // as people type it: "pprof"
  std::string_view extension;    // of such files, with its dot: ".pb.gz"
  std::string_view description;  // in a few words
  bool can_import;
  bool can_export;
};

// All of them.
std::span<const FormatInfo> Formats();
const FormatInfo& InfoOf(Format format);
// By its name. nullptr if there is none.
const FormatInfo* FindFormat(std::string_view name);

struct ImportOptions {
  std::optional<Format> format = std::nullopt;  // else told by the content
  // What the numbers of folded stacks are, which the format does not say: else "samples".
  std::optional<tree::Metric> folded_metric = std::nullopt;
};

struct Imported {
  tree::Tree tree;  // of one run
  Format format;
  // What was left out, counted; and what was taken for something else. For people; each a line.
  // May hold texts of the input, as they are.
  std::vector<std::string> untrusted_remarks;
  // The bytes of a recording (common/recording) that has the same by time and thread, of formats
  // that have both; times count from the first one. Of one with threads alone, all is at its begin,
  // and counted as recording::kSamplesWithoutTime.
  std::optional<std::string> recording = {};
};

// kCorrupt with the place and the reason if the bytes are not of the format, kTooLarge beyond the
// limits (limits.h), kUnsupported for a format that can only be written. Memory is taken in
// proportion to the bytes (of gzip, to what they decompress to), and for intervals that last long
// in proportion to their time, up to about 500 MiB (TimedSamples::kMostExtraParts).
Result<Imported> Import(std::string_view untrusted_bytes, const ImportOptions& options = {});

struct ExportOptions {
  std::string title = {};   // where the format has a place for it
  std::string metric = {};  // of a format that holds one: its name; else as MainMetric()
  // First frames of the tree that stand for threads or processes. Formats with threads of their own
  // use these instead of frames.
  std::vector<recording::ThreadFrame> threads = {};
};

struct Exported {
  std::string bytes;
  std::vector<std::string> remarks;  // what the format does not hold; for people; each a line
};

// The same bytes for trees that say the same. Values are sums over all runs, exact integers:
// kTooLarge if one does not fit the format; nothing is scaled or rounded. kInvalidArgument for a
// metric that is not there, kUnsupported for a format that can only be read.
Result<Exported> Export(const tree::Tree& tree, Format format, const ExportOptions& options = {});

// What is shown first: "wall", else "cpu", else the first one of time, else the first one.
// REQUIRES: there is one.
std::size_t MainMetric(const std::vector<tree::Metric>& metrics);

}  // namespace fieldcost::exchange
