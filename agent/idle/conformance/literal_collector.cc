#include "agent/idle/conformance/literal_collector.h"

#include <set>

#include "agent/settings/memory_dir.h"
#include "agent/settings/paths.h"

namespace fieldcost::idle_agent {

Result<std::filesystem::path> JournalDirectory() {
  FIELDCOST_ASSIGN(const settings::AgentPaths paths, settings::AgentPaths::FromEnvironment());
  FIELDCOST_ASSIGN(const settings::MemoryDir memory, settings::MakeMemoryDir(paths));
  return memory.directory;
}

Result<std::unique_ptr<LiteralCollector>> LiteralCollector::Create(const Target& target,
                                                                   IdleWriter& writer,
                                                                   const Options& options) {
  std::filesystem::path directory = options.journal_directory;
  if (directory.empty()) {
    FIELDCOST_ASSIGN(directory, JournalDirectory());
  }
  std::unique_ptr<LiteralCollector> made(new LiteralCollector);
  FIELDCOST_ASSIGN(made->counts_["masks restored from an earlier recording"],
                   RestoreMasks(directory));
  FIELDCOST_ASSIGN(made->journal_, MaskJournal::Create(directory));
  FIELDCOST_ASSIGN(made->follower_, SwitchFollower::Create(target, writer));
  FIELDCOST_ASSIGN(made->samplers_, PinnedSamplers::Start({.tick_ns = writer.tick_ns(),
                                                           .while_pinned = options.while_pinned},
                                                          *made->journal_));
  made->urgent_.emplace();
  return made;
}

bool LiteralCollector::Follow() {
  looks_.clear();
  bool was_idle = false;
  samplers_->Take([&](std::uint32_t cpu, const CpuLook& look) {
    looks_.push_back({.cpu = cpu, .look = look});
    was_idle = was_idle || look.idle;
  });
  follower_->Follow(looks_);
  return was_idle;
}

Status LiteralCollector::TakeSamples() {
  for (PinnedSamplers::Sample& sample : samplers_->Samples()) {
    const auto wait = sampled_.extract(sample.cpu);
    if (wait.empty()) continue;
    ++counts_["samples"];
    // All samples of the same wait have the same stack.
    if (wait.mapped()->state != ThreadWait::Stack::kUnread) continue;
    std::optional<StackId> stack;
    if (sample.copy) {
      FIELDCOST_ASSIGN(stack, follower_->stacks().Add(wait.mapped()->pid, *sample.copy));
    }
    follower_->account().Read(*wait.mapped(), sample.time_ns, stack);
    ++counts_[stack ? "stacks" : "unavailable stacks"];
  }
  for (const std::uint32_t cpu : samplers_->Asking()) {
    const WaitPointer last = follower_->account().LastOn(cpu);
    if (last == nullptr) {
      samplers_->AnswerNobody(cpu);
      continue;
    }
    sampled_[cpu] = last;
    samplers_->Answer(cpu, last->pid, last->tid);
  }
  return {};
}

Result<bool> LiteralCollector::Look(std::chrono::milliseconds limit) {
  FIELDCOST_TRY(follower_->Wait(limit, samplers_->fd()));
  const bool has_ended = follower_->HasEnded();
  const bool was_idle = Follow();
  FIELDCOST_TRY(TakeSamples());
  if (was_idle) {
    std::set<WaitPointer> outstanding;
    for (const auto& [cpu, wait] : sampled_) outstanding.insert(wait);
    FIELDCOST_TRY(follower_->ReadStacks(outstanding));
  }
  FIELDCOST_TRY(follower_->Tell());
  return !has_ended;
}

Status LiteralCollector::Finish() {
  urgent_.reset();
  samplers_->Stop();
  Follow();
  FIELDCOST_TRY(TakeSamples());
  return follower_->Finish();
}

std::map<std::string, std::uint64_t> LiteralCollector::Counts() const {
  std::map<std::string, std::uint64_t> counts = follower_->counts();
  for (const auto& [name, value] : counts_) counts[name] += value;
  counts["deferred ticks"] = samplers_->deferred();
  counts["looks without room"] = samplers_->dropped();
  return counts;
}

}  // namespace fieldcost::idle_agent
