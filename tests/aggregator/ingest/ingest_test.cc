#include "aggregator/ingest/ingest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <memory>

#include "aggregator/ingest/ingest_limits.h"
#include "common/base/file.h"
#include "common/base/worker_pool.h"
#include "common/crypto/sha256.h"
#include "tests/aggregator/ingest/sender.h"
#include "tests/support/fake_clock.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::ingest {
namespace {

using ::testing::HasSubstr;

constexpr std::uint32_t kWeek = 2960;

class IngestTest : public ::testing::Test {
 protected:
  IngestTest()
      : store_(std::move(
            *store::Store::Open({.data_dir = dir_.path() / "data", .checkpoint_seconds = 0}))),
        ingest_(*store_, clock_, *Pseudonyms::LoadOrCreate(dir_.path() / "secret"),
                *Receipts::LoadOrCreate(dir_.path() / "receipts"), Admission(),
                {.names = {kTestHost}, .roots = {kTestRoot}}) {
    SetTestEpoch(EpochOfWeek(kWeek));
  }

  stats::RowKey KeyOf(const wire::BatchContent& content, const wire::BatchRow& row) const {
    return {row.api, row.metric, content.hardware, row.week};
  }

  // Returns the stored row; empty if it does not exist.
  stats::StatRow Stored(const wire::BatchContent& content, const wire::BatchRow& row) {
    const auto found = store_->Get(KeyOf(content, row));
    EXPECT_TRUE(found.has_value());
    return found->value_or(stats::StatRow());
  }

  wire::BatchAnswer MustAnswer(const http::Response& response) {
    EXPECT_EQ(response.status, 200) << response.body;
    auto answer = wire::DecodeAnswer(response.body);
    EXPECT_TRUE(answer.has_value());
    return *answer;
  }

