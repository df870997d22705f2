#include "common/probe/event_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "common/probe/probe_limits.h"
#include "tests/common/probe/sample_batch.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::probe {
namespace {

using ::testing::ElementsAre;

class EventStoreTest : public ::testing::Test {
 protected:
  EventStoreTest() {
    EXPECT_TRUE(database_.UseWriteAheadLog().has_value());
    EXPECT_TRUE(store_.has_value()) << store_.error().message;
  }

  void Add(const Batch& batch, std::uint64_t owner = 1) {
    auto transaction = sqlite::Transaction::Begin(database_);
    ASSERT_TRUE(transaction.has_value());
    const auto status = store_->Add(batch, owner);
    ASSERT_TRUE(status.has_value()) << status.error().message;
    ASSERT_TRUE(transaction->Commit().has_value());
  }

  std::uint64_t Rows(const std::string& table) {
    return database_.QueryInt("SELECT count(*) FROM " + table).value_or(999);
  }

  // Checks that `uses` agrees with the stored data.
  void ExpectCounted() {
    const auto wrong = [&](const std::string& table, const std::string& uses) {
      return database_.QueryInt("SELECT count(*) FROM " + table + " WHERE uses != (" + uses + ")")
          .value_or(999);
    };
    EXPECT_EQ(wrong("site", "SELECT count(*) FROM hit WHERE site = site.row"), 0U);
    EXPECT_EQ(wrong("stack", "SELECT count(*) FROM hit WHERE stack = stack.row"), 0U);
    EXPECT_EQ(wrong("run",
                    "SELECT (SELECT count(*) FROM hit WHERE run = run.row) + "
                    "(SELECT count(*) FROM event WHERE run = run.row)"),
              0U);
    EXPECT_EQ(database_
                  .QueryInt("SELECT count(*) FROM event WHERE hits != (SELECT count(*) FROM hit "
                            "WHERE event = event.row)")
                  .value_or(999),
              0U);
    std::uint64_t places = 0;
    sqlite::Statement stacks = database_.Prepare("SELECT frames FROM stack");
    while (stacks.Step().value_or(false)) {
      const std::string text = stacks.ColumnText(0);
      places += static_cast<std::uint64_t>(std::count(text.begin(), text.end(), ','));
    }
    EXPECT_EQ(database_.QueryInt("SELECT ifnull(sum(uses), 0) FROM frame").value_or(999), places);
  }

