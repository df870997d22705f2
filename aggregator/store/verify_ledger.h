#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "aggregator/store/database.h"
#include "common/base/result.h"

namespace fieldcost::store {

// An order-independent fingerprint of a set of numbers.
struct NumberSet {
  std::uint64_t count = 0;
  std::uint64_t mixed = 0;
  bool operator==(const NumberSet&) const = default;
  void Add(std::uint64_t number) {
    ++count;
    std::uint64_t bits = (number + 1) * 0x9e3779b97f4a7c15;
    bits = (bits ^ (bits >> 31)) * 0xbf58476d1ce4e5b9;
    mixed += bits ^ (bits >> 29);
  }
};

// Sums over the whole ledger.
struct LedgerSums {
  std::uint64_t entries = 0;
  std::uint64_t batches = 0;  // in the sums: delivered, neither withdrawn nor held
  NumberSet kept;             // the numbers of the kept batches
  std::map<std::uint32_t, std::uint64_t> contributions;  // of those batches, by week
};

// Checks the ledger at one moment. Calls `problem` with a description of each inconsistency; an
// entry that cannot be read is an error. Expired entries, which are being deleted, are ignored.
class LedgerCheck {
 public:
  struct Bounds {
    std::uint32_t first_week = 0;
    std::uint64_t first_epoch = 0;
  };
  using Problem = std::function<void(std::string text)>;
  LedgerCheck(const Database& database, const Database::View* view, Bounds bounds, Problem problem)
      : database_(database), view_(view), bounds_(bounds), problem_(std::move(problem)) {}

  Result<LedgerSums> Run();

 private:
  struct Agent;
  Status ReadHeld();
  Status ReadExpired(std::string_view key, std::string_view value);
  Status Read(std::string_view key, std::string_view value, Agent& agent);
  Status ReadContributions(std::string_view key, std::string_view value, Agent& agent);
  // Checks all entries of an agent in an epoch.
  void Check(const Agent& agent);
  void CheckAnswers(const Agent& agent) const;
  void CheckBatches(const Agent& agent, const std::set<std::uint64_t>& held) const;
  void CheckContributions(const Agent& agent) const;
  void Report(const Agent& agent, std::string_view what) const;
  void ReportBatch(const Agent& agent, std::uint64_t sequence, std::string_view what) const;

  const Database& database_;
  const Database::View* view_;
  const Bounds bounds_;
  const Problem problem_;
  std::map<std::string, std::set<std::uint64_t>, std::less<>> held_;  // by head key
  LedgerSums sums_;
};

}  // namespace fieldcost::store