  const testing::TempDir dir_;
  testing::FakeClock clock_{WallTime(std::chrono::days(7 * kWeek + 3))};
  std::unique_ptr<store::Store> store_;
  Ingest ingest_;
  const crypto::PrivateKey key_ = crypto::PrivateKey::FromSeed(std::string(32, 'k'));
};

TEST_F(IngestTest, AGoodBatchIsAddedWithItsHardwareClassAndContribution) {
  const wire::BatchContent content = TestContent(3, kWeek);
  const wire::BatchAnswer answer = MustAnswer(ingest_.Handle(SignedRequest(key_, 1, content)));
  EXPECT_EQ(answer.accepted_rows, 3U);
  EXPECT_EQ(answer.rejected_rows, 0U);
  EXPECT_TRUE(answer.rejects.empty());
  for (const wire::BatchRow& row : content.rows) {
    const stats::StatRow stored = Stored(content, row);
    EXPECT_EQ(stored.histogram, row.histogram);
    EXPECT_EQ(stored.scalars, stats::ScalarsOf(row.histogram));
  }
  EXPECT_EQ(ingest_.counters().accepted_batches, 1U);
  EXPECT_EQ(ingest_.counters().accepted_rows, 3U);
}

TEST_F(IngestTest, EachStageOfABatchIsTimed) {
  const auto ended = [this](const http::Request& request, int status) {
    store::StageTimes times;
    EXPECT_EQ(ingest_.Handle(request, times).status, status);
    std::string names;
    for (std::size_t i = 0; i < store::kBatchStages; ++i) {
      const auto stage = static_cast<store::BatchStage>(i);
      if (times.of(stage)) names += std::string(store::Name(stage)) + " ";
    }
    return names;
  };
  const std::string before_store = "verify decompress decode contribution check ";
  EXPECT_EQ(ended(SignedRequest(key_, 1, TestContent(3, kWeek)), 200),
            before_store + "ledger log fold answer ");
  EXPECT_EQ(ended(SignedRequest(key_, 1, TestContent(3, kWeek)), 200),
            before_store + "ledger answer ");
  EXPECT_EQ(ended(SignedRequest(key_, 2, std::string("no frame")), 400), "verify decompress ");
  http::Request forged = SignedRequest(key_, 2, TestContent(3, kWeek));
  SetHeader(forged, wire::kSequenceHeader, "3");
  EXPECT_EQ(ended(forged, 401), "");
}

TEST_F(IngestTest, AReplayIsAnsweredWithTheSameBytesAndAddsNothing) {
  wire::BatchContent content = TestContent(2, kWeek);
  content.rows[1].week = 1;  // one rejected row, so that the response has a reason to report
  const http::Response first = ingest_.Handle(SignedRequest(key_, 1, content));
  clock_.Advance(std::chrono::weeks(1));
  const http::Response again = ingest_.Handle(SignedRequest(key_, 1, content));
  EXPECT_EQ(again.status, 200);
  EXPECT_EQ(again.body, first.body);
  EXPECT_EQ(Stored(content, content.rows[0]).histogram, content.rows[0].histogram);
  EXPECT_EQ(ingest_.counters().replayed_batches, 1U);
}

TEST_F(IngestTest, AnotherBatchUnderANumberInUseIsRefusedNotAcknowledged) {
  const wire::BatchContent content = TestContent(2, kWeek);
  wire::BatchContent other = content;
  other.rows[1].api.symbol = "of_a_copied_machine";
  const http::Response first = ingest_.Handle(SignedRequest(key_, 1, content));
  const http::Response refused = ingest_.Handle(SignedRequest(key_, 1, other));
  EXPECT_EQ(refused.status, 409) << "a 200 would mean that it is stored";
  EXPECT_EQ(ingest_.counters().bad_sequence, 1U);
  EXPECT_EQ(ingest_.counters().replayed_batches, 0U);
  EXPECT_TRUE(Stored(other, other.rows[1]).histogram.empty());
  EXPECT_EQ(ingest_.Handle(SignedRequest(key_, 1, content)).body, first.body);
}

TEST_F(IngestTest, ARefusedRowNeverCostsTheOthers) {
  wire::BatchContent content = TestContent(9, kWeek);
  content.rows[1].metric = static_cast<stats::Metric>(77);
  content.rows[2].api.symbol = "with space";
  content.rows[3].histogram.SetBucket(5, {.count = 1, .sum = 1000, .sum_of_squares = 1000000});
  content.rows[4].histogram = {};
  content.rows[5].week = kWeek - kWeeksBack - 1;
  content.rows[6].week = kWeek + kWeeksAhead + 1;
  content.rows[7] = content.rows[0];
  const auto body = wire::EncodeBatch(content);
  ASSERT_TRUE(body.has_value()) << body.error().message;
  const wire::BatchAnswer answer = MustAnswer(ingest_.Handle(SignedRequest(key_, 1, *body)));
  EXPECT_EQ(answer.accepted_rows, 2U);
  EXPECT_EQ(answer.rejected_rows, 7U);
  const std::vector<std::pair<std::uint32_t, std::string>> expected = {
      {1, "unknown metric 77"}, {2, ""},          {3, ""},     {4, ""},
      {5, "week 2954"},         {6, "week 2962"}, {7, "twice"}};
  ASSERT_EQ(answer.rejects.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(answer.rejects[i].row, expected[i].first);
    EXPECT_THAT(answer.rejects[i].reason, HasSubstr(expected[i].second));
    EXPECT_FALSE(answer.rejects[i].reason.empty());
  }
  EXPECT_EQ(Stored(content, content.rows[0]).histogram, content.rows[0].histogram);
  EXPECT_EQ(Stored(content, content.rows[8]).histogram, content.rows[8].histogram);
}

TEST_F(IngestTest, RowsOfTheOldestAndNewestAllowedWeekAreTaken) {
  MustAnswer(ingest_.Handle(SignedRequest(key_, 1, TestContent(1, kWeek))));
  clock_.Advance(std::chrono::weeks(1));
  wire::BatchContent content = TestContent(5, kWeek);
  for (std::size_t i = 0; i < 5; ++i) content.rows[i].api.symbol += "_later";
  content.rows[1].week = kWeek - kWeeksBeforeFirstBatch;
  content.rows[2].week = kWeek - kWeeksBeforeFirstBatch - 1;
  content.rows[3].week = kWeek + 1;
  content.rows[4].week = kWeek + 2;
  EXPECT_EQ(MustAnswer(ingest_.Handle(SignedRequest(key_, 2, content))).accepted_rows, 3U);
  // Rows are accepted from one day before their week begins, for clocks that are ahead.
  clock_.Advance(std::chrono::days(3));
  content.rows.erase(content.rows.begin(), content.rows.begin() + 4);
  EXPECT_EQ(MustAnswer(ingest_.Handle(SignedRequest(key_, 3, content))).accepted_rows, 1U);
}

TEST_F(IngestTest, DuplicatesAreFoundInAnyOrderOfRows) {
  wire::BatchContent content = TestContent(5, kWeek);
  std::reverse(content.rows.begin(), content.rows.end());
  content.rows.push_back(content.rows[0]);
  content.rows.push_back(content.rows[3]);
  const auto body = wire::EncodeBatch(content);
  ASSERT_TRUE(body.has_value()) << body.error().message;
  const wire::BatchAnswer answer = MustAnswer(ingest_.Handle(SignedRequest(key_, 1, *body)));
  EXPECT_EQ(answer.accepted_rows, 5U);
  ASSERT_EQ(answer.rejects.size(), 2U);
  EXPECT_EQ(answer.rejects[0].row, 5U);
  EXPECT_EQ(answer.rejects[1].row, 6U);
}

TEST_F(IngestTest, SumsThatCouldOverflowTheStoreAreImplausible) {
  wire::BatchContent content = TestContent(2, kWeek);
  content.rows[0].histogram = {};
  content.rows[0].histogram.SetBucket(0, {.count = kMaxRowCalls + 1});
  content.rows[1].histogram = {};
  content.rows[1].histogram.Add(std::uint64_t{1} << 53);
  const wire::BatchAnswer answer = MustAnswer(ingest_.Handle(SignedRequest(key_, 1, content)));
  EXPECT_EQ(answer.accepted_rows, 0U);
  EXPECT_EQ(answer.rejected_rows, 2U);
}

TEST_F(IngestTest, LimitsTheCallsThatAValueRepresents) {
  struct Claim {
    stats::Metric metric;
    std::uint64_t most;
  };
  std::uint64_t sequence = 0;
  for (const Claim& claim :
       {Claim{stats::Metric::kWallTime, 1 << 14}, Claim{stats::Metric::kWallTimeBusy, 1 << 14},
        Claim{stats::Metric::kAllocExclusive, 1 << 14}, Claim{stats::Metric::kTimePerRun, 1 << 24},
        Claim{stats::Metric::kCallsPerRun, 1}, Claim{stats::Metric::kFirstCallTime, 1}}) {
    SCOPED_TRACE(stats::Name(claim.metric));
    wire::BatchContent content = TestContent(2, kWeek);
    for (wire::BatchRow& row : content.rows) {
      row.api.symbol += std::to_string(sequence);
      row.metric = claim.metric;
      row.histogram.Clear();
    }
    content.rows[0].histogram.Add(100, claim.most);
    content.rows[1].histogram.Add(100, claim.most + 1);
    const wire::BatchAnswer answer =
        MustAnswer(ingest_.Handle(SignedRequest(key_, ++sequence, content)));
    EXPECT_EQ(answer.accepted_rows, 1U);
    ASSERT_EQ(answer.rejects.size(), 1U);
    EXPECT_EQ(answer.rejects[0].row, 1U);
    EXPECT_THAT(answer.rejects[0].reason, ::testing::HasSubstr("represent more"));
  }
}

TEST_F(IngestTest, TheStoreNeverSeesTheAgentsKey) {
  MustAnswer(ingest_.Handle(SignedRequest(key_, 1, TestContent(1, kWeek))));
  ASSERT_TRUE(store_->Checkpoint().has_value());
  store_.reset();  // an open database removes its old files at any time
  const std::string raw(key_.public_key().view());
  int files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(dir_.path() / "data")) {
    if (!entry.is_regular_file()) continue;
    const auto bytes = ReadFile(entry.path(), 64 * kMiB);
    ASSERT_TRUE(bytes.has_value());
    ++files;
    EXPECT_EQ(bytes->find(raw), std::string::npos) << entry.path();
    EXPECT_EQ(bytes->find(key_.public_key().Hex()), std::string::npos) << entry.path();
  }
  EXPECT_GT(files, 2);
}

