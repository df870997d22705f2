#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "aggregator/publish/cut_rule.h"
#include "aggregator/store/compact_row.h"
#include "aggregator/store/published_unit.h"

namespace fieldcost::publish {

// A small model of one unit: agents with batches, the store's exact sums, and publications by the
// rule. Each batch has one call, whose cost identifies the batch; so every published sum can be
// decoded into the set of batches in it. An attacker collects all of them.
class CutWorld {
 public:
  using Batch = std::size_t;
  using Agent = std::size_t;
  using Batches = std::set<Batch>;
  static constexpr Batch kMaxBatches = 700;

  explicit CutWorld(std::uint64_t threshold) : threshold_(threshold) {}

  // Adds an agent's first batch, or a later one.
  Batch Contribute(Agent agent, std::size_t hardware, unsigned week) {
    return Send(agent, hardware, week, true);
  }
  Batch SendMore(Agent agent, std::size_t hardware, unsigned week) {
    return Send(agent, hardware, week, false);
  }
  // The mark for the next publication names the record, or only its week.
  void Withdraw(Batch batch, bool is_number_known = true);
  bool IsInStore(Batch batch) const { return batches_.at(batch).is_in_store; }
  // Expires the first weeks of the quarter. At least as many as before.
  void Expire(unsigned weeks);
  // Copies store and state; Restore() brings the copy back, as often as wanted. Between a restore
  // and the publication that settles, more may be sent.
  void BackUp();
  void Restore();

  void PassSeconds(std::uint32_t seconds) { now_s_ += seconds; }
  // Publishes, and checks what must hold after each publication (GoogleTest).
  UnitChange Publish();

  const store::PublishedUnit& unit() const { return unit_; }
  // The published batches: in all, of a class; empty if there is no row.
  Batches Published() const;
  Batches Published(std::size_t hardware) const;
  // Each different set of batches that was ever published: rows, classes, periods.
  const std::set<Batches>& ever_published() const { return ever_published_; }
  // The fewest agents, below the threshold, for whose batches alone some linear combination of
  // published sums is not zero; nullopt if there is no such combination.
  std::optional<std::set<Agent>> FindIsolated() const;

 private:
  struct SentBatch {
    Agent agent = 0;
    std::size_t hardware = 0;
    unsigned week = 0;
    bool is_first = false;
    bool is_in_store = true;
    std::uint64_t number = 0;  // of the record
  };
  using Rows = std::map<std::pair<stats::HardwareClass, unsigned>, store::CompactRow>;
  struct Saved {
    Rows rows;
    std::vector<bool> is_in_store;
    std::vector<WithdrawalMark> marks;
    store::PublishedUnit unit;
    std::uint64_t number = 0;
  };

  Batch Send(Agent agent, std::size_t hardware, unsigned week, bool is_first);
  Batches Decode(const store::CompactRow& row) const;
  UnitSums InStore() const;
  void CheckState() const;
  void CheckChange(const UnitChange& change, const store::PublishedUnit& before) const;
  void Observe();

  const std::uint64_t threshold_;
  std::vector<SentBatch> batches_;
  Rows rows_;
  std::uint64_t number_ = 0;
  std::uint32_t now_s_ = 1'795'737'600;  // a Friday
  unsigned expired_weeks_ = 0;
  bool settles_ = false;
  std::vector<WithdrawalMark> marks_;
  store::PublishedUnit unit_;
  std::optional<Saved> saved_;
  std::set<Batches> ever_published_;
};

// The class with this number; 0 is the class without a name.
stats::HardwareClass ClassNumber(std::size_t hardware);

}  // namespace fieldcost::publish
