#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/probe/event_store.h"

namespace fieldcost::cli {

// Parses selections of probe point events as users write them. Pure.

// An event: "abcdef01" (a prefix of its 32 digits), or "abcdef01.17" (a prefix of its run and
// its number in decimal).
struct EventName {
  std::string digits;  // lower-case hexadecimal, 1 to 32; with a number at most 16
  std::optional<std::uint64_t> number;
  bool Means(const probe::EventId& id) const;
};
std::optional<EventName> ParseEventName(std::string_view untrusted_text);

// "tag:cold,build:1.2": events that match all terms. Or comma-separated names of events; or "last",
// "all". A comma in a value is "\,".
struct EventSelection {
  std::string file;  // of "FILE:rest"; empty: this machine's events
  std::vector<EventName> names;
  bool last = false;  // the newest of the rest
  std::string label;
  std::string build;
  std::string program;
  std::vector<std::string> tags;
  std::uint64_t session = 0;
  std::uint64_t from_ns = 0;  // begun in [from, to); not set by parsing
  std::uint64_t to_ns = 0;    // 0: no end

  // Without `last` and `file`.
  bool Has(const probe::EventRow& row) const;
};

// kInvalidArgument states the valid forms, or the probable intention.
Result<EventSelection> ParseEventSelection(std::string_view untrusted_text);

// "10%", "2.5": 0.1, 0.025; at most 10,000 %.
std::optional<double> ParsePercent(std::string_view untrusted_text);

}  // namespace fieldcost::cli
