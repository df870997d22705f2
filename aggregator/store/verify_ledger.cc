#include "aggregator/store/verify_ledger.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "aggregator/store/contributions.h"
#include "aggregator/store/kept.h"
#include "aggregator/store/ledger.h"
#include "aggregator/store/probation.h"
#include "aggregator/store/store_limits.h"
#include "aggregator/store/store_row_codec.h"
#include "common/base/byte_order.h"
#include "common/base/text.h"

namespace fieldcost::store {
namespace {

constexpr std::size_t kAnswerKeyBytes = kHeadKeyBytes + kNumberBytes;
constexpr std::size_t kContributionKeyBytes = kHeadKeyBytes + 1 + kWeekBytes + kNumberBytes;
constexpr std::size_t kShownIdBytes = 8;

std::uint64_t NumberAtEnd(std::string_view key) {
  return ReadBigEndian(key.substr(key.size() - kNumberBytes));
}

std::uint64_t EpochOf(std::string_view key) {
  return ReadBigEndian(key.substr(kAgentIdBytes, kNumberBytes));
}

std::string NameOf(std::string_view head_key) {
  return fmt::format("agent {}…, epoch {}", HexEncode(head_key.substr(0, kShownIdBytes)),
                     EpochOf(head_key));
}

bool Contains(const std::set<std::uint64_t>& numbers, std::uint64_t number) {
  return numbers.count(number) != 0;
}

}  // namespace

// The ledger's entries for one agent's epoch.
struct LedgerCheck::Agent {
  std::string head_key;
  std::optional<LedgerHead> head;
  std::set<std::uint64_t> answers;
  std::set<std::uint64_t> withdrawn;
  std::set<std::uint64_t> kept;
  std::vector<SequenceRange> skipped;
  std::vector<std::pair<std::uint32_t, std::uint64_t>> contributions;  // week, sequence
  std::map<std::uint32_t, std::vector<std::uint64_t>> hashes;
  std::optional<Probation> probation;

