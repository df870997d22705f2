// What verify finds: every consistency rule between tables is violated once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "aggregator/store/contributions.h"
#include "aggregator/store/database.h"
#include "aggregator/store/kept.h"
#include "aggregator/store/ledger.h"
#include "aggregator/store/probation.h"
#include "aggregator/store/published_codec.h"
#include "aggregator/store/store.h"
#include "aggregator/store/store_row_codec.h"
#include "common/base/file.h"
#include "common/base/units.h"
#include "tests/aggregator/store/batches.h"
#include "tests/aggregator/store/publish_all.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::store {
namespace {

using ::testing::HasSubstr;
using testing::TempDir;

constexpr unsigned kAgent = 1;
constexpr std::uint64_t kEpoch = 1;
constexpr std::uint64_t kBatches = 5;
constexpr std::uint64_t kWithdrawn = 2;
constexpr std::uint32_t kWeek = 2901;

class VerifyTest : public ::testing::Test {
 protected:
  // Batches of one agent, one of them withdrawn, and a held batch of another agent.
  void SetUp() override {
    auto store = Store::Open(options_);
    ASSERT_TRUE(store.has_value());
    TestBatch batch;
    for (std::uint64_t sequence = 1; sequence <= kBatches; ++sequence) {
      MakeTestBatch(kAgent, sequence, batch, nullptr);
      ASSERT_TRUE((*store)->Accept(batch.View()).has_value());
    }
    MakeTestBatch(kAgent, kWithdrawn, batch, nullptr);
    ASSERT_TRUE((*store)->Withdraw(batch.Undo()).has_value());
    store->reset();
    StoreOptions on_probation = options_;
    on_probation.probation_batches = 9;
    store = Store::Open(on_probation);
    ASSERT_TRUE(store.has_value());
    MakeTestBatch(kAgent + 1, 1, batch, nullptr);
    ASSERT_TRUE((*store)->Accept(batch.View())->held);
    ASSERT_TRUE((*store)->Checkpoint().has_value());
    head_key_ = LedgerHeadKey(batch.agent_id, kEpoch);
    held_head_key_ = head_key_;
    MakeTestBatch(kAgent, 1, batch, nullptr);
    head_key_ = LedgerHeadKey(batch.agent_id, kEpoch);
  }

  void Change(const std::function<void(Database&, Database::WriteSet&)>& change) {
    ChangeIn(options_, change);
  }
  static void ChangeIn(const StoreOptions& options,
                       const std::function<void(Database&, Database::WriteSet&)>& change) {
    auto database = Database::Open({.directory = options.data_dir / "store",
                                    .write_buffer_bytes = kMiB,
                                    .block_cache_bytes = kMiB});
    ASSERT_TRUE(database.has_value());
    Database::WriteSet changes(**database);
    change(**database, changes);
    ASSERT_TRUE((*database)->Write(changes).has_value());
  }
  void Put(Table table, const std::string& key, const std::string& value) {
    Change([&](Database&, Database::WriteSet& changes) { changes.Put(table, key, value); });
  }
  void Delete(Table table, const std::string& key) {
    Change([&](Database&, Database::WriteSet& changes) { changes.Delete(table, key); });
  }

  // Verifying the stopped and the running store finds the same problem.
  void ExpectProblem(const std::string& text) {
    const auto stopped = Store::VerifyStopped(options_);
    ASSERT_TRUE(stopped.has_value()) << stopped.error().message;
    EXPECT_THAT(stopped->first_problem, HasSubstr(text));
    const auto store = Store::Open(options_);
    ASSERT_TRUE(store.has_value()) << store.error().message;
    const auto running = (*store)->Verify();
    ASSERT_TRUE(running.has_value()) << running.error().message;
    EXPECT_THAT(running->first_problem, HasSubstr(text));
  }