  const testing::TempDir directory_;
  sqlite::Database database_ =
      *sqlite::Database::Open(directory_.path() / "probe.db", sqlite::Database::Access::kCreate);
  Result<EventStore> store_ = EventStore::Create(database_);
};

TEST_F(EventStoreTest, ReturnsAddedEvents) {
  const Batch batch = SampleBatch();
  Add(batch);
  const auto event = store_->Get({1, batch.events[0].id});
  ASSERT_TRUE(event.has_value()) << event.error().message;
  EXPECT_EQ(event->row.label, "index_open");
  EXPECT_EQ(event->row.program, "editor");
  EXPECT_EQ(event->row.build, "1.2");
  EXPECT_THAT(event->row.tags, ElementsAre("cold", "nightly"));
  EXPECT_EQ(event->row.TotalNs(), 8000U);
  EXPECT_EQ(event->row.hits, 3U);
  EXPECT_FALSE(event->row.is_incomplete);
  ASSERT_EQ(event->hits.size(), 3U);
  EXPECT_EQ(event->hits[1].site, batch.sites[1]);
  EXPECT_THAT(event->hits[1].stack, ElementsAre(batch.frames[0], batch.frames[1]));
  EXPECT_EQ(event->hits[1].value, std::optional<std::uint64_t>(0));
  EXPECT_FALSE(event->hits[0].has_stack);
  EXPECT_EQ(event->hits[2].value, std::nullopt);
  const auto joined = store_->Get({1, batch.events[1].id});
  ASSERT_TRUE(joined.has_value());
  EXPECT_TRUE(joined->row.is_incomplete);
  EXPECT_EQ(joined->row.label, "");
  EXPECT_EQ(joined->row.begin_ns, kSampleNs + 4500);
  EXPECT_TRUE(joined->hits[0].stack_is_cut);
  EXPECT_EQ(joined->hits[0].parent, 0x99U);
  ExpectCounted();
}

TEST_F(EventStoreTest, StoresAnEventOnceEvenIfAddedTwice) {
  std::mt19937_64 random(3);
  std::vector<Batch> batches;
  for (int i = 0; i < 20; ++i) {
    batches.push_back(RandomBatch(random));
    Add(batches.back());
  }
  const auto size = store_->Measure();
  const auto before = store_->List({}, {}, 1000);
  for (const Batch& batch : batches) Add(batch);
  EXPECT_EQ(store_->Measure()->hits, size->hits);
  const auto after = store_->List({}, {}, 1000);
  ASSERT_EQ(after->events.size(), before->events.size());
  for (std::size_t i = 0; i < after->events.size(); ++i) {
    EXPECT_EQ(after->events[i].points_key, before->events[i].points_key);
    EXPECT_EQ(after->events[i].hits, before->events[i].hits);
  }
  ExpectCounted();
}

// Each hit arrives in one of many batches, in any order: the event is the same as if all hits had
// arrived at once.
TEST_F(EventStoreTest, TheOrderOfBatchesDoesNotMatter) {
  const Batch whole = SampleBatch();
  Add(whole, 1);
  std::vector<Batch> parts;
  for (std::size_t i = 0; i < whole.hits.size(); ++i) {
    Batch part = whole;
    part.hits = {whole.hits[i]};
    if (i == 0) {
      part.events[0].begin_ns = 0;
      part.events[0].end_ns = 0;
      part.events[0].label = "";
    }
    parts.push_back(part);
  }
  for (std::size_t i = parts.size(); i > 0; --i) Add(parts[i - 1], 2);
  const auto events = store_->List({.label = "index_open"}, {}, 10);
  ASSERT_EQ(events->events.size(), 2U);
  const EventRow& one = events->events[0];
  const EventRow& other = events->events[1];
  EXPECT_EQ(one.id, other.id);
  EXPECT_NE(one.owner, other.owner);
  EXPECT_EQ(one.hits, other.hits);
  EXPECT_EQ(one.points_key, other.points_key);
  EXPECT_EQ(one.begin_ns, other.begin_ns);
  EXPECT_EQ(one.end_ns, other.end_ns);
  ExpectCounted();
}

TEST_F(EventStoreTest, RefusesAdditionsToEventsOfOthers) {
  const Batch batch = SampleBatch();
  Add(batch, 1);
  Batch forged = SampleBatch();
  forged.events[0].is_incomplete = true;
  forged.hits[1].ns += 1;
  Add(forged, 2);
  const auto event = store_->Get({1, batch.events[0].id});
  EXPECT_EQ(event->row.owner, 1U);
  EXPECT_EQ(event->row.hits, 3U);
  EXPECT_FALSE(event->row.is_incomplete);
  ExpectCounted();
}

TEST_F(EventStoreTest, EventsOfOneIdAreReadMarkedAndRemovedByOwner) {
  const Batch batch = SampleBatch();
  Add(batch, 2);
  Add(batch, 1);
  const EventId id = batch.events[0].id;
  ASSERT_TRUE(store_->SetMark({1, id}, Mark::kSetAside, "mine").has_value());
  EXPECT_EQ(store_->Row({1, id})->mark, Mark::kSetAside);
  EXPECT_EQ(store_->Row({2, id})->mark, Mark::kNone);
  EXPECT_EQ(store_->Get({1, id})->row.owner, 1U);
  EXPECT_EQ(store_->Row({3, id}).error().code, ErrorCode::kNotFound);
  auto transaction = sqlite::Transaction::Begin(database_);
  EXPECT_EQ(store_->Remove({{1, id}, {3, id}}).value_or(999), 1U);
  ASSERT_TRUE(transaction->Commit().has_value());
  EXPECT_FALSE(store_->Row({1, id}).has_value());
  EXPECT_EQ(store_->Get({2, id})->hits.size(), 3U);
  ExpectCounted();
}

TEST(EventKeyTest, TextIsReadBackAndNothingElseIsAKey) {
  const EventKey key{.owner = 7, .id = {.run = 0xabc, .number = 3}};
  EXPECT_EQ(key.Text(), "7-0000000000000abc0000000000000003");
  EXPECT_EQ(EventKey::Parse(key.Text()), key);
  const std::string digits = key.id.Hex();
  for (const std::string& text :
       {digits, "-" + digits, "x-" + digits, "-7-" + digits, "7-" + digits + "0", "7:" + digits,
        "99999999999999999999-" + digits, std::string("7-"), std::string("7")}) {
    EXPECT_FALSE(EventKey::Parse(text).has_value()) << text;
  }
}

TEST_F(EventStoreTest, PagesOfAListHaveEachEventOnceNewestFirst) {
  std::set<EventId> ids;
  for (std::uint64_t i = 0; i < 37; ++i) {
    Batch batch = SampleBatch(1, 1000 + i);
    batch.events.pop_back();
    std::erase_if(batch.hits, [&](const Hit& hit) { return hit.event != batch.events[0].id; });
    batch.events[0].begin_ns += i / 3 * 10;  // three at a time begin together
    batch.events[0].end_ns += i / 3 * 10;
    ids.insert(batch.events[0].id);
    Add(batch);
  }
  std::optional<EventCursor> cursor;
  std::uint64_t newest = ~std::uint64_t{0};
  std::size_t pages = 0;
  do {
    const auto page = store_->List({}, cursor, 5);
    ASSERT_TRUE(page.has_value()) << page.error().message;
    for (const EventRow& event : page->events) {
      EXPECT_EQ(ids.erase(event.id), 1U);
      EXPECT_LE(event.begin_ns, newest);
      newest = event.begin_ns;
    }
    cursor = page->next;
    ++pages;
  } while (cursor);
  EXPECT_TRUE(ids.empty());
  EXPECT_EQ(pages, 8U);
}

TEST_F(EventStoreTest, FiltersChooseByWhatTheyName) {
  Add(SampleBatch(1, 1), 1);
  Batch other = SampleBatch(1, 2);
  other.runs[0].tags = {"warm"};
  other.runs[0].build = "1.3";
  other.runs[0].session = 78;
  Add(other, 2);
  const auto count = [&](const EventFilter& filter) {
    return store_->List(filter, {}, 100)->events.size();
  };
  EXPECT_EQ(count({}), 4U);
  EXPECT_EQ(count({.label = "index_open"}), 2U);
  EXPECT_EQ(count({.label = "' OR 1=1 --"}), 0U);
  EXPECT_EQ(count({.label = "index_open", .build = "1.3"}), 1U);
  EXPECT_EQ(count({.label = "index_open", .tag = "cold"}), 1U);
  EXPECT_EQ(count({.tag = "col"}), 0U);
  EXPECT_EQ(count({.owners = {2}}), 2U);
  EXPECT_EQ(count({.owners = {1, 2}}), 4U);
  EXPECT_EQ(count({.run = 1}), 1U);
  EXPECT_EQ(count({.session = 78}), 2U);
  EXPECT_EQ(count({.ended_only = true}), 2U);
  EXPECT_EQ(count({.from_ns = kSampleNs + 4500}), 2U);
  EXPECT_EQ(count({.to_ns = kSampleNs + 4500}), 2U);
  const auto labels = store_->Labels({}, std::nullopt, 100);
  ASSERT_EQ(labels->labels.size(), 2U);
  EXPECT_EQ(labels->labels[1].label, "index_open");
  EXPECT_EQ(labels->labels[1].events, 2U);
}

TEST_F(EventStoreTest, MarksStayAndOfUnknownEventsAreRefused) {
  const Batch batch = SampleBatch();
  Add(batch);
  ASSERT_TRUE(store_->SetMark({1, batch.events[0].id}, Mark::kSetAside, "scanner").has_value());
  Add(batch);
  EXPECT_EQ(store_->Row({1, batch.events[0].id})->mark, Mark::kSetAside);
  EXPECT_EQ(store_->Row({1, batch.events[0].id})->mark_reason, "scanner");
  EXPECT_EQ(store_->SetMark({1, {9, 9}}, Mark::kKept, "").error().code, ErrorCode::kNotFound);
}

TEST_F(EventStoreTest, RemovingLeavesNoTraceAndKeepsOthersData) {
  std::mt19937_64 random(4);
  std::vector<EventKey> ids;
  for (int i = 0; i < 30; ++i) {
    const Batch batch = RandomBatch(random);
    Add(batch);
    for (const EventInfo& event : batch.events) ids.push_back({1, event.id});
  }
  while (!ids.empty()) {
    std::shuffle(ids.begin(), ids.end(), random);
    const std::size_t keep = ids.size() / 2;
    auto transaction = sqlite::Transaction::Begin(database_);
    const auto removed =
        store_->Remove({ids.begin() + static_cast<std::ptrdiff_t>(keep), ids.end()});
    ASSERT_TRUE(removed.has_value()) << removed.error().message;
    EXPECT_EQ(*removed, ids.size() - keep);
    ASSERT_TRUE(transaction->Commit().has_value());
    ids.resize(keep);
    ExpectCounted();
  }
  for (const char* table : {"event", "hit", "run", "site", "stack", "frame"})
    EXPECT_EQ(Rows(table), 0U) << table;
}

TEST_F(EventStoreTest, TheOldestExpireFirst) {
  for (std::uint64_t i = 0; i < 10; ++i) {
    Batch batch = SampleBatch(1, 100 + i);
    batch.events[0].begin_ns += i * 1'000'000;
    batch.events[0].end_ns += i * 1'000'000;
    Add(batch);
  }
  auto transaction = sqlite::Transaction::Begin(database_);
  Removed removed = *store_->Expire(kSampleNs + 5'000'000, 4);
  EXPECT_EQ(removed.events, 4U);
  EXPECT_TRUE(removed.has_more);
  removed = *store_->Expire(kSampleNs + 5'000'000, 100);
  EXPECT_EQ(removed.events, 2U);
  EXPECT_FALSE(removed.has_more);
  ASSERT_TRUE(transaction->Commit().has_value());
  EXPECT_FALSE(store_->Row({1, {104, 1}}).has_value());
  EXPECT_TRUE(store_->Row({1, {105, 1}}).has_value());
  ExpectCounted();
}

TEST_F(EventStoreTest, AnEventWithManyHitsIsRemovedPieceByPiece) {
  constexpr std::uint64_t kHits = 2 * kMaxRemovedHits + 500;
  Batch batch = SampleBatch();
  batch.events.resize(1);
  batch.hits.resize(1);
  const Hit hit = batch.hits[0];
  batch.hits.clear();
  for (std::uint64_t i = 0; i < kHits; ++i) {
    batch.hits.push_back(hit);
    batch.hits.back().event = batch.events[0].id;
    batch.hits.back().sequence = i + 1;
  }
  Add(batch);
  Add(SampleBatch(2, 300), 2);
  const std::uint64_t others = Rows("hit") - kHits;
  for (std::uint64_t piece = 1; piece <= 3; ++piece) {
    auto transaction = sqlite::Transaction::Begin(database_);
    const Removed removed = *store_->RemoveOf(1, 100);
    ASSERT_TRUE(transaction->Commit().has_value());
    EXPECT_EQ(removed.events, piece < 3 ? 0U : 1U);
    EXPECT_EQ(removed.has_more, piece < 3);
    EXPECT_EQ(Rows("hit"), others + kHits - std::min(kHits, piece * kMaxRemovedHits));
    ExpectCounted();
  }
}

TEST_F(EventStoreTest, EventsOfTheFutureAreRemovedLastFirst) {
  for (std::uint64_t i = 0; i < 4; ++i) {
    Batch batch = SampleBatch(1, 100 + i);
    batch.events[0].begin_ns += i * 1'000'000;
    batch.events[0].end_ns += i * 1'000'000;
    Add(batch);
  }
  auto transaction = sqlite::Transaction::Begin(database_);
  const std::uint64_t all = Rows("event");
  const Removed removed = *store_->ExpireFuture(kSampleNs + 2'000'000, 100);
  EXPECT_GT(removed.events, 0U);
  EXPECT_EQ(Rows("event"), all - removed.events);
  EXPECT_TRUE(store_->Row({1, {100, 1}}).has_value());
  EXPECT_FALSE(store_->Row({1, {103, 1}}).has_value());
  ASSERT_TRUE(transaction->Commit().has_value());
  ExpectCounted();
}

TEST_F(EventStoreTest, ReturnsLabelsInPages) {
  for (std::uint64_t i = 0; i < 7; ++i) {
    Batch batch = SampleBatch(1, 100 + i);
    batch.events[0].label = "label " + std::to_string(i);
    batch.events[0].begin_ns += (i / 2) * 1'000'000;  // some at the same time
    batch.events[0].end_ns += 10'000'000;
    Add(batch);
  }
  const auto all = store_->Labels({}, std::nullopt, 100);
  std::vector<std::string> paged;
  std::optional<LabelCursor> after;
  for (int page = 0; page < 100; ++page) {
    const auto some = store_->Labels({}, after, 2);
    ASSERT_LE(some->labels.size(), 2U);
    for (const LabelCount& label : some->labels) paged.push_back(label.label);
    after = some->next;
    if (!after) break;
  }
  ASSERT_EQ(paged.size(), all->labels.size());
  for (std::size_t i = 0; i < paged.size(); ++i) EXPECT_EQ(paged[i], all->labels[i].label);
}

TEST_F(EventStoreTest, ChargesWhatIsNew) {
  const auto add = [this](const Batch& batch) {
    auto transaction = sqlite::Transaction::Begin(database_);
    const std::uint64_t bytes = store_->Add(batch, 1).value_or(0);
    EXPECT_TRUE(transaction->Commit().has_value());
    return bytes;
  };
  Batch batch = SampleBatch();
  EXPECT_GT(add(batch), batch.hits.size() * kBytesOfHit);
  EXPECT_EQ(add(batch), 0U);
  // Events without hits, with different names.
  batch.hits.clear();
  batch.events.clear();
  for (std::uint64_t i = 0; i < 1'000; ++i) {
    batch.events.push_back({.id = {batch.runs[0].id, 1'000 + i},
                            .label = "label " + std::to_string(i),
                            .begin_ns = kSampleNs});
  }
  EXPECT_GT(add(batch), 1'000 * kBytesOfHit);
}

TEST_F(EventStoreTest, AnotherVersionsDatabaseIsRefused) {
  ASSERT_TRUE(database_.Execute("UPDATE event_schema SET version = 2").has_value());
  EXPECT_EQ(EventStore::Create(database_).error().code, ErrorCode::kUnsupported);
}

}  // namespace
}  // namespace fieldcost::probe
