#include "tools/cli/terminal/progress.h"

#include <fmt/format.h>

#include <utility>

#include "tools/cli/terminal/terminal_io.h"

namespace fieldcost::cli {
namespace {

using SteadyClock = std::chrono::steady_clock;

}  // namespace

Progress::Progress(std::string what)
    : what_(std::move(what)), terminal_(StderrIsTerminal()), last_line_(SteadyClock::now()) {}

void Progress::operator()(std::uint64_t done, std::uint64_t total) {
  const std::string text = fmt::format("{} {} of {}", what_, done, total);
  if (terminal_) {
    WriteProgress(fmt::format("\r{}{}", text, done == total ? "\n" : ""));
    return;
  }
  const auto now = SteadyClock::now();
  if (now - last_line_ < kProgressInterval) return;
  last_line_ = now;
  Remark(text);
}

}  // namespace fieldcost::cli
