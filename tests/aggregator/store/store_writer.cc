// Feeds a store as agents do, until it is killed: one thread per agent prints "ack AGENT SEQUENCE"
// after each accepted batch and "gone AGENT SEQUENCE" after each withdrawn one. Usage:
//   store_writer DATA_DIR AGENTS FIRST_SEQUENCE... [STAGE COUNT]
// STAGE is "frozen" or "written": the process kills itself in its COUNT-th checkpoint. With "full"
// instead, no file may grow any more after COUNT batches of the first agent. Batches that are
// refused then, and once there is room again, are printed as "refused CODE". The process exits with
// status 3 if neither a checkpoint nor a backup (to DATA_DIR.backups) succeeds then. With "publish"
// (COUNT is ignored), one more thread publishes all the time, and prints "published VERSION".
//   store_writer DATA_DIR expire WEEK EPOCH
// opens the store, prints "ready" and expires older data.
//   store_writer DATA_DIR remove AGENT
// removes the agent's batches, prints "at STEP" meanwhile and "at end" afterwards, and waits.
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "tests/aggregator/store/batches.h"
#include "tests/aggregator/store/publish_all.h"

namespace {

using fieldcost::store::CheckpointStage;

using fieldcost::store::Store;
using fieldcost::store::TestBatch;

void SetFileSizeLimit(rlim_t bytes) {
  rlimit limit{};
  ::getrlimit(RLIMIT_FSIZE, &limit);
  limit.rlim_cur = bytes;
  ::setrlimit(RLIMIT_FSIZE, &limit);
}

// Simulates a full disk, as the kernel reports it.
[[noreturn]] void EndOnFullDisk(Store& store, const TestBatch& batch,
                                const std::string& backup_dir) {
  ::signal(SIGXFSZ, SIG_IGN);
  SetFileSizeLimit(1);
  for (int i = 0; i < 2; ++i) {
    const auto result = store.Accept(batch.View());
    if (result) ::_exit(1);
    ::dprintf(1, "refused %d %s\n", static_cast<int>(result.error().code),
              store.healthy() ? "healthy" : "failed");
    SetFileSizeLimit(RLIM_INFINITY);
  }
  ::_exit(store.Checkpoint() || store.Backup(backup_dir) ? 1 : 3);
}

void Feed(Store& store, unsigned agent, std::uint64_t sequence, int full_after,
          const std::string& backup_dir) {
  TestBatch batch;
  const std::uint64_t first = sequence;
  for (;; ++sequence) {
    fieldcost::store::MakeTestBatch(agent, sequence, batch, nullptr);
    if (full_after-- == 0) EndOnFullDisk(store, batch, backup_dir);
    const auto result = store.Accept(batch.View());
    if (!result && !store.healthy()) return;
    if (!result || result->answer != batch.answer) {
      ::dprintf(2, "accept failed\n");
      ::_exit(1);
    }
    if (::dprintf(1, "ack %u %llu\n", agent, static_cast<unsigned long long>(sequence)) < 0) {
      ::_exit(1);
    }
    if (sequence == first || !fieldcost::store::IsToBeWithdrawn(agent, sequence - 1)) continue;
    fieldcost::store::MakeTestBatch(agent, sequence - 1, batch, nullptr);
    const auto gone = store.Withdraw(batch.Undo());
    if (!gone && !store.healthy()) return;
    if (!gone || gone->withdrawn_rows != batch.rows.row_count()) {
      ::dprintf(2, "withdraw failed\n");
      ::_exit(1);
    }
    ::dprintf(1, "gone %u %llu\n", agent, static_cast<unsigned long long>(sequence - 1));
  }
}

void PublishOften(Store& store) {
  auto version = store.GetNumber("version");
  while (version) {
    if (!fieldcost::store::PublishAll(store, ++*version)) ::_exit(4);
    ::dprintf(1, "published %llu\n", static_cast<unsigned long long>(*version));
  }
}

int Expire(const std::string& data_dir, std::uint32_t week, std::uint64_t epoch) {
  auto store = Store::Open({.data_dir = data_dir, .checkpoint_seconds = 0});
  if (!store || ::dprintf(1, "ready\n") < 0) return 1;
  return (*store)->Expire(week, fieldcost::wire::Epoch(epoch)) ? 0 : 2;
}

int Remove(const std::string& data_dir, unsigned agent) {
  auto store = Store::Open({.data_dir = data_dir, .checkpoint_rows = 30});
  if (!store) return 1;
  const auto progress = [](int done, int) {
    if (::dprintf(1, "at %d\n", done) < 0) ::_exit(1);
  };
  const auto report = (*store)->RemoveAll(fieldcost::store::TestAgent(agent), progress);
  if (!report || ::dprintf(1, "at end\n") < 0) return 2;
  ::pause();
  return 0;
}

}  // namespace

int main(int argument_count, char** arguments) {
  const std::vector<std::string> words(arguments + 1, arguments + argument_count);
  if (words.at(1) == "expire") {
    return Expire(words.at(0), static_cast<std::uint32_t>(std::stoul(words.at(2))),
                  std::stoull(words.at(3)));
  }
  if (words.at(1) == "remove") {
    return Remove(words.at(0), static_cast<unsigned>(std::stoul(words.at(2))));
  }
  const unsigned agents = static_cast<unsigned>(std::stoul(words.at(1)));
  fieldcost::store::StoreOptions options{
      .data_dir = words.at(0), .checkpoint_rows = 30, .checkpoint_seconds = 3600};
  std::atomic<int> left{0};
  int full_after = -1;
  bool publish = false;
  if (words.size() > 2 + agents) {
    const std::string& stage_name = words.at(2 + agents);
    const int count = std::stoi(words.at(3 + agents));
    if (stage_name == "full") {
      full_after = count;
    } else if (stage_name == "publish") {
      publish = true;
    } else {
      const auto stage =
          stage_name == "frozen" ? CheckpointStage::kFrozen : CheckpointStage::kWritten;
      left = count;
      options.on_checkpoint = [&left, stage](CheckpointStage now) {
        if (now == stage && --left == 0) ::kill(::getpid(), SIGKILL);
      };
    }
  }
  auto store = fieldcost::store::Store::Open(options);
  if (!store) {
    ::dprintf(2, "open: %s\n", store.error().message.c_str());
    return 1;
  }
  std::vector<std::thread> threads;
  for (unsigned agent = 0; agent < agents; ++agent) {
    threads.emplace_back([&, agent] {
      Feed(**store, agent, std::stoull(words.at(2 + agent)), agent == 0 ? full_after : -1,
           words.at(0) + ".backups");
    });
  }
  if (publish) threads.emplace_back([&] { PublishOften(**store); });
  for (std::thread& thread : threads) thread.join();
  return 0;
}
