// The table of published units: publications write it in one step, withdrawals mark it, retention
// empties it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <latch>
#include <set>
#include <thread>

#include "aggregator/store/database.h"
#include "aggregator/store/published_codec.h"
#include "aggregator/store/published_update.h"
#include "aggregator/store/store.h"
#include "common/base/units.h"
#include "tests/aggregator/store/batches.h"
#include "tests/aggregator/store/publish_all.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::store {
namespace {

using fieldcost::testing::TempDir;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::uint32_t kQuarter = 2899;  // the first week of that of all rows in test batches

class PublishedTest : public ::testing::Test {
 protected:
  void SetUp() override { Open(); }
  void Open() {
    store_.reset();
    auto store = Store::Open(options_);
    ASSERT_TRUE(store.has_value()) << store.error().message;
    store_ = std::move(*store);
  }
  void Accept(unsigned agent, std::uint64_t sequence) {
    TestBatch batch;
    MakeTestBatch(agent, sequence, batch, nullptr);
    ASSERT_TRUE(store_->Accept(batch.View()).has_value());
  }
  void Withdraw(unsigned agent, std::uint64_t sequence) {
    TestBatch batch;
    MakeTestBatch(agent, sequence, batch, nullptr);
    const auto result = store_->Withdraw(batch.Undo());
    ASSERT_TRUE(result.has_value()) << result.error().message;
    ASSERT_EQ(result->kind, WithdrawalKind::kWithdrawn);
  }
  void Publish() {
    const Status status = PublishAll(*store_, ++version_);
    ASSERT_TRUE(status.has_value()) << status.error().message;
  }
  std::unique_ptr<PublishedUpdate> Begin() {
    auto publication = store_->BeginPublishedUpdate();
    EXPECT_TRUE(publication.has_value()) << publication.error().message;
    return std::move(*publication);
  }
  void ExpectGood() {
    const auto running = store_->Verify();
    ASSERT_TRUE(running.has_value()) << running.error().message;
    EXPECT_TRUE(running->ok()) << running->first_problem;
    store_.reset();
    const auto stopped = Store::VerifyStopped(options_);
    ASSERT_TRUE(stopped.has_value()) << stopped.error().message;
    EXPECT_TRUE(stopped->ok()) << stopped->first_problem;
    EXPECT_EQ(stopped->published_units, running->published_units);
    EXPECT_EQ(stopped->marked_withdrawals, running->marked_withdrawals);
    Open();
  }
  // The marks of all units, by unit.
  std::map<PublishedKey, std::vector<WithdrawalMark>> Marks() {
    std::map<PublishedKey, std::vector<WithdrawalMark>> marks;
    for (const auto& [key, entry] : PublishedOf(*store_)) {
      if (!entry.marks.empty()) marks[key] = entry.marks;
    }
    return marks;
  }
  // The weeks of a batch's rows, by unit.
  static std::map<PublishedKey, std::uint16_t> UnitsOf(unsigned agent, std::uint64_t sequence) {
    TestBatch batch;
    Sums rows;
    MakeTestBatch(agent, sequence, batch, &rows);
    std::map<PublishedKey, std::uint16_t> units;
    for (const auto& [key, row] : rows) {
      units[UnitKeyOf(key)] |= static_cast<std::uint16_t>(1U << (key.week - kQuarter));
    }
    return units;
  }
  // The number of units that these batches contribute to, so that they can have a cut.
  static std::size_t ContributedUnits(std::initializer_list<unsigned> agents) {
    Sums rows;
    TestBatch batch;
    for (const unsigned agent : agents) MakeTestBatch(agent, 1, batch, &rows);
    std::set<PublishedKey> units;
    for (const auto& [key, row] : rows) {
      if (row.scalars.contributions != 0) units.insert(UnitKeyOf(key));
    }
    return units.size();
  }
  // Sums of a row that has contributions.
  CompactRow SomeSums() {
    for (const auto& [key, row] : DumpOf(*store_).rows) {
      if (row.scalars.contributions != 0) return row;
    }
    ADD_FAILURE() << "no row has contributions";
    return {};
  }
  // The marks of the withdrawal of this batch, in all of its units.
  static std::map<PublishedKey, std::vector<WithdrawalMark>> MarksOf(
      unsigned agent, std::uint64_t sequence, std::uint64_t withdrawal,
      std::optional<std::uint64_t> record) {
    std::map<PublishedKey, std::vector<WithdrawalMark>> marks;
    for (const auto& [key, weeks] : UnitsOf(agent, sequence)) {
      marks[key] = {{.withdrawal = withdrawal, .record = record, .weeks = weeks}};
    }
    return marks;
  }
  // The same, in the units that have a record.
  std::map<PublishedKey, std::vector<WithdrawalMark>> MarksOfPublished(
      unsigned agent, std::uint64_t sequence, std::uint64_t withdrawal,
      std::optional<std::uint64_t> record) {
    auto marks = MarksOf(agent, sequence, withdrawal, record);
    const auto published = PublishedOf(*store_);
    std::erase_if(marks, [&](const auto& mark) {
      const auto place = published.find(mark.first);
      return place == published.end() || !place->second.unit;
    });
    return marks;
  }
  // The live cuts of all units together.
  std::uint64_t CutContributions() {
    std::uint64_t sum = 0;
    for (const auto& [key, entry] : PublishedOf(*store_)) {
      if (!entry.unit) continue;
      for (const PublishedCut& cut : entry.unit->cuts) sum += cut.sums.scalars.contributions;
    }
    return sum;
  }

