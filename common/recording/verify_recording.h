#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/recording/contents.h"

namespace fieldcost::recording {

// An inconsistency in a file.
struct Problem {
  std::uint64_t offset = 0;  // of the frame
  std::string what;
};

struct VerifyReport {
  std::uint64_t bytes = 0;
  std::map<std::string, std::uint64_t> frames;  // by the name of their type, up to the stop
  std::uint64_t samples = 0;
  std::uint64_t paths = 0;
  std::size_t runs = 0;
  std::size_t open_runs = 0;  // without an end
  std::size_t trees = 0;
  bool has_index = false;         // a file that was not closed has none; not a problem
  Stop stop;                      // the end, or the first incomplete frame
  std::vector<Problem> problems;  // ascending by offset; the first kMaxProblems
  bool is_good() const { return stop.reason.empty() && problems.empty(); }
};
inline constexpr std::size_t kMaxProblems = 100;

// Checks the whole file: all checksums; that paths follow their parents; that samples ascend and
// have known paths; the sums of blocks, groups and vectors against the samples; that the sums of
// trees are possible; and the index against the frames. Errors of ReadContents() and of opening.
Result<VerifyReport> Verify(std::string_view untrusted_file);
Result<VerifyReport> VerifyFile(const std::filesystem::path& path);

}  // namespace fieldcost::recording
