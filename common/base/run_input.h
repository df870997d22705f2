#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "common/base/file.h"
#include "common/base/result.h"

namespace fieldcost {

// The standard input of a command that is run several times. Each run reads the same bytes: a
// regular file is opened again for each run, and is read from the offset that it had at the start.
class RunInput {
 public:
  // Specifies the input of the runs if our standard input is a terminal, whose input cannot be read
  // again. Unlike a pipe, this is not an error: every interactively started command has a terminal,
  // most programs never read it, and we cannot know in advance whether one will.
  enum class Terminal {
    kShared,  // the terminal itself: each run prompts again
    kEmpty,   // empty: for commands whose output is not shown
  };
  struct Options {
    std::filesystem::path file;  // read instead of our standard input; empty: our standard input
    std::uint64_t runs = 1;      // a single run gets our standard input unchanged
    Terminal terminal = Terminal::kShared;
  };

  // Call this before anything is run or read. kInvalidArgument: several runs of a pipe or a socket
  // that is still open for writing; the message names `--input FILE`. kUnavailable: too many files
  // are open. Errors of open(2): `file` cannot be read.
  static Result<RunInput> Open(const Options& options);

  // Returns the standard input of the next run for ChildOptions::input: kOurs, kNowhere, or a
  // descriptor that is valid until the next call. One run at a time. kUnavailable: too many files
  // are open.
  Result<int> Next();

  // A remark about the input for users, on one line; may be empty.
  const std::string& note() const { return note_; }

 private:
  RunInput() = default;
  Status Use(UniqueFd source, std::string_view name, const Options& options);

  int fixed_ = -1;    // the input of each run, unless `source_` is valid
  UniqueFd source_;   // opened again for each run
  UniqueFd current_;  // the input of the last run
  off_t offset_ = 0;
  bool has_offset_ = false;  // otherwise it is a device or a FIFO
  std::string note_;
};

}  // namespace fieldcost