struct Refusal {
  const char* name;
  std::function<void(http::Request&)> change;
  int status;
  const char* message;
  std::atomic<std::uint64_t> Counters::*counter;
};

TEST_F(IngestTest, EachBadRequestGetsItsStatusAndIsCounted) {
  const crypto::PrivateKey other = crypto::PrivateKey::FromSeed(std::string(32, 'o'));
  const std::string good_body = *wire::EncodeBatch(TestContent(1, kWeek));
  wire::BatchContent no_architecture = TestContent(1, kWeek);
  no_architecture.hardware.architecture = "x y";
  const auto bad_class = wire::EncodeBatch(no_architecture);
  const std::string other_body = OfVersion(good_body, wire::kBatchFormatVersion + 1);
  const auto header = [](const char* name, const char* value) {
    return [=](http::Request& request) { SetHeader(request, name, value); };
  };
  const auto resigned = [&](const std::string& body) {
    return [this, body](http::Request& request) { request = SignedRequest(key_, 1, body); };
  };
  const std::vector<Refusal> refusals = {
      {"target", [](http::Request& r) { r.target = "/v1/other"; }, 404, "unknown address",
       &Counters::unknown_target},
      {"query", [](http::Request& r) { r.target += "?x=1"; }, 404, "unknown address",
       &Counters::unknown_target},
      {"method", [](http::Request& r) { r.method = "GET"; }, 405, "POST", &Counters::wrong_method},
      {"content type", header("Content-Type", "application/json"), 415, "content type",
       &Counters::wrong_content_type},
      {"size", [](http::Request& r) { r.body.resize(wire::kMaxBatchBodyBytes + 1); }, 413,
       "at most", &Counters::too_large},
      {"no service", header(wire::kServiceHeader, ""), 400, wire::kServiceHeader,
       &Counters::bad_envelope},
      {"another service", header(wire::kServiceHeader, "a.example/5e0c"), 421, "a.example",
       &Counters::wrong_service},
      {"no agent", header(wire::kAgentHeader, ""), 400, wire::kAgentHeader,
       &Counters::bad_envelope},
      {"short agent", header(wire::kAgentHeader, "00ff"), 400, wire::kAgentHeader,
       &Counters::bad_envelope},
      {"epoch", header(wire::kEpochHeader, "-1"), 400, wire::kEpochHeader, &Counters::bad_envelope},
      {"sequence text", header(wire::kSequenceHeader, "1 "), 400, wire::kSequenceHeader,
       &Counters::bad_envelope},
      {"sequence 0", header(wire::kSequenceHeader, "0"), 400, wire::kSequenceHeader,
       &Counters::bad_envelope},
      {"signature text", header(wire::kSignatureHeader, "zz"), 400, wire::kSignatureHeader,
       &Counters::bad_envelope},
      {"another sequence", header(wire::kSequenceHeader, "2"), 401, "signature",
       &Counters::bad_signature},
      {"another epoch", header(wire::kEpochHeader, "2"), 401, "signature",
       &Counters::bad_signature},
      {"another agent",
       [&](http::Request& r) { SetHeader(r, wire::kAgentHeader, other.public_key().Hex()); }, 401,
       "signature", &Counters::bad_signature},
      {"changed body", [](http::Request& r) { r.body.back() ^= 1; }, 401, "signature",
       &Counters::bad_signature},
      {"garbage, signed", resigned("garbage"), 400, "", &Counters::malformed},
      {"cut off, signed", resigned(good_body.substr(0, good_body.size() / 2)), 400, "",
       &Counters::malformed},
      {"empty, signed", resigned(""), 400, "", &Counters::malformed},
      {"of another format", resigned(other_body), 400, "only 1 is understood",
       &Counters::malformed},
      {"hardware class", resigned(bad_class.value_or("not encodable")), 400, "",
       &Counters::malformed},
  };
  for (const Refusal& refusal : refusals) {
    SCOPED_TRACE(refusal.name);
    http::Request request = SignedRequest(key_, 1, good_body);
    refusal.change(request);
    const std::uint64_t before = ingest_.counters().*refusal.counter;
    const http::Response response = ingest_.Handle(request);
    EXPECT_EQ(response.status, refusal.status) << response.body;
    EXPECT_THAT(response.body, HasSubstr(refusal.message));
    EXPECT_EQ(ingest_.counters().*refusal.counter, before + 1);
  }
  EXPECT_EQ(store_->sequence(), 0U);
  EXPECT_EQ(MustAnswer(ingest_.Handle(SignedRequest(key_, 1, good_body))).accepted_rows, 1U);
}

