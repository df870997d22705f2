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

// Agents with own keys who speak with a real fieldcost-aggregator over HTTPS, and what they were
// answered. Each sends batches, sends some again, and takes some back, one request at a time; what
// has no answer yet it asks again, for as long as it takes.
class Fleet {
 public:
  Fleet(unsigned agents, std::uint64_t seed);

  struct Server {
    std::string url;
    std::filesystem::path ca;
  };
  // All agents at once, each in a thread, until `stop` or until the server does not answer, or
  // refuses for the moment (503), each at most `requests`. `on_answer` is called after each answer.
  // An empty string, or what the server did wrong.
  std::string Work(const Server& server, unsigned requests, const std::atomic<bool>& stop,
                   const std::function<void()>& on_answer);

  // Until nothing is open any more. REQUIRES: nothing goes wrong with the server.
  std::string Finish(const Server& server);
  // The newest batches of each, sent again; all of them have been answered.
  std::string SendAgain(const Server& server);

  // What was sent and not taken back.
  Sums Expected() const;
  std::uint64_t batches() const;                              // of these
  std::uint64_t withdrawn() const;                            // answered
  std::uint64_t unavailable() const { return unavailable_; }  // 503 answers
  // Why the last agent gave up.
  std::string last_refusal() const;

 private:
  struct Batch {
    std::string body;
    std::string answer;  // empty = none yet
    Sums sums;
    std::vector<unsigned> contributed;  // functions to which it is the first
    bool withdrawal_asked = false;
    bool withdrawn = false;
  };
  struct Agent {
    unsigned number = 0;
    crypto::PrivateKey key;
    Random random;
    std::vector<Batch> batches;  // [i] has sequence i + 1
    std::set<unsigned> contributed;
    std::size_t open_withdrawal = 0;  // its sequence; 0 = none
  };
  class Session;

  static void AddBatch(Agent& agent);

  std::vector<Agent> agents_;
  std::atomic<std::uint64_t> unavailable_{0};
  mutable std::mutex mutex_;
  std::string last_refusal_;  // guarded by mutex_
};

// Every row of a stopped server's store; also checks it.
Sums StoredRows(const std::filesystem::path& data_dir, std::uint64_t expected_batches,
                std::string& trouble);

}  // namespace fieldcost::faults
