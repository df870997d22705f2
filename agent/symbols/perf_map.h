#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"

namespace fieldcost::symbols {

// Names of code that a program generated at run time, as it wrote them to /tmp/perf-PID.map for
// profilers: one line "START SIZE NAME" per function, numbers in hexadecimal. A plain value;
// immutable once created.
class PerfMap {
 public:
  static constexpr std::size_t kMostBytes = std::size_t{256} << 20;
  static constexpr std::size_t kMostFunctions = std::size_t{1} << 21;
  static constexpr std::size_t kMostNameBytes = 1024;

  // Ignores invalid lines; later entries replace earlier ones that they overlap. Names are cut to
  // kMostNameBytes and not escaped.
  static PerfMap Of(std::string_view untrusted_text);
  // Reads the map that a process wrote. kNotFound: it wrote none; kPermissionDenied: the file
  // belongs neither to the process's user nor, if the process has ended, to ours.
  static Result<PerfMap> OfProcess(pid_t pid);

  // Returns the name of the function at this address; empty: unknown. The name lives as long as
  // this.
  std::string_view Find(std::uint64_t address) const;
  std::size_t functions() const { return functions_.size(); }

 private:
  struct Function {
    std::uint64_t start = 0;
    std::uint64_t end = 0;
    std::string name;
  };
  std::vector<Function> functions_;  // ascending, not overlapping
};

}  // namespace fieldcost::symbols
