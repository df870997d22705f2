#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace fieldcost::cli {

// Between lines of progress if stderr is not a terminal.
inline constexpr std::chrono::seconds kProgressInterval{5};

// Reports progress on stderr: in place on a terminal, else in occasional lines.
class Progress {
 public:
  // `what` is the counted unit: "fragment 3 of 7".
  explicit Progress(std::string what);

  void operator()(std::uint64_t done, std::uint64_t total);

 private:
  std::string what_;
  bool terminal_;
  std::chrono::steady_clock::time_point last_line_;
};

}  // namespace fieldcost::cli
