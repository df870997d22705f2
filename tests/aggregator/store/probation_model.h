#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>

#include "tests/aggregator/store/batches.h"

namespace fieldcost::store {

// A reference model, in a few maps, of a store with probation, and a stream of operations that
// depends only on the seed, not on the process.
class ProbationModel {
 public:
  static constexpr unsigned kBatches = 3;  // StoreOptions::probation_batches
  static constexpr unsigned kAgents = 6;
  // Limits for StoreOptions, so small that batches are often evicted or refused.
  static constexpr std::uint64_t kHeldBytes = 14'000;
  static constexpr std::uint64_t kHeldBytesPerAgent = 9'000;

  enum class Kind { kDeliver, kWithdraw, kRevoke, kCheckpoint };
  struct Operation {
    Kind kind = Kind::kDeliver;
    unsigned agent = 0;
    std::uint64_t sequence = 0;
    bool honest = true;
  };
  using Batch = std::pair<unsigned, std::uint64_t>;

  explicit ProbationModel(std::uint64_t seed) : random_(seed) {}

  static StoreOptions Options(const std::filesystem::path& data_dir);

  // Returns the next operation, which depends on the seed and on the operations applied so far.
  Operation Next();
  void Apply(const Operation& operation);

  // Performs the operation on the store. Returns "" if the result is as the model expects before
  // Apply(), or, with `again`, as expected for an operation that may already have happened.
  std::string Do(const Operation& operation, Store& store, bool again) const;

  // Returns "" if the store holds, sums and remembers the same as the model.
  std::string Compare(Store& store) const;

  std::size_t held() const { return held_.size(); }
  std::size_t live() const { return live_.size(); }
  std::size_t gone() const { return gone_.size(); }
  std::size_t refused() const { return refused_; }
  std::size_t evicted() const { return evicted_; }

 private:
  bool IsDelivered(const Batch& batch) const {
    return held_.contains(batch) || live_.contains(batch) || gone_.contains(batch);
  }
  void ApplyDelivery(const Operation& operation);
  void MoveHeldTo(std::set<Batch>& to, unsigned agent);
  // Parts of Do().
  std::string Deliver(const Operation& operation, Store& store, bool again,
                      const TestBatch& batch) const;
  std::string Withdraw(const Batch& of, Store& store, bool again, const TestBatch& batch) const;
  // Returns the batches to evict so that this batch may be held; nullopt if it may not.
  std::optional<std::set<Batch>> MakeRoom(const Batch& batch, bool dishonest) const;
  bool IsTurnedAway(unsigned agent) const {
    return revoked_.contains(agent) && !released_.contains(agent);
  }

  std::mt19937_64 random_;
  std::map<unsigned, std::uint64_t> last_;
  std::map<unsigned, std::uint64_t> honest_;
  std::set<unsigned> dishonest_;
  std::set<unsigned> released_;
  std::set<unsigned> revoked_;
  std::set<Batch> held_;
  std::set<Batch> live_;
  std::set<Batch> gone_;
  std::size_t refused_ = 0;
  std::size_t evicted_ = 0;
};

}  // namespace fieldcost::store
