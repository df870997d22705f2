#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/probe/event_store.h"

namespace fieldcost::cli {

// Parses selections of probe point events as users write them. Pure.

inline constexpr std::size_t kRunDigits = 16;  // hexadecimal, of a run's id

// The name of an event: "abcdef01" (a prefix of its 32 digits), or "abcdef01.17" (a prefix of its
// run's id, and its number within the run in decimal).
struct EventName {
  std::string digits;  // lower-case hexadecimal, 1 to 32; at most 16 if a number follows
  std::optional<std::uint64_t> number;
  bool Means(const probe::EventId& id) const;
};
std::optional<EventName> ParseEventName(std::string_view untrusted_text);

// A selection of events: "tag:cold,build:1.2" matches events that satisfy all terms; others are
// comma-separated event names, "last" and "all". A comma within a value is written "\,".
struct EventSelection {
  std::string file;  // from "FILE:rest"; empty: this machine's events
  std::vector<EventName> names;
  bool last = false;  // only the newest match
  std::string label;
  std::string build;
  std::string program;
  std::vector<std::string> tags;
  std::uint64_t session = 0;
  std::uint64_t from_ns = 0;  // begin in [from, to); not set by parsing
  std::uint64_t to_ns = 0;    // 0: no limit

  // Whether `row` matches, ignoring `last` and `file`.
  bool Has(const probe::EventRow& row) const;
};

// kInvalidArgument lists the valid forms, or suggests what was probably meant.
Result<EventSelection> ParseEventSelection(std::string_view untrusted_text);

// "10%", "2.5": 0.1, 0.025; at most 10,000 %.
std::optional<double> ParsePercent(std::string_view untrusted_text);

}  // namespace fieldcost::cli
