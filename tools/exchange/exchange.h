#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/recording/by_thread.h"
#include "common/tree/tree.h"
#include "common/tree/tree_metric.h"

namespace fieldcost::exchange {

// Imports call trees from other programs' formats and exports to them. README.md lists what each
// format can hold. Pure functions, thread-safe.

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
  std::string_view name;         // as users type it: "pprof"
  std::string_view extension;    // file name extension with its dot: ".pb.gz"
  std::string_view description;  // in a few words
  bool can_import;
  bool can_export;
};

// All formats.
std::span<const FormatInfo> Formats();
const FormatInfo& InfoOf(Format format);
// Finds a format by name; nullptr if none.
const FormatInfo* FindFormat(std::string_view name);

struct ImportOptions {
  std::optional<Format> format = std::nullopt;  // nullopt: detected from the content
  // The metric of folded stacks, which the format does not state; default "samples".
  std::optional<tree::Metric> folded_metric = std::nullopt;
};

struct Imported {
  tree::Tree tree;  // of one run
  Format format;
  // Omissions (with counts) and reinterpretations, as one human-readable line each. May contain
  // unmodified text of the input.
  std::vector<std::string> untrusted_remarks;
  // The bytes of a recording (common/recording) of the same data by time and thread, for formats
  // that have both; times count from the first one. For formats with threads only, all data is at
  // the beginning and counted as recording::kSamplesWithoutTime.
  std::optional<std::string> recording = {};
};

// kCorrupt with position and reason if the bytes do not have the format, kTooLarge beyond the
// limits (exchange_limits.h), kUnsupported for formats that can only be written. Memory use is
// proportional to the (decompressed) size, even if intervals are long
// (TimedSamples::MostExtraParts()).
Result<Imported> Import(std::string_view untrusted_bytes, const ImportOptions& options = {});

struct ExportOptions {
  std::string title = {};   // for formats that have a title
  std::string metric = {};  // for formats with one metric: its name; empty: MainMetric()
  // First frames of the tree that stand for threads or processes. Formats that have threads
  // represent these frames as threads.
  std::vector<recording::ThreadFrame> threads = {};
};

struct Exported {
  std::string bytes;
  std::vector<std::string>
      remarks;  // data that the format cannot hold; one human-readable line each
};

// Equal trees give equal bytes. Values are sums over all runs, exact integers, never scaled or
// rounded: kTooLarge if one does not fit the format. kInvalidArgument for a missing metric,
// kUnsupported for formats that can only be read.
Result<Exported> Export(const tree::Tree& tree, Format format, const ExportOptions& options = {});

// The metric to show first: "wall", else "cpu", else the first metric of time, else the first
// metric. REQUIRES: the tree has a metric.
std::size_t MainMetric(const std::vector<tree::Metric>& metrics);

}  // namespace fieldcost::exchange
