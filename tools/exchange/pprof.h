#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"

namespace fieldcost::exchange {

// Reads and writes stacks with values in pprof's format (profile.proto), which profilers of many
// languages write and many tools display. PPROF.md states what is refused.

// Whether the bytes begin with the signature of gzip.
bool IsGzip(std::string_view untrusted_bytes);

struct PprofValueType {
  std::string type;  // "cpu"
  std::string unit;  // "nanoseconds"
  bool operator==(const PprofValueType&) const = default;
};

// A place in a program: a function, or code without a known name.
struct PprofFunction {
  std::string module;         // a file; empty = unknown
  std::string name;           // empty: code without a name
  std::string file = {};      // its source file, if known
  std::string build_id = {};  // the module's, in hexadecimal, if known
  std::uint64_t address = 0;  // of unnamed code: in the module's file
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
  std::vector<std::uint32_t> frames;  // indices of functions, outermost first
  std::vector<std::uint64_t> values;  // one per type
  std::uint32_t thread = 0;           // index in `threads`, from 1; 0: unknown
  std::uint64_t deeper = 0;           // number of omitted innermost frames beyond kMaxStackFrames
  bool operator==(const PprofSample&) const = default;
};

struct PprofContent {
  std::vector<PprofValueType> types;
  std::size_t default_type = 0;  // the type that tools show first
  std::vector<PprofFunction> functions;
  std::vector<PprofSample> samples;
  std::vector<PprofThread> threads = {};  // each one once
  std::vector<std::string> comments;      // texts for people
  PprofValueType period_type = {};        // each sample represents `period` of this; 0: unknown
  std::uint64_t period = 0;
  bool operator==(const PprofContent&) const = default;
};

// Decodes a profile, compressed or not; texts are untrusted. Each location becomes one function, or
// several if functions were inlined there. kTooLarge beyond the limits of exchange_limits.h;
// kCorrupt for anything but one complete profile without dangling references or negative values.
Result<PprofContent> DecodePprof(std::string_view untrusted_bytes);

// Encodes a profile with gzip; deterministic. kTooLarge beyond the limits of DecodePprof(), or for
// a value above 2^63 - 1; kInvalidArgument if an index is out of range, or the number of values
// differs from that of types. Decoding restores the same content.
Result<std::string> EncodePprof(const PprofContent& content);

}  // namespace fieldcost::exchange
