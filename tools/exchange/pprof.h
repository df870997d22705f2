#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"

namespace fieldcost::exchange {

// Stacks with values in pprof's format (profile.proto), which profilers of many languages write and
// many tools display. USER_FILES.md states what is refused.

// Whether the bytes begin like a compressed profile.
bool IsGzip(std::string_view untrusted_bytes);

struct PprofValueType {
  std::string type;  // "cpu"
  std::string unit;  // "nanoseconds"
  bool operator==(const PprofValueType&) const = default;
};

// A place in a program: a function, or code without a known name.
struct PprofFunction {
  std::string module;         // a file; empty = not known
  std::string name;           // empty: code without a name
  std::string file = {};      // its source, where known
  std::string build_id = {};  // of the module, as others write it: hexadecimal; where known
  std::uint64_t address = 0;  // of code without a name: in the module's file
  bool operator==(const PprofFunction&) const = default;
};

// The thread that a sample's labels name. A field without a label is empty or 0.
struct PprofThread {
  std::string process;    // label "process"
  std::string name;       // label "thread"
  std::uint32_t pid = 0;  // label "pid"
  std::uint32_t tid = 0;  // label "tid"
  auto operator<=>(const PprofThread&) const = default;
};

struct PprofSample {
  std::vector<std::uint32_t> frames;  // indices of functions, the outermost first
  std::vector<std::uint64_t> values;  // one for each type
  std::uint32_t thread = 0;           // number in `threads`, from 1; 0: not known
  std::uint64_t deeper = 0;           // innermost frames beyond kMaxStackFrames, left out
  bool operator==(const PprofSample&) const = default;
};

struct PprofContent {
  std::vector<PprofValueType> types;
  std::size_t default_type = 0;  // the type that tools show first
  std::vector<PprofFunction> functions;
  std::vector<PprofSample> samples;
  std::vector<PprofThread> threads = {};  // different ones
  std::vector<std::string> comments;      // texts for people
  PprofValueType period_type = {};        // each sample stands for `period` of this; 0: unknown
  std::uint64_t period = 0;
  bool operator==(const PprofContent&) const = default;
};

// All of a profile, gzip or not; texts are untrusted. Each location is a function of its own, or
// several if something was inlined there. kTooLarge beyond the limits of limits.h, kCorrupt for
// anything but one whole profile without dangling references and negative values.
Result<PprofContent> DecodePprof(std::string_view untrusted_bytes);

// Writes gzip; deterministic. kTooLarge beyond the limits of DecodePprof(), or for a value above
// 2^63 - 1; kInvalidArgument for an index out of range, or another number of values than of types.
// Reading gives the same content.
Result<std::string> EncodePprof(const PprofContent& content);

}  // namespace fieldcost::exchange
