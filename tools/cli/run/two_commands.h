#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/result.h"
#include "common/base/run_input.h"
#include "common/command/arguments.h"

namespace fieldcost::cli {

// Two programs that are run alternately.
struct TwoCommands {
  struct Command {
    std::string name;  // "old", "new"
    std::vector<std::string> words;
  };
  std::array<Command, 2> both;
};

// Returns which program, 0 or 1, runs first (`turn` 0) or second (1) in this pair of runs, 0, 1,
// ... The sequence of Thue and Morse (old, new; new, old; new, old; old, new; ...): drift of the
// machine affects both sides alike, and so does a disturbance that comes at regular intervals,
// since the order has no period.
std::size_t SideOf(std::uint64_t pair, std::size_t turn);

// Two command lines with "--" between them, for the command `usage` ("fieldcost tree compare").
// kInvalidArgument, kNotFound.
Result<TwoCommands> SplitCommands(const std::vector<std::string>& words, std::string_view usage);

// Runs a recorder with one of the two programs at a time. Use from one thread.
class TurnRunner {
 public:
  // By --input, --runs and --show-output; remarks on the standard input of all runs. Errors of
  // RunInput::Open.
  static Result<TurnRunner> Make(const command::Arguments& arguments);

  // Runs the recorder's command line, which ends with "--", and the program's; `run` counts from 0.
  // kUnavailable if it is interrupted or fails.
  Status Run(std::vector<std::string> recorder, const TwoCommands::Command& command,
             std::uint64_t run);

 private:
  TurnRunner(RunInput input, int output) : input_(std::move(input)), output_(output) {}
  RunInput input_;
  int output_;
};

}  // namespace fieldcost::cli