  const TempDir dir_;
  const StoreOptions options_{.data_dir = dir_.path() / "data", .checkpoint_seconds = 0};
  std::unique_ptr<Store> store_;
  std::uint64_t version_ = 0;
};

TEST_F(PublishedTest, UnitsAreReadInTheOrderOfTheRowsAsTheyWereWritten) {
  for (unsigned agent = 1; agent <= 5; ++agent) Accept(agent, 1);
  Publish();
  const auto published = PublishedOf(*store_);
  ASSERT_FALSE(published.empty());
  {
    // Merging with the rows: the units of each API and metric come with its rows.
    const auto snapshot = store_->TakeSnapshot();
    ASSERT_TRUE(snapshot.has_value());
    PublishedReader reader = snapshot->ReadPublished({});
    const PublishedEntry* next = reader.Next().value();
    std::size_t met = 0;
    ASSERT_TRUE(snapshot
                    ->ForEach([&](const stats::RowKey& key, const CompactRow&) -> Status {
                      while (next != nullptr && next->key < UnitKeyOf(key)) {
                        next = reader.Next().value();
                      }
                      met += next != nullptr && next->key == UnitKeyOf(key) ? 1 : 0;
                      return {};
                    })
                    .has_value());
    EXPECT_EQ(met, published.size()) << "each unit has one row";
  }
  Open();
  const auto again = PublishedOf(*store_);
  ASSERT_EQ(again.size(), published.size());
  for (const auto& [key, entry] : published) EXPECT_EQ(again.at(key).unit, entry.unit);
  EXPECT_EQ(store_->GetNumber("version").value(), 1U);
  EXPECT_EQ(store_->Verify()->published_units, published.size());
  ExpectGood();
}

TEST_F(PublishedTest, PartsOfTheTableAreReadByRange) {
  for (unsigned agent = 1; agent <= 5; ++agent) Accept(agent, 1);
  Publish();
  Withdraw(3, 1);
  const auto all = PublishedOf(*store_);
  const auto snapshot = store_->TakeSnapshot();
  ASSERT_TRUE(snapshot.has_value());
  const std::string middle("libbeta.so.2\0", 13);
  std::map<PublishedKey, PublishedEntry> read;
  std::vector<std::size_t> sizes;
  for (const Store::Snapshot::RowRange& range :
       {Store::Snapshot::RowRange{"", middle}, Store::Snapshot::RowRange{middle, ""}}) {
    PublishedReader reader = snapshot->ReadPublished(range);
    while (const PublishedEntry* const entry = reader.Next().value()) {
      read.emplace(entry->key, *entry);
    }
    sizes.push_back(read.size());
  }
  EXPECT_EQ(read.size(), all.size());
  EXPECT_GT(sizes[0], 0U);
  EXPECT_LT(sizes[0], all.size());
  for (const auto& [key, entry] : all) {
    EXPECT_EQ(read.at(key).unit, entry.unit);
    EXPECT_EQ(read.at(key).marks, entry.marks);
  }
}

TEST_F(PublishedTest, NothingChangesBeforeTheCommitOrWithoutIt) {
  Accept(1, 1);
  {
    const auto publication = Begin();
    ASSERT_TRUE(PutAll(*publication).has_value());
    EXPECT_THAT(PublishedOf(*store_), IsEmpty());
  }
  EXPECT_THAT(PublishedOf(*store_), IsEmpty());
  Publish();
  EXPECT_EQ(PublishedOf(*store_).size(), ContributedUnits({1}));
  ExpectGood();
}

TEST_F(PublishedTest, OnlyOnePublicationIsInProgress) {
  auto first = Begin();
  const auto second = store_->BeginPublishedUpdate();
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().code, ErrorCode::kUnavailable);
  first.reset();
  EXPECT_TRUE(store_->BeginPublishedUpdate().has_value());
}

