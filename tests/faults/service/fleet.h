#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "common/crypto/ed25519.h"
#include "common/http/http_message.h"
#include "common/stats/contribution_sizes.h"
#include "common/stats/stat_row.h"
#include "tests/faults/store/disk_model.h"

namespace fieldcost::faults {

struct RowSums : stats::StatRow {
  stats::ContributionSizes sizes;
  bool operator==(const RowSums&) const = default;
};
using Sums = std::map<stats::RowKey, RowSums>;

// Agents with their own keys that talk to a real fieldcost-aggregator over HTTPS, and the responses
// they received. Each agent sends batches, sends some again and withdraws some, one request at a
// time; it repeats an unanswered request until it gets a response.
class Fleet {
 public:
  Fleet(unsigned agents, std::uint64_t seed);

  struct Server {
    std::string url;
    std::filesystem::path ca;
  };
  // Runs all agents concurrently, one thread each, until `stop`, until the server does not respond
  // or responds with 503, or until each has sent `requests` requests. `on_answer` is called after
  // each response. Returns "" or the server's mistake.
  std::string Work(const Server& server, unsigned requests, const std::atomic<bool>& stop,
                   const std::function<void()>& on_answer);

  // Runs until no request is unanswered. REQUIRES: the server does not fail.
  std::string Finish(const Server& server);
  // Sends each agent's newest batches again, all of which have been answered.
  std::string SendAgain(const Server& server);

  // The sums of what was sent and not withdrawn.
  Sums Expected() const;
  std::uint64_t batches() const;                              // that are in Expected()
  std::uint64_t withdrawn() const;                            // with a response
  std::uint64_t unavailable() const { return unavailable_; }  // 503 responses
  // Why the last agent stopped.
  std::string last_refusal() const;

 private:
  struct Batch {
    std::string body;
    std::string answer;  // empty if none yet
    Sums sums;
    std::vector<unsigned> contributed;  // functions with their first contribution here
    bool withdrawal_asked = false;
    bool withdrawn = false;
  };
  struct Agent {
    unsigned number = 0;
    crypto::PrivateKey key;
    Random random;
    std::vector<Batch> batches;  // [i] has sequence i + 1
    std::set<unsigned> contributed;
    std::size_t open_withdrawal = 0;  // its sequence; 0 if none
  };
  class Session;

  static void AddBatch(Agent& agent);

  std::vector<Agent> agents_;
  std::atomic<std::uint64_t> unavailable_{0};
  mutable std::mutex mutex_;
  std::string last_refusal_;  // guarded by mutex_
};

// Returns every row of a stopped server's store, after verifying the store.
Sums StoredRows(const std::filesystem::path& data_dir, std::uint64_t expected_batches,
                std::string& trouble);

}  // namespace fieldcost::faults
