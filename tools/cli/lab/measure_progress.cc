#include "tools/cli/lab/measure_progress.h"

#include <fmt/format.h>

#include "tools/cli/terminal/progress.h"
#include "tools/cli/terminal/terminal_io.h"

namespace fieldcost::cli {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::uint32_t kBarCells = 12;

std::string Bar(std::uint32_t done, std::uint32_t all) {
  const std::uint32_t full = all == 0 ? 0 : kBarCells * done / all;
  return fmt::format("[{:#>{}}{:->{}}]", "", full, "", kBarCells - full);
}

}  // namespace

std::string ProgressText(const lab::MeasureProgress& at) {
  switch (at.step) {
    case lab::MeasureProgress::Step::kWarmup:
      return fmt::format("warm-up {} of {}", at.round, at.rounds);
    case lab::MeasureProgress::Step::kPlain:
      return "plain run, without the library";
    case lab::MeasureProgress::Step::kMap:
      return "map run: finding callees and their callers";
    case lab::MeasureProgress::Step::kTime:
      break;
  }
  const std::uint32_t done = (at.round - 1) * at.groups + at.group - 1;
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(at.left).count();
  return fmt::format("{} round {} of {}, group {} of {}, {} s left",
                     Bar(done, at.rounds * at.groups), at.round, at.rounds, at.group, at.groups,
                     seconds);
}

LabProgress::LabProgress() : terminal_(StderrIsTerminal()), last_line_(SteadyClock::now()) {}

LabProgress::~LabProgress() {
  if (terminal_ && is_shown_) WriteProgress("\r\x1b[K");
}

void LabProgress::Show(const lab::MeasureProgress& at) {
  if (terminal_) {
    is_shown_ = true;
    return WriteProgress("\r\x1b[K" + ProgressText(at));
  }
  const auto now = SteadyClock::now();
  if (now - last_line_ < kProgressInterval) return;
  last_line_ = now;
  Remark(ProgressText(at));
}

}  // namespace fieldcost::cli