  // Whether the batch has arrived, or would be answered as if it had.
  bool WasDelivered(std::uint64_t sequence) const {
    if (!head || sequence == 0 || sequence > head->high_water()) return false;
    if (head->high_water() - sequence < kLedgerWindow) {
      return head->Classify(sequence) == LedgerHead::Seen::kReplay;
    }
    return std::none_of(skipped.begin(), skipped.end(), [&](const SequenceRange& range) {
      return range.first <= sequence && sequence <= range.last;
    });
  }
  std::uint64_t Delivered() const {
    std::uint64_t count = head ? head->Delivered() : 0;
    for (const SequenceRange& range : skipped) count -= range.last - range.first + 1;
    return count;
  }
};

Status LedgerCheck::ReadHeld() {
  return database_.ForEach(
      Table::kHeld, "", view_, [&](std::string_view key, std::string_view) -> Status {
        if (key.size() != kAnswerKeyBytes) {
          return Fail(ErrorCode::kCorrupt, "the key of a held batch is malformed");
        }
        held_[std::string(key.substr(0, kHeadKeyBytes))].insert(NumberAtEnd(key));
        return {};
      });
}

Status LedgerCheck::ReadExpired(std::string_view key, std::string_view value) {
  std::uint64_t sequence = 0;
  if (!IsKeptKey(key, sequence)) return {};
  FIELDCOST_ASSIGN(const std::uint64_t number, DecodeKeptNumber(value));
  sums_.kept.Add(number);
  return {};
}

Status LedgerCheck::ReadContributions(std::string_view key, std::string_view value, Agent& agent) {
  const auto week =
      static_cast<std::uint32_t>(ReadBigEndian(key.substr(kHeadKeyBytes + 1, kWeekBytes)));
  std::vector<std::uint64_t> hashes;
  FIELDCOST_TRY(DecodeContributions(value, hashes));
  agent.contributions.emplace_back(week, NumberAtEnd(key));
  std::vector<std::uint64_t>& all = agent.hashes[week];
  all.insert(all.end(), hashes.begin(), hashes.end());
  const auto held = held_.find(agent.head_key);
  if (held == held_.end() || !Contains(held->second, NumberAtEnd(key))) {
    sums_.contributions[week] += hashes.size();
  }
  return {};
}

Status LedgerCheck::Read(std::string_view key, std::string_view value, Agent& agent) {
  const std::string_view mark = key.substr(kHeadKeyBytes);
  std::uint64_t sequence = 0;
  if (key.size() == kHeadKeyBytes) {
    FIELDCOST_ASSIGN(agent.head, LedgerHead::Decode(value));
  } else if (key.size() == kAnswerKeyBytes) {
    agent.answers.insert(NumberAtEnd(key));
  } else if (IsTombstoneKey(key)) {
    FIELDCOST_ASSIGN(const std::uint32_t rows, DecodeTombstone(value));
    static_cast<void>(rows);
    agent.withdrawn.insert(ReadBigEndian(mark.substr(0, kNumberBytes)));
  } else if (IsKeptKey(key, sequence)) {
    FIELDCOST_ASSIGN(const std::uint64_t number, DecodeKeptNumber(value));
    sums_.kept.Add(number);
    agent.kept.insert(sequence);
  } else if (IsSkippedKey(key, agent.head_key)) {
    FIELDCOST_ASSIGN(const std::uint64_t first, DecodeSkipped(value));
    agent.skipped.push_back({.first = first, .last = NumberAtEnd(key)});
  } else if (key.size() == kContributionKeyBytes && mark[0] == 'c') {
    return ReadContributions(key, value, agent);
  } else if (key == ProbationKey(agent.head_key)) {
    FIELDCOST_ASSIGN(agent.probation, Probation::Decode(value));
  } else if (key == UndeliveredKey(agent.head_key)) {
    FIELDCOST_ASSIGN(const std::uint64_t batches, DecodeUndelivered(value));
    static_cast<void>(batches);
  } else if (key == BindingKey(agent.head_key)) {
    FIELDCOST_ASSIGN(const AgentBinding binding, DecodeBinding(value));
    static_cast<void>(binding);
  } else if (key != EnrolmentKey(agent.head_key)) {
    return Fail(ErrorCode::kCorrupt, "the ledger has an entry of no known kind");
  }
  return {};
}

void LedgerCheck::Report(const Agent& agent, std::string_view what) const {
  problem_(fmt::format("{}: {}", NameOf(agent.head_key), what));
}

void LedgerCheck::ReportBatch(const Agent& agent, std::uint64_t sequence,
                              std::string_view what) const {
  Report(agent, fmt::format("batch {} {}", sequence, what));
}

// Checks that exactly the delivered sequences in the window have responses.
void LedgerCheck::CheckAnswers(const Agent& agent) const {
  const std::uint64_t high_water = agent.head ? agent.head->high_water() : 0;
  std::uint64_t answered = 0;
  for (std::uint64_t age = 0; age < std::min<std::uint64_t>(kLedgerWindow, high_water); ++age) {
    const std::uint64_t sequence = high_water - age;
    if (!agent.WasDelivered(sequence)) continue;
    if (Contains(agent.answers, sequence)) {
      ++answered;
    } else {
      ReportBatch(agent, sequence, "was accepted, but its answer is missing");
    }
  }
  if (answered != agent.answers.size()) {
    Report(agent, "there are answers to batches that never arrived");
  }
}

// Checks that only delivered batches are withdrawn, kept or held, and each is at most one of these.
void LedgerCheck::CheckBatches(const Agent& agent, const std::set<std::uint64_t>& held) const {
  for (const std::set<std::uint64_t>* numbers : {&agent.withdrawn, &agent.kept, &held}) {
    for (const std::uint64_t sequence : *numbers) {
      if (!agent.WasDelivered(sequence)) {
        ReportBatch(agent, sequence, "is stored, but never arrived");
      }
    }
  }
  for (const std::uint64_t sequence : agent.withdrawn) {
    if (Contains(agent.kept, sequence)) ReportBatch(agent, sequence, "is withdrawn and kept");
    if (Contains(held, sequence)) ReportBatch(agent, sequence, "is withdrawn and held");
  }
  for (const std::uint64_t sequence : held) {
    if (Contains(agent.kept, sequence)) ReportBatch(agent, sequence, "is both held and kept");
  }
}

// Checks that a withdrawn batch has no contributions, and that no agent contributes twice to a row.
void LedgerCheck::CheckContributions(const Agent& agent) const {
  for (const auto& [week, sequence] : agent.contributions) {
    if (!agent.WasDelivered(sequence)) {
      ReportBatch(agent, sequence, "has contributed, but never arrived");
    }
    if (week >= bounds_.first_week && Contains(agent.withdrawn, sequence)) {
      ReportBatch(agent, sequence, "is withdrawn, but has contributed");
    }
  }
  for (const auto& [week, unsorted] : agent.hashes) {
    std::vector<std::uint64_t> hashes = unsorted;
    std::sort(hashes.begin(), hashes.end());
    if (std::adjacent_find(hashes.begin(), hashes.end()) != hashes.end()) {
      Report(agent, "it has contributed to a row twice");
    }
  }
}

void LedgerCheck::Check(const Agent& agent) {
  if (agent.head_key.empty()) return;
  const auto held_place = held_.find(agent.head_key);
  const std::set<std::uint64_t> none;
  const std::set<std::uint64_t>& held = held_place == held_.end() ? none : held_place->second;
  CheckAnswers(agent);
  CheckBatches(agent, held);
  CheckContributions(agent);
  if ((agent.probation ? agent.probation->held_batches : 0) != held.size()) {
    Report(agent, fmt::format("{} batches are held, but its record of probation has another number",
                              held.size()));
  }
  const std::uint64_t not_summed = agent.withdrawn.size() + held.size();
  if (agent.Delivered() < not_summed + agent.kept.size()) {
    Report(agent, "more batches are stored than ever arrived");
  } else {
    sums_.batches += agent.Delivered() - not_summed;
  }
}

Result<LedgerSums> LedgerCheck::Run() {
  FIELDCOST_TRY(ReadHeld());
  std::size_t with_held = 0;
  Agent agent;
  const auto next = [&](std::string_view head_key) {
    Check(agent);
    agent = Agent{.head_key = std::string(head_key)};
    with_held += held_.count(agent.head_key);
  };
  FIELDCOST_TRY(database_.ForEach(
      Table::kLedger, "", view_, [&](std::string_view key, std::string_view value) -> Status {
        ++sums_.entries;
        if (key.size() < kHeadKeyBytes) {
          return Fail(ErrorCode::kCorrupt, "a key of the ledger is malformed");
        }
        if (EpochOf(key) < bounds_.first_epoch) return ReadExpired(key, value);
        if (key.substr(0, kHeadKeyBytes) != agent.head_key) next(key.substr(0, kHeadKeyBytes));
        return Read(key, value, agent);
      }));
  next("");
  const auto expired = std::count_if(held_.begin(), held_.end(), [&](const auto& entry) {
    return EpochOf(entry.first) < bounds_.first_epoch;
  });
  if (with_held + static_cast<std::size_t>(expired) != held_.size()) {
    problem_("batches are held of an agent that the ledger does not know");
  }
  return std::move(sums_);
}

}  // namespace fieldcost::store