TEST_F(PublishedTest, SeveralPartsBecomeVisibleTogether) {
  Accept(1, 1);
  const auto publication = Begin();
  const CompactRow sums = SomeSums();
  std::set<PublishedKey> keys;
  for (const char* soname : {"liba.so", "libb.so", "libc.so"}) {
    PublishedUpdate::Part& part = publication->AddPart();
    for (const char* symbol : {"x", "y"}) {
      PublishedKey key{.api = {.soname = soname, .symbol = symbol}, .first_week = kQuarter};
      ASSERT_TRUE(part.Put(key, UnitOf(sums, 1)).has_value());
      keys.insert(key);
    }
  }
  publication->AddPart();  // without changes
  ASSERT_TRUE(publication->Commit().has_value());
  const auto published = PublishedOf(*store_);
  ASSERT_EQ(published.size(), keys.size());
  for (const PublishedKey& key : keys) EXPECT_EQ(published.at(key).unit, UnitOf(sums, 1));
}

TEST_F(PublishedTest, ImpossibleUnitsAreRefusedAndEmptyOnesRemoved) {
  Accept(1, 1);
  Publish();
  const auto before = PublishedOf(*store_);
  const auto publication = Begin();
  PublishedUpdate::Part& part = publication->AddPart();
  PublishedUnit unit = *before.begin()->second.unit;
  unit.next_serial = 1;
  const Status refused = part.Put(before.begin()->first, unit);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalidArgument);
  ASSERT_TRUE(part.Put(before.begin()->first, PublishedUnit()).has_value());
  ASSERT_TRUE(part.Remove(std::next(before.begin())->first).has_value());
  ASSERT_TRUE(publication->Commit().has_value());
  EXPECT_EQ(PublishedOf(*store_).size(), before.size() - 2);
}

TEST_F(PublishedTest, AWithdrawalMarksTheUnitsThatHaveARecord) {
  Accept(1, 1);
  Accept(2, 1);
  Publish();
  Accept(3, 2);
  Withdraw(3, 2);  // record 3, withdrawal 4
  auto expected = MarksOfPublished(3, 2, 4, 3);
  ASSERT_LT(expected.size(), UnitsOf(3, 2).size());
  ASSERT_FALSE(expected.empty());
  EXPECT_EQ(Marks(), expected);
  Withdraw(1, 1);  // record 1, withdrawal 5
  for (const auto& [key, marks] : MarksOfPublished(1, 1, 5, 1)) {
    expected[key].push_back(marks.front());
  }
  EXPECT_EQ(Marks(), expected);
  Open();
  EXPECT_EQ(Marks(), expected);
  std::uint64_t count = 0;
  for (const auto& [key, marks] : expected) count += marks.size();
  EXPECT_EQ(store_->Verify()->marked_withdrawals, count);
  ExpectGood();
}

TEST_F(PublishedTest, TheNextPublicationRemovesTheMarksThatItHasHandled) {
  for (unsigned agent = 1; agent <= 3; ++agent) Accept(agent, 1);
  Publish();
  const std::uint64_t before = CutContributions();
  Withdraw(2, 1);
  EXPECT_EQ(CutContributions(), before) << "published rows stay until the next publication";
  ASSERT_FALSE(Marks().empty());
  Publish();
  EXPECT_THAT(Marks(), IsEmpty());
  EXPECT_LT(CutContributions(), before);
  ExpectGood();
  Withdraw(1, 1);
  Withdraw(3, 1);
  Publish();
  EXPECT_THAT(PublishedOf(*store_), IsEmpty());
  ExpectGood();
}

TEST_F(PublishedTest, WithoutPublishedUnitsNothingIsMarked) {
  Accept(1, 1);
  Accept(2, 1);
  Withdraw(1, 1);
  EXPECT_THAT(Marks(), IsEmpty());
  Publish();
  Withdraw(2, 1);
  Publish();
  ASSERT_THAT(PublishedOf(*store_), IsEmpty());
  Accept(3, 1);
  Withdraw(3, 1);
  EXPECT_THAT(PublishedOf(*store_), IsEmpty());
}