TEST_F(IngestTest, ASequenceBelowTheWindowIsRefused) {
  const wire::BatchContent content = TestContent(1, kWeek);
  EXPECT_EQ(ingest_.Handle(SignedRequest(key_, 1000, content)).status, 200);
  const http::Response response = ingest_.Handle(SignedRequest(key_, 1, content));
  EXPECT_EQ(response.status, 400);
  EXPECT_THAT(response.body, HasSubstr("sequence too old"));
  EXPECT_EQ(ingest_.counters().bad_sequence, 1U);
}

TEST_F(IngestTest, AReceiptIsForThisBatchAndNamesItsRefusedRows) {
  wire::BatchContent content = TestContent(3, kWeek);
  content.rows[1].week = 1;
  const std::string body = *wire::EncodeBatch(content);
  const std::string receipt = MustAnswer(ingest_.Handle(SignedRequest(key_, 1, body))).receipt;
  const auto opened = Receipts::LoadOrCreate(dir_.path() / "receipts")
                          ->Open(receipt, {.agent = key_.public_key(),
                                           .epoch = TestEpoch(),
                                           .sequence = wire::Sequence(1),
                                           .body_sha256 = crypto::Sha256(body)});
  ASSERT_TRUE(opened.has_value()) << opened.error().message;
  EXPECT_THAT(*opened, ::testing::ElementsAre(1U));
}

