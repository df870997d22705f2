// Applies random operations to the outbox and to a model that is as simple as possible.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <set>

#include "agent/spool/spool_db.h"
#include "common/wire/epoch.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::spool {
namespace {

using std::chrono::hours;

constexpr WallTime kBegin{std::chrono::microseconds(1'750'000'000'000'000)};
constexpr hours kMaxAge{21 * 24};
constexpr int kQuarantinedBodies = 256;

struct ModelBatch {
  wire::Epoch epoch{};
  std::uint64_t sequence = 0;
  SpoolState state = SpoolState::kQueued;
  std::uint64_t attempts = 0;
  WallTime::duration waited{};
  std::string body;  // empty once it has been deleted
  std::uint64_t size = 0;
  std::uint64_t rows = 0;
  std::string receipt;
  bool contributes = true;

  bool MayBeThere() const {
    return state == SpoolState::kSent ||
           ((state == SpoolState::kQueued || state == SpoolState::kDropped) && attempts > 0) ||
           (state == SpoolState::kQuarantined && attempts > 1);
  }
};

struct Model {
  std::map<std::uint64_t, ModelBatch> batches;  // by id
  std::uint64_t last_id = 0;
  wire::Epoch epoch{};
  std::map<wire::Epoch, std::uint64_t> last_sequence;
  std::uint64_t dropped = 0;
  std::uint64_t dropped_rows = 0;
  std::optional<WallTime> last_seen;

  std::uint64_t FirstQueued() const {
    for (const auto& [id, batch] : batches) {
      if (batch.state == SpoolState::kQueued) return id;
    }
    return 0;
  }
  void KeepQuarantinedBodies() {
    int newer = 0;
    for (auto entry = batches.rbegin(); entry != batches.rend(); ++entry) {
      if (entry->second.state != SpoolState::kQuarantined) continue;
      if (++newer > kQuarantinedBodies) entry->second.body.clear();
    }
  }
  std::uint64_t QueuedBytes() const {
    std::uint64_t bytes = 0;
    for (const auto& [id, batch] : batches) {
      if (batch.state == SpoolState::kQueued) bytes += batch.size;
    }
    return bytes;
  }
};

// Outbox and model side by side; each method applies one operation to both.
class Pair {
 public:
  Pair(const std::filesystem::path& file, std::uint64_t seed) : file_(file), random_(seed) {
    Open();
  }

  void Step();
  void Compare();

 private:
  void Open() {
    spool_.reset();
    state_.reset();
    auto opened = StateDb::Open(file_);
    ASSERT_TRUE(opened) << opened.error().message;
    state_.emplace(std::move(*opened));
    spool_.emplace(*state_);
  }
  void Operate(Model& model);
  void Add(Model& model);
  void Age(Model& model);
  void DropUnsent(Model& model);
  void DropBytes(Model& model);
  void Withdraw(Model& model);

  std::filesystem::path file_;
  std::mt19937_64 random_;
  std::optional<StateDb> state_;
  std::optional<SpoolDb> spool_;
  Model model_;
  WallTime true_time_ = kBegin;
  hours off_{0};
  WallTime now_ = kBegin;
};

void Pair::Add(Model& model) {
  const wire::Epoch epoch(220 + random_() % 5);  // clocks may go back
  ModelBatch batch;
  // A clock before the first possible epoch is ignored.
  model.epoch = epoch < wire::kEarliestEpoch ? std::max(epoch, model.epoch) : epoch;
  batch.epoch = model.epoch;
  batch.sequence = ++model.last_sequence[model.epoch];
  batch.body = std::string(1 + random_() % 40, static_cast<char>('a' + random_() % 26));
  batch.size = batch.body.size();
  batch.rows = random_() % 9;
  const auto id = spool_->Add(batch.body, batch.rows, epoch, now_);
  ASSERT_TRUE(id) << id.error().message;
  ASSERT_EQ(*id, ++model.last_id);
  const LocalKey key{.api = {.soname = "lib",
                             .package_version = {},
                             .build_id = {},
                             .symbol = fmt::format("f{}", *id),
                             .symbol_version = {}},
                     .metric = stats::Metric::kWallTime,
                     .week = 1};
  ASSERT_TRUE(state_->AddContributed(key, "h", *id));
  model.batches[*id] = batch;
}

void Pair::Age(Model& model) {
  // Usually advances by days; sometimes the clock is ten years off from now on.
  true_time_ += hours(random_() % 100);
  if (random_() % 10 == 0) off_ = hours(24 * 3650) * (static_cast<int>(random_() % 3) - 1);
  now_ = true_time_ + off_;
  const std::uint64_t max_bytes = 100 + random_() % 300;
  ASSERT_TRUE(spool_->GrowOlder(now_));
  ASSERT_TRUE(spool_->DropExcess(kMaxAge, max_bytes, now_));
  const WallTime::duration gap = model.last_seen ? now_ - *model.last_seen : hours(0);
  const bool too_soon = model.last_seen && gap >= hours(0) && gap < hours(1);
  if (!too_soon) {
    for (auto& [id, batch] : model.batches) {
      if (batch.state != SpoolState::kQueued) continue;
      batch.waited += std::clamp<WallTime::duration>(gap, hours(0), SpoolDb::kMaxAgeStep);
    }
    model.last_seen = now_;
  }
  for (;;) {
    const std::uint64_t id = model.FirstQueued();
    if (id == 0) break;
    ModelBatch& batch = model.batches[id];
    if (batch.waited <= kMaxAge && model.QueuedBytes() <= max_bytes) break;
    batch.state = SpoolState::kDropped;
    if (batch.attempts == 0) {
      batch.body.clear();
      batch.contributes = false;
    }
    ++model.dropped;
    model.dropped_rows += batch.rows;
  }
}

void Pair::DropUnsent(Model& model) {
  std::uint64_t never_left = 0;
  for (auto& [id, batch] : model.batches) {
    if (batch.state != SpoolState::kQueued) continue;
    batch.state = SpoolState::kDropped;
    if (batch.attempts > 0) continue;
    ++never_left;
    batch.body.clear();
    batch.contributes = false;
  }
  EXPECT_EQ(*spool_->DropUnsent("why", now_), never_left);
}

void Pair::DropBytes(Model& model) {
  const std::uint64_t limit = random_() % 400;
  ASSERT_TRUE(spool_->DropOldBytes(limit));
  std::uint64_t total = 0;
  for (auto entry = model.batches.rbegin(); entry != model.batches.rend(); ++entry) {
    ModelBatch& batch = entry->second;
    const bool counts = batch.state == SpoolState::kSent || batch.state == SpoolState::kDropped;
    if (!counts || batch.body.empty()) continue;
    total += batch.size;
    if (total > limit) batch.body.clear();
  }
}

void Pair::Withdraw(Model& model) {
  const std::uint64_t after = model.last_id == 0 ? 0 : random_() % model.last_id;
  std::uint64_t expected = 0;
  for (const auto& [id, batch] : model.batches) {
    if (expected == 0 && id > after && !batch.body.empty() && batch.MayBeThere()) expected = id;
  }
  const auto found = spool_->NextToWithdraw(after);
  ASSERT_TRUE(found);
  ASSERT_EQ(*found ? (*found)->id : 0, expected);
  if (expected == 0) return;
  EXPECT_EQ((*found)->receipt, model.batches[expected].receipt);
  ASSERT_TRUE(spool_->MarkWithdrawn(expected, now_));
  ModelBatch& batch = model.batches[expected];
  batch.state = SpoolState::kWithdrawn;
  batch.body.clear();
  batch.receipt.clear();
  batch.contributes = false;
}

void Pair::Operate(Model& model) {
  const std::uint64_t first = model.FirstQueued();
  switch (random_() % 12) {
    case 0:
    case 1:
    case 2:
      return Add(model);
    case 3:
    case 4:
      if (first == 0) return;
      EXPECT_TRUE(*spool_->MarkAttempted(first));
      ++model.batches[first].attempts;
      return;
    case 5:
    case 6: {
      if (first == 0) return;
      wire::BatchAnswer answer;
      answer.receipt = fmt::format("{:x}", random_());
      ASSERT_TRUE(spool_->MarkSent(first, answer, now_));
      model.batches[first].state = SpoolState::kSent;
      model.batches[first].receipt = answer.receipt;
      return;
    }
    case 7:
      if (first == 0) return;
      ASSERT_TRUE(spool_->MarkQuarantined(first, "no", now_));
      model.batches[first].state = SpoolState::kQuarantined;
      // A batch that was attempted before may have arrived then.
      if (model.batches[first].attempts <= 1) model.batches[first].contributes = false;
      model.KeepQuarantinedBodies();
      return;
    case 8:
      return Age(model);
    case 9:
      if (random_() % 8 == 0) DropUnsent(model);
      return;
    case 10:
      return DropBytes(model);
    default:
      return Withdraw(model);
  }
}

// A transaction of a few operations, sometimes rolled back half-way.
void Pair::Step() {
  if (random_() % 20 == 0) {
    ASSERT_NO_FATAL_FAILURE(Open());
  }
  auto transaction = state_->Begin();
  ASSERT_TRUE(transaction) << transaction.error().message;
  Model after = model_;
  for (std::uint64_t operations = 1 + random_() % 8; operations > 0; --operations) {
    ASSERT_NO_FATAL_FAILURE(Operate(after));
  }
  if (random_() % 5 == 0) return;  // rolled back
  ASSERT_TRUE(transaction->Commit());
  model_ = after;
}

void Pair::Compare() {
  const auto log = spool_->Log();
  ASSERT_TRUE(log) << log.error().message;
  ASSERT_EQ(log->size(), model_.batches.size());
  std::set<wire::Epoch> epochs;
  std::uint64_t contributing = 0;
  std::set<std::pair<wire::Epoch, std::uint64_t>> numbers;
  for (const LoggedBatch& logged : *log) {
    SCOPED_TRACE(logged.id);
    const ModelBatch& batch = model_.batches.at(logged.id);
    EXPECT_EQ(logged.epoch, batch.epoch);
    EXPECT_EQ(logged.sequence, batch.sequence);
    EXPECT_EQ(logged.state, batch.state);
    EXPECT_EQ(logged.rows, batch.rows);
    EXPECT_EQ(logged.size_bytes, batch.size);
    const bool can_withdraw = !batch.body.empty() && batch.MayBeThere();
    EXPECT_EQ(logged.can_withdraw, can_withdraw);
    EXPECT_EQ(spool_->Find(logged.id)->value().body, batch.body);
    EXPECT_TRUE(numbers.emplace(logged.epoch, logged.sequence).second) << "used twice";
    if (batch.state == SpoolState::kQueued || can_withdraw) epochs.insert(batch.epoch);
    contributing += batch.contributes ? 1 : 0;
  }
  const auto queued = spool_->FirstQueued();
  EXPECT_EQ(*queued ? (*queued)->id : 0, model_.FirstQueued());
  EXPECT_EQ(spool_->Totals()->queued_bytes, model_.QueuedBytes());
  EXPECT_EQ(*state_->Get(kDroppedBatchesNumber, 0), model_.dropped);
  EXPECT_EQ(*state_->Get(kDroppedRowsNumber, 0), model_.dropped_rows);
  EXPECT_EQ(*spool_->EpochsInUse(), std::vector<wire::Epoch>(epochs.begin(), epochs.end()));
  EXPECT_EQ(*state_->connection().QueryInt("SELECT count(*) FROM contributed"), contributing);
}

TEST(OutboxTest, AgreesWithTheModelInAllCases) {
  constexpr int kSteps = 1000;  // one to eight operations each
  const std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE(fmt::format("seed {}", seed));
  const testing::TempDir directory;
  Pair pair(directory.path() / "agent.db", seed);
  for (int step = 0; step < kSteps; ++step) {
    SCOPED_TRACE(step);
    ASSERT_NO_FATAL_FAILURE(pair.Step());
    if (step % 10 == 0) {
      ASSERT_NO_FATAL_FAILURE(pair.Compare());
    }
    if (::testing::Test::HasFailure()) return;
  }
  ASSERT_NO_FATAL_FAILURE(pair.Compare());
}

}  // namespace
}  // namespace fieldcost::spool