// The publication's first records contain what is withdrawn before they are written.
TEST_F(PublishedTest, AWithdrawalDuringAPublicationMarksUnitsWithoutARecord) {
  Accept(1, 1);
  Accept(2, 1);
  {
    const auto publication = Begin();
    Withdraw(1, 1);  // record 1, withdrawal 3
    PublishedReader reader = publication->snapshot().ReadPublished({});
    EXPECT_EQ(reader.Next().value(), nullptr) << "the snapshot's rows have the batch";
    ASSERT_TRUE(PutAll(*publication).has_value());
    ASSERT_TRUE(publication->Commit().has_value());
  }
  EXPECT_EQ(Marks(), MarksOf(1, 1, 3, 1));
  ExpectGood();
  Publish();
  EXPECT_THAT(Marks(), IsEmpty());
  EXPECT_EQ(PublishedOf(*store_).size(), ContributedUnits({2}));
  ExpectGood();
}

TEST_F(PublishedTest, MarksOfAPublicationWithoutCommitGoWithTheNextOne) {
  Accept(1, 1);
  {
    const auto publication = Begin();
    Withdraw(1, 1);
  }
  EXPECT_EQ(Marks(), MarksOf(1, 1, 2, 1));
  ExpectGood();
  Publish();
  EXPECT_THAT(PublishedOf(*store_), IsEmpty());
}

TEST_F(PublishedTest, ABatchThatIsNotKeptIsMarkedByItsWeeks) {
  Accept(1, 1);
  Accept(2, 1);
  Publish();
  ASSERT_EQ(store_->ForgetBatchesBefore(wire::Epoch(2)).value(), 2U);
  Withdraw(1, 1);
  EXPECT_FALSE(Marks().empty());
  EXPECT_EQ(Marks(), MarksOfPublished(1, 1, 3, std::nullopt));
  ExpectGood();
}

TEST_F(PublishedTest, RemovingAnAgentMarksEachOfItsBatches) {
  for (std::uint64_t sequence = 1; sequence <= 4; ++sequence) Accept(1, sequence);
  Accept(2, 1);
  Publish();
  ASSERT_EQ(store_->RemoveAll(TestAgent(1))->batches, 4U);
  std::map<PublishedKey, std::vector<WithdrawalMark>> expected;
  for (std::uint64_t sequence = 1; sequence <= 4; ++sequence) {
    for (const auto& [key, marks] : MarksOfPublished(1, sequence, 5 + sequence, sequence)) {
      expected[key].push_back(marks.front());
    }
  }
  EXPECT_EQ(Marks(), expected);
  ExpectGood();
}

TEST_F(PublishedTest, AHeldBatchLeavesNoMark) {
  Accept(2, 1);
  Publish();
  store_.reset();
  StoreOptions options = options_;
  options.probation_batches = 9;
  store_ = std::move(*Store::Open(options));
  Accept(1, 1);
  Withdraw(1, 1);
  EXPECT_THAT(Marks(), IsEmpty());
}

TEST_F(PublishedTest, WithdrawalsAndPublicationsAtOnceAgree) {
  constexpr unsigned kAgents = 4;
  constexpr std::uint64_t kBatches = 25;
  std::latch start(kAgents + 1);
  std::vector<std::thread> threads;
  for (unsigned agent = 1; agent <= kAgents; ++agent) {
    threads.emplace_back([&, agent] {
      start.arrive_and_wait();
      for (std::uint64_t sequence = 1; sequence <= kBatches; ++sequence) {
        Accept(agent, sequence);
        if (sequence % 2 == 0) Withdraw(agent, sequence - 1);
      }
    });
  }
  start.arrive_and_wait();
  for (int round = 0; round < 12; ++round) {
    Publish();
    const auto report = store_->Verify();
    ASSERT_TRUE(report.has_value());
    ASSERT_TRUE(report->ok()) << report->first_problem;
  }
  for (std::thread& thread : threads) thread.join();
  ExpectGood();
  Publish();
  EXPECT_THAT(Marks(), IsEmpty());
  ExpectGood();
}