  const TempDir dir_;
  const StoreOptions options_{.data_dir = dir_.path() / "data", .checkpoint_seconds = 0};
  std::string head_key_;
  std::string held_head_key_;
};

TEST_F(VerifyTest, AGoodStoreIsGoodAndWhatItHasIsCounted) {
  const auto report = Store::VerifyStopped(options_);
  ASSERT_TRUE(report.has_value());
  EXPECT_EQ(report->first_problem, "");
  EXPECT_EQ(report->expected.batches, kBatches - 1);
  EXPECT_EQ(report->kept_batches, kBatches - 1);
  EXPECT_EQ(report->held_batches, 1U);
  EXPECT_GT(report->files, 0U);
  EXPECT_GT(report->file_bytes, 0U);
  EXPECT_EQ(report->ledger_entries,
            14U);  // two heads, six answers, four kept batches, a tombstone, a probation
  ExpectProblem("");
}

TEST_F(VerifyTest, CountsBatchesThatAreOnlyInTheLog) {
  auto store = Store::Open(options_);
  ASSERT_TRUE(store.has_value());
  TestBatch batch;
  MakeTestBatch(kAgent, kBatches + 1, batch, nullptr);
  ASSERT_TRUE((*store)->Accept(batch.View()).has_value());
  MakeTestBatch(kAgent, 1, batch, nullptr);
  ASSERT_TRUE((*store)->Withdraw(batch.Undo()).has_value());
  const std::size_t rows = AllRows(**store).size();
  store->reset();
  const auto report = Store::VerifyStopped(options_);
  ASSERT_TRUE(report.has_value());
  EXPECT_EQ(report->first_problem, "");
  EXPECT_EQ(report->expected.batches, kBatches - 1);
  EXPECT_EQ(report->rows, rows);
}

TEST_F(VerifyTest, AnAnswerThatIsMissingIsFound) {
  Delete(Table::kLedger, AnswerKey(head_key_, 3));
  ExpectProblem("epoch 1: batch 3 was accepted, but its answer is missing");
}

TEST_F(VerifyTest, AnAnswerToNothingIsFound) {
  Put(Table::kLedger, AnswerKey(head_key_, kBatches + 1), "yes");
  ExpectProblem("answers to batches that never arrived");
}

TEST_F(VerifyTest, ALedgerThatHasForgottenABatchIsFound) {
  LedgerHead head;
  std::vector<std::uint64_t> forgotten;
  for (std::uint64_t sequence = 1; sequence < kBatches; ++sequence)
    head.Record(sequence, forgotten);
  Change([&](Database&, Database::WriteSet& changes) {
    changes.Put(Table::kLedger, head_key_, head.Encode());
    changes.Delete(Table::kLedger, AnswerKey(head_key_, kBatches));
  });
  ExpectProblem("batch 5 is stored, but never arrived");
}

TEST_F(VerifyTest, ALedgerThatHasForgottenAnAgentIsFound) {
  Change([&](Database& database, Database::WriteSet& changes) {
    ASSERT_TRUE(database
                    .ForPrefix(Table::kLedger, head_key_,
                               [&](std::string_view key, std::string_view value) -> Status {
                                 std::uint64_t sequence = 0;
                                 if (IsKeptKey(key, sequence)) {
                                   changes.Delete(Table::kBatches, value);
                                 }
                                 changes.Delete(Table::kLedger, key);
                                 return {};
                               })
                    .has_value());
  });
  ExpectProblem("the ledger knows 0 batches that are in the sums, the totals are of 4");
}

TEST_F(VerifyTest, ABatchThatIsTwoThingsIsFound) {
  Put(Table::kLedger, TombstoneKey(head_key_, 3), EncodeTombstone(1));
  ExpectProblem("batch 3 is withdrawn and kept");
}

TEST_F(VerifyTest, ATombstoneThatIsMissingIsFound) {
  Delete(Table::kLedger, TombstoneKey(head_key_, kWithdrawn));
  ExpectProblem("the ledger knows 5 batches that are in the sums, the totals are of 4");
}

TEST_F(VerifyTest, AHeldBatchThatIsMissingIsFound) {
  Delete(Table::kHeld, HeldKey(held_head_key_, 1));
  ExpectProblem("0 batches are held, but its record of probation has another number");
}

TEST_F(VerifyTest, FindsContributionsOfABatchThatNeverArrived) {
  Put(Table::kLedger, ContributionKey(head_key_, kWeek, kBatches + 1), EncodeContributions({1}));
  ExpectProblem("batch 6 has contributed, but never arrived");
}

TEST_F(VerifyTest, AContributionThatIsNotedTwiceIsFound) {
  Change([&](Database&, Database::WriteSet& changes) {
    for (const std::uint64_t sequence : {1, 3}) {
      changes.Put(Table::kLedger, ContributionKey(head_key_, kWeek, sequence),
                  EncodeContributions({7}));
    }
  });
  ExpectProblem("contributed to a row twice");
}

TEST_F(VerifyTest, MoreContributionsThanTheRowsHaveAreFoundInAStoppedStore) {
  std::vector<std::uint64_t> hashes(1'000);
  for (std::size_t i = 0; i < hashes.size(); ++i) hashes[i] = i;
  Put(Table::kLedger, ContributionKey(head_key_, kWeek, 1), EncodeContributions(hashes));
  const auto report = Store::VerifyStopped(options_);
  ASSERT_TRUE(report.has_value());
  EXPECT_THAT(report->first_problem, HasSubstr("week 2901: the ledger has 1000 contributions"));
}

// Unit and mark of a row that has contributions, and whose unit was published.
class VerifyPublishedTest : public VerifyTest {
 protected:
  void SetUp() override {
    VerifyTest::SetUp();
    const auto store = Store::Open(options_);
    ASSERT_TRUE(store.has_value());
    ASSERT_TRUE(PublishAll(**store, 1).has_value());
    for (const auto& [key, entry] : PublishedOf(**store)) {
      key_ = key;
      unit_ = *entry.unit;
    }
    ASSERT_FALSE(unit_.cuts.empty());
    number_ = (*store)->sequence();
    AppendUnitKey(key_, unit_key_);
  }
  void PutUnit(const PublishedUnit& unit) {
    Put(Table::kPublished, UnitEntryKey(unit_key_), EncodePublishedUnit(unit).value());
  }
  void PutMark(const WithdrawalMark& mark) {
    Put(Table::kPublished, MarkEntryKey(unit_key_, mark.withdrawal), EncodeMark(mark));
  }

  PublishedKey key_;
  std::string unit_key_;
  PublishedUnit unit_;
  std::uint64_t number_ = 0;  // the greatest that the publication contains
};

TEST_F(VerifyPublishedTest, AGoodTableIsGood) { ExpectProblem(""); }

TEST_F(VerifyPublishedTest, FindsCutsThatTheRowsDoNotHave) {
  unit_.cuts[0].sums.Add(unit_.cuts[0].sums);
  unit_.classes.clear();
  PutUnit(unit_);
  ExpectProblem("quarter of week 2899): more was published than the rows have");
}

TEST_F(VerifyPublishedTest, FindsPublishedUnitsWithoutRows) {
  std::string unit_key;
  for (const char* soname : {"liba.so", "libz.so"}) {
    unit_key.clear();
    AppendUnitKey({.api = {.soname = soname, .symbol = "f"}, .first_week = 2899}, unit_key);
    Put(Table::kPublished, UnitEntryKey(unit_key), EncodePublishedUnit(unit_).value());
    ExpectProblem(std::string(soname) + "!f (wall_time, quarter of week 2899): more was published");
    Delete(Table::kPublished, UnitEntryKey(unit_key));
  }
}

TEST_F(VerifyPublishedTest, FindsPartsThatTheirClassDoesNotHave) {
  ASSERT_FALSE(unit_.classes.empty());
  unit_.classes[0].hardware.os_release = "debian-13";
  PutUnit(unit_);
  ExpectProblem("debian-13 than the rows have");
}

TEST_F(VerifyPublishedTest, FindsImpossiblePublishedSums) {
  unit_.cuts[0].sums.scalars.sum_mean_squared = 0;
  unit_.cuts[0].sums.scalars.sum_mean = 1'000'000;
  unit_.classes.clear();
  PutUnit(unit_);
  ExpectProblem("published sums: ");
}

TEST_F(VerifyPublishedTest, FindsCutsNewerThanTheLastPublication) {
  unit_.cuts.back().ranges.back().until_number = number_ + 1;
  PutUnit(unit_);
  ExpectProblem("a cut is newer than the last publication");
}

TEST_F(VerifyPublishedTest, FindsMarksThatTheLastPublicationHasHandled) {
  PutMark({.withdrawal = number_, .record = 1, .weeks = 2});
  ExpectProblem("a withdrawal is marked, but the last publication has handled it");
}

TEST_F(VerifyPublishedTest, FindsMarksOfWithdrawalsThatNeverCame) {
  PutMark({.withdrawal = number_ + 1, .record = 1, .weeks = 2});
  ExpectProblem("a withdrawal is marked that never came");
}

TEST_F(VerifyPublishedTest, FindsMarksOfWithdrawalsThatAreOlderThanTheirBatch) {
  {
    const auto store = Store::Open(options_);
    TestBatch batch;
    MakeTestBatch(kAgent, 1, batch, nullptr);
    ASSERT_TRUE((*store)->Withdraw(batch.Undo()).has_value());
  }
  PutMark({.withdrawal = number_ + 1, .record = number_ + 1, .weeks = 2});
  ExpectProblem("a withdrawal is marked that is older than its batch");
}

TEST_F(VerifyPublishedTest, AWithdrawalWithoutItsMarkIsFound) {
  {
    const auto store = Store::Open(options_);
    TestBatch batch;
    MakeTestBatch(kAgent, 1, batch, nullptr);
    ASSERT_TRUE((*store)->Withdraw(batch.Undo()).has_value());
  }
  ExpectProblem("");
  Change([&](Database& database, Database::WriteSet& changes) {
    ASSERT_TRUE(database
                    .ForPrefix(Table::kPublished, std::string(1, kMarkPrefix),
                               [&](std::string_view key, std::string_view) -> Status {
                                 changes.Delete(Table::kPublished, key);
                                 return {};
                               })
                    .has_value());
  });
  ExpectProblem("more was published than the rows have");
}

TEST_F(VerifyPublishedTest, MalformedEntriesAreFound) {
  Put(Table::kPublished, UnitEntryKey(unit_key_), "\1");
  ExpectProblem("stored published unit is malformed");
  PutUnit(unit_);
  Put(Table::kPublished, MarkEntryKey(unit_key_, number_ + 1), "\1");
  ExpectProblem("stored mark of a withdrawal is malformed");
}

TEST_F(VerifyTest, AnEntryOfNoKnownKindIsFound) {
  Put(Table::kLedger, head_key_ + "?", "");
  ExpectProblem("an entry of no known kind");
}

TEST_F(VerifyTest, EveryReaderNamesTheDamagedLedgerFile) {
  // The store holds no batches, so opening it does not read the ledger.
  const StoreOptions options{.data_dir = dir_.path() / "other", .checkpoint_seconds = 0};
  TestBatch batch;
  MakeTestBatch(kAgent, 1, batch, nullptr);
  {
    const auto filled = Store::Open(options);
    ASSERT_TRUE(filled.has_value());
    ASSERT_TRUE((*filled)->Accept(batch.View()).has_value());
    ASSERT_TRUE((*filled)->Checkpoint().has_value());
  }
  std::string path;
  ChangeIn(options, [&](Database& database, Database::WriteSet&) {
    for (const Database::TableFile& file : database.TableFiles()) {
      if (file.table == "ledger") path = file.path.string();
    }
  });
  ASSERT_NE(path, "");
  std::string bytes = ReadFile(path, kMiB).value();
  bytes[10] ^= 1;
  ASSERT_TRUE(WriteFileAtomically(path, bytes, 0600).has_value());

  const auto stopped = Store::VerifyStopped(options);
  ASSERT_TRUE(stopped.has_value()) << stopped.error().message;
  EXPECT_THAT(stopped->first_problem, HasSubstr(path + ", of the table ledger, is damaged"));
  const auto store = Store::Open(options);
  ASSERT_TRUE(store.has_value()) << store.error().message;
  EXPECT_EQ((*store)->Gauges().damages, 0U);
  for (int i = 0; i < 2; ++i) {
    const auto answer = (*store)->Accept(batch.View());
    ASSERT_FALSE(answer.has_value());
    EXPECT_EQ(answer.error().code, ErrorCode::kCorrupt);
    EXPECT_THAT(answer.error().message, HasSubstr(path));
    EXPECT_EQ((*store)->Gauges().damages, 1U) << "counted once";
  }
  std::uint64_t found = 0;
  CheckedFile file;
  do {
    file = (*store)->CheckNextFile(file.number).value();
    found += file.good ? 0 : 1;
  } while (file.number != 0);
  EXPECT_EQ(found, 1U);
  EXPECT_THAT((*store)->Verify()->first_problem, HasSubstr(path));
}

// Damages each part of each table file: properties, an index, a filter or a block. The bindings are
// in a file of their own, which opening does not need.
TEST_F(VerifyTest, NamesTheDamagedTableFileWhereverItIsDamaged) {
  {
    const auto store = Store::Open(options_);
    ASSERT_TRUE(store.has_value());
    ASSERT_TRUE((*store)->Bind("name", "value").has_value());
    TestBatch batch;
    MakeTestBatch(kAgent, kBatches + 1, batch, nullptr);
    ASSERT_TRUE((*store)->Accept(batch.View()).has_value());
    ASSERT_TRUE((*store)->Checkpoint().has_value());
  }
  std::vector<std::filesystem::path> paths;
  ChangeIn(options_, [&](Database& database, Database::WriteSet&) {
    for (const Database::TableFile& file : database.TableFiles()) paths.push_back(file.path);
  });
  ASSERT_GE(paths.size(), 4U);
  for (const std::filesystem::path& path : paths) {
    const std::string good = ReadFile(path, kMiB).value();
    for (std::size_t at = 0; at < good.size(); at += 128) {
      std::string bytes = good;
      std::fill(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                bytes.begin() + static_cast<std::ptrdiff_t>(std::min(at + 512, bytes.size())),
                '\0');
      ASSERT_TRUE(WriteFileAtomically(path, bytes, 0600).has_value());
      const auto report = Store::VerifyStopped(options_);
      const std::string problem = report ? report->first_problem : report.error().message;
      EXPECT_THAT(problem, ::testing::AnyOf(HasSubstr(path.filename().string()),
                                            HasSubstr("one of the .sst files")))
          << path << " at " << at << " of " << good.size();
    }
    ASSERT_TRUE(WriteFileAtomically(path, good, 0600).has_value());
  }
}

TEST_F(VerifyTest, EscapesDamagedBytesInMessages) {
  std::string key;
  AppendRowKey(TestKey(1), key);
  // A row key whose name would clear the screen; the key is invalid.
  key.replace(0, 4, "\x1b[2J");
  Put(Table::kRows, key, "");
  const auto report = Store::VerifyStopped(options_);
  const std::string text = report ? report->first_problem : report.error().message;
  EXPECT_NE(text, "");
  EXPECT_EQ(text.find('\x1b'), std::string::npos) << text;
}

}  // namespace
}  // namespace fieldcost::store