TEST_F(IngestTest, OverloadResponsesNameARetryTime) {
  const http::Response response = ingest_.Overloaded();
  EXPECT_EQ(response.status, 503);
  EXPECT_EQ(http::Find(response.headers, "Retry-After"), std::to_string(kRetryAfterSeconds));
  EXPECT_EQ(ingest_.counters().overloaded, 1U);
}

TEST(PseudonymsTest, TheSecretIsKeptAndDecidesTheId) {
  const testing::TempDir dir;
  const crypto::PublicKey agent = crypto::PrivateKey::FromSeed(std::string(32, 'k')).public_key();
  const auto first = Pseudonyms::LoadOrCreate(dir.path() / "a");
  const auto again = Pseudonyms::LoadOrCreate(dir.path() / "a");
  const auto other = Pseudonyms::LoadOrCreate(dir.path() / "b");
  ASSERT_TRUE(first.has_value() && again.has_value() && other.has_value());
  EXPECT_EQ(first->IdOf(agent), again->IdOf(agent));
  EXPECT_EQ(first->Fingerprint(), again->Fingerprint());
  EXPECT_NE(first->IdOf(agent), other->IdOf(agent));
  EXPECT_EQ(first->IdOf(agent).size(), store::kAgentIdBytes);
  ASSERT_TRUE(WriteFileAtomically(dir.path() / "c", "short\n", 0600).has_value());
  EXPECT_EQ(Pseudonyms::LoadOrCreate(dir.path() / "c").error().code, ErrorCode::kCorrupt);
}

TEST(WorkerPoolTest, TakesNoMoreThanItsQueueHoldsAndFinishesWhatItTook) {
  std::latch busy(1);
  std::latch release(1);
  std::atomic<int> done{0};
  WorkerPool pool(1, 2);
  ASSERT_TRUE(pool.TryRun([&] {
    busy.count_down();
    release.wait();
    ++done;
  }));
  busy.wait();
  EXPECT_TRUE(pool.TryRun([&] { ++done; }));
  EXPECT_TRUE(pool.TryRun([&] { ++done; }));
  EXPECT_FALSE(pool.TryRun([&] { ++done; }));
  release.count_down();
  pool.Stop();
  EXPECT_EQ(done, 3);
  EXPECT_FALSE(pool.TryRun([&] { ++done; }));
}

}  // namespace
}  // namespace fieldcost::ingest