TEST_F(PublishedTest, ExpiryRemovesUnitsOnceTheirWholeQuarterHasExpired) {
  for (unsigned agent = 1; agent <= 3; ++agent) Accept(agent, 1);
  Publish();
  Withdraw(2, 1);
  const auto before = PublishedOf(*store_);
  ASSERT_TRUE(store_->Expire(kQuarter + 12, wire::Epoch(1)).has_value());
  EXPECT_EQ(PublishedOf(*store_).size(), before.size()) << "a week of the quarter is left";
  ExpectGood();
  ASSERT_TRUE(store_->Expire(kQuarter + 13, wire::Epoch(1)).has_value());
  EXPECT_THAT(PublishedOf(*store_), IsEmpty());
  ExpectGood();
}

TEST_F(PublishedTest, ExpiryAlsoRemovesWhatAnOlderPublicationWritesAfterIt) {
  Accept(1, 1);
  auto publication = Begin();
  ASSERT_TRUE(PutAll(*publication).has_value());
  ASSERT_TRUE(store_->Expire(kQuarter + 13, wire::Epoch(1)).has_value());
  ASSERT_TRUE(publication->Commit().has_value());
  publication.reset();
  EXPECT_FALSE(PublishedOf(*store_).empty());
  ExpectGood();
  ASSERT_TRUE(store_->Expire(kQuarter + 13, wire::Epoch(1)).has_value());
  EXPECT_THAT(PublishedOf(*store_), IsEmpty());
}

TEST_F(PublishedTest, ASnapshotHasTheFirstWeekOfItsMoment) {
  Accept(1, 1);
  const auto before = store_->TakeSnapshot();
  ASSERT_TRUE(store_->Expire(kQuarter + 2, wire::Epoch(0)).has_value());
  EXPECT_EQ(before->first_week(), 0U);
  EXPECT_EQ(store_->TakeSnapshot()->first_week(), kQuarter + 2);
}

TEST_F(PublishedTest, ARestoredStoreMustSettleUntilItsFirstPublicationIsCommitted) {
  for (unsigned agent = 1; agent <= 3; ++agent) Accept(agent, 1);
  Publish();
  Withdraw(2, 1);
  EXPECT_FALSE(Begin()->must_settle());
  const auto before = PublishedOf(*store_);
  ASSERT_TRUE(store_->Backup(dir_.path() / "backups").has_value());
  Publish();
  store_.reset();
  const StoreOptions options{.data_dir = dir_.path() / "copy", .checkpoint_seconds = 0};
  ASSERT_TRUE(Store::RestoreBackup(dir_.path() / "backups", options.data_dir).has_value());
  for (int start = 0; start < 2; ++start) {
    store_.reset();
    store_ = std::move(*Store::Open(options));
    EXPECT_TRUE(Begin()->must_settle()) << "a publication without commit changes nothing";
    const auto copy = PublishedOf(*store_);
    ASSERT_EQ(copy.size(), before.size());
    for (const auto& [key, entry] : before) {
      EXPECT_EQ(copy.at(key).unit, entry.unit);
      EXPECT_EQ(copy.at(key).marks, entry.marks);
    }
    EXPECT_TRUE(store_->Verify()->ok());
  }
  Publish();
  EXPECT_FALSE(Begin()->must_settle());
  store_.reset();
  store_ = std::move(*Store::Open(options));
  EXPECT_FALSE(Begin()->must_settle());
}

TEST_F(PublishedTest, EntriesOfANewerProgramAreRefused) {
  Accept(1, 1);
  Publish();
  store_.reset();
  {
    const auto database = Database::Open({.directory = options_.data_dir / "store",
                                          .write_buffer_bytes = kMiB,
                                          .block_cache_bytes = kMiB});
    ASSERT_TRUE(database.has_value());
    std::string unit_key;
    AppendUnitKey({.api = {.soname = "liba.so", .symbol = "f"}, .first_week = kQuarter}, unit_key);
    Database::WriteSet changes(**database);
    changes.Put(Table::kPublished, UnitEntryKey(unit_key), "\2");
    ASSERT_TRUE((*database)->Write(changes).has_value());
  }
  Open();
  const auto publication = Begin();
  PublishedReader reader = publication->snapshot().ReadPublished({});
  const auto entry = reader.Next();
  ASSERT_FALSE(entry.has_value());
  EXPECT_EQ(entry.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(entry.error().message, HasSubstr("version 2; this program knows 1"));
  EXPECT_EQ(store_->Verify().error().code, ErrorCode::kUnsupported);
}

}  // namespace
}  // namespace fieldcost::store
