#include "tools/exchange/foreign_kind.h"

#include <algorithm>
#include <array>

#include "common/base/text.h"
#include "common/base/units.h"

namespace fieldcost::exchange {
namespace {

constexpr std::size_t kLookedAt = 64 * kKiB;

struct Kind {
  std::string_view beginning;
  std::string_view text;
};

constexpr std::string_view kSpeedscope =
    "open it with speedscope (npm package `speedscope`), export it there, and import that";

// Kinds with a signature.
constexpr std::array<Kind, 10> kKinds = {{
    {"PERFILE2",
     "a recording of `perf record`; `perf script -i FILE > FILE.txt` prints what is read"},
    {"2ELIFREP",
     "a recording of `perf record` on a machine with another byte order; "
     "`perf script -i FILE > FILE.txt` prints what is read"},
    {std::string_view("FLR\0", 4),
     "a recording of Java Flight Recorder; async-profiler's `jfrconv --collapsed FILE FILE.folded` "
     "writes what is read"},
    {"\x28\xb5\x2f\xfd",
     "compressed by zstd: a lab table of `fieldcost measure`, which `fieldcost top --table FILE` "
     "shows; else decompress it (`zstd -d FILE`)"},
    {"fcrunfil", "a run file of fieldcost's agent, which `fieldcost agent view` shows"},
    {"\x7f"
     "ELF",
     "a program or library; `fieldcost trace -- FILE` records it"},
    {std::string_view("gmon\1\0\0\0", 8), "a profile of gprof; `gprof PROGRAM FILE` shows it"},
    {"SQLite format 3", "a database of SQLite, not a profile"},
    {"PK\x03\x04", "a zip archive; unpack it (`unzip FILE`)"},
    {"\xfd"
     "7zXZ",
     "compressed by xz; decompress it (`xz -d FILE`)"},
}};

// {"nodes": [{"id": 1, "callFrame": …}], "startTime": …, "timeDeltas": …}
bool IsCpuProfile(std::string_view text) {
  return text.find("\"nodes\"") != std::string_view::npos &&
         text.find("\"callFrame\"") != std::string_view::npos;
}

// "# callgrind format", or a header and "events: Ir".
bool IsCallgrind(std::string_view text) {
  if (text.starts_with("# callgrind format")) return true;
  const std::size_t events = text.find("\nevents: ");
  return events != std::string_view::npos && text.find("\nfn=", events) != std::string_view::npos;
}

}  // namespace

std::string ForeignKind(std::string_view untrusted_bytes) {
  const std::string_view text = untrusted_bytes.substr(0, kLookedAt);
  const auto* const kind = std::ranges::find_if(
      kKinds, [&](const Kind& one) { return text.starts_with(one.beginning); });
  if (kind != kKinds.end()) return std::string(kind->text);
  if (Trim(text).starts_with('{') && IsCpuProfile(text)) {
    return "a CPU profile of V8 (.cpuprofile); " + std::string(kSpeedscope);
  }
  if (IsCallgrind(text)) {
    return "a profile of callgrind; `callgrind_annotate FILE` shows it; or " +
           std::string(kSpeedscope);
  }
  return "";
}

}  // namespace fieldcost::exchange
