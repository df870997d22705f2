#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/idle/conformance/mask_journal.h"
#include "agent/idle/conformance/pinned_samplers.h"
#include "agent/idle/idle_collector.h"
#include "agent/idle/switch_follower.h"
#include "agent/perf/urgent.h"
#include "common/base/result.h"

namespace fieldcost::idle_agent {

// Mode `literal`: each tick that finds a CPU idle takes a sample, for which the last monitored
// thread that ran there is kept on that CPU (PinnedSamplers). Stacks of threads that may resume are
// read as in mode unprivileged. Proof of concept; the other modes achieve the same at lower cost.
class LiteralCollector : public Collector {
 public:
  struct Options {
    std::filesystem::path journal_directory = {};  // empty: JournalDirectory()
    std::function<void()> while_pinned = {};       // for tests
  };

  // First restores the affinity masks left over by a killed recorder. Returns kPermissionDenied or
  // kUnsupported, with a message that states what is missing. REQUIRES: `writer` outlives this.
  static Result<std::unique_ptr<LiteralCollector>> Create(const Target& target, IdleWriter& writer,
                                                          const Options& options);

  Result<bool> Look(std::chrono::milliseconds limit) override;
  Status Finish() override;
  std::map<std::string, std::uint64_t> Counts() const override;

 private:
  LiteralCollector() = default;
  bool Follow();
  Status TakeSamples();

  std::unique_ptr<SwitchFollower> follower_;
  std::unique_ptr<MaskJournal> journal_;
  std::unique_ptr<PinnedSamplers> samplers_;      // destroyed before the journal that it writes
  std::map<std::uint32_t, WaitPointer> sampled_;  // the wait whose sample is outstanding, by CPU
  std::vector<SwitchFollower::LookAt> looks_;
  std::optional<perf::Urgent> urgent_;  // while it records
  std::map<std::string, std::uint64_t> counts_;
};

// Returns the directory of journals: in memory, private to this user. Returns the errors of
// settings::MakeMemoryDir.
Result<std::filesystem::path> JournalDirectory();

}  // namespace fieldcost::idle_agent
