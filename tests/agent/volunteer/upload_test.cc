#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <thread>
#include <utility>

#include "agent/spool/batcher.h"
#include "common/wire/epoch.h"
#include "tests/agent/volunteer/agent_fixture.h"

namespace fieldcost::volunteer {
namespace {

using std::chrono::seconds;
using testing::AggregatorStandIn;
using ::testing::HasSubstr;
using testing::RunFileOptions;
using testing::RunFileWriter;
using testing::WrittenPick;

class UploadTest : public AgentFixture {
 protected:
  void SetUp() override {
    StartServer();
    WriteConfig();
  }
};

TEST_F(UploadTest, PreviewsExactlyTheBytesThatAreSent) {
  Agent agent = OpenAgent(settings::Mode::kOn);
  ASSERT_TRUE(agent.WritePolicy());
  WriteRun("a", {3, 7, 22});
  ASSERT_TRUE(agent.Harvest());
  EXPECT_FALSE(std::filesystem::exists(paths_.state_dir / "agent_keys"));
  const auto preview = agent.Preview();
  ASSERT_TRUE(preview) << preview.error().message;
  ASSERT_TRUE(preview->has_value());
  EXPECT_FALSE(std::filesystem::exists(paths_.state_dir / "agent_keys"));
  const auto report = agent.Upload(UploadWish::kEverythingNow);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_FALSE(report->stopped_by) << report->stopped_by->message;
  EXPECT_EQ(report->batches_sent, 1U);
  EXPECT_EQ(report->rows_sent, 2U) << "wall time and calls per run";
  ASSERT_EQ(server_->bodies().size(), 1U);
  EXPECT_EQ(server_->bodies()[0], (*preview)->raw);
  EXPECT_EQ(server_->sequences()[0], (*preview)->sequence);
  EXPECT_EQ(server_->Rows(stats::Metric::kWallTime)[0].histogram, HistogramOf({3, 7, 22}));
  EXPECT_EQ(server_->bad_requests(), 0U);
  EXPECT_FALSE(agent.Preview()->has_value());
  const auto status = agent.GetStatus();
  EXPECT_EQ(status->outbox.sent_batches, 1U);
  EXPECT_EQ(status->outbox.pending_rows, 0U);
  EXPECT_EQ(status->agent_public_key.size(), 64U);
}

TEST_F(UploadTest, SpooledBatchIsPreviewedAsItWillBeSent) {
  Agent agent = OpenAgent(settings::Mode::kOn);
  WriteRun("a", {3});
  ASSERT_TRUE(agent.Harvest());
  server_->Script({.status = 503, .headers = {{"Retry-After", "17"}}, .body = "busy"});
  const auto report = agent.Upload(UploadWish::kEverythingNow);
  ASSERT_TRUE(report);
  ASSERT_TRUE(report->stopped_by);
  EXPECT_EQ(report->stopped_by->code, ErrorCode::kUnavailable);
  EXPECT_THAT(report->stopped_by->message, HasSubstr("503"));
  EXPECT_EQ(report->retry_after, seconds(17));
  EXPECT_EQ(report->batches_left, 1U);
  WriteRun("b", {4});
  ASSERT_TRUE(agent.Harvest());
  const auto preview = agent.Preview();
  ASSERT_TRUE(preview->has_value());
  ASSERT_EQ((*preview)->content.rows.size(), 2U);
  EXPECT_EQ((*preview)->content.rows[0].histogram, HistogramOf({3}));
  EXPECT_EQ(*wire::EncodeBatch((*preview)->content), (*preview)->raw);
  ASSERT_TRUE(agent.Upload(UploadWish::kEverythingNow));
  EXPECT_EQ(server_->bodies()[0], (*preview)->raw);
  EXPECT_EQ(server_->Calls(stats::Metric::kWallTime), 2U);
}

TEST_F(UploadTest, ABatchWaitsForTheAgentsSlotAndIsNeverTooOld) {
  Agent agent = OpenAgent(settings::Mode::kOn);
  EXPECT_EQ(*agent.NextUpload(), std::nullopt);
  WriteRun("a", {3});
  ASSERT_TRUE(agent.Harvest());
  const auto next = agent.NextUpload();
  ASSERT_TRUE(next && *next);
  EXPECT_GT(**next, kStart);
  EXPECT_LE(**next, kStart + std::chrono::hours(24));
  EXPECT_EQ(agent.GetStatus()->upload.next_upload, *next);
  EXPECT_EQ(agent.Upload(UploadWish::kWhatIsDue)->batches_sent, 0U);
  clock_.Advance(**next - kStart - seconds(1));
  EXPECT_EQ(agent.Upload(UploadWish::kWhatIsDue)->batches_sent, 0U);
  EXPECT_EQ(server_->requests(), 0U);
  clock_.Advance(seconds(1));
  EXPECT_EQ(agent.Upload(UploadWish::kWhatIsDue)->batches_sent, 1U);
  EXPECT_EQ(*agent.NextUpload(), std::nullopt);
}

TEST_F(UploadTest, FullBatchesAreSplitAtTheConfiguredSize) {
  WriteConfig("[batch]\nmax_batch_bytes = 4096\n");
  Agent agent = OpenAgent(settings::Mode::kOn);
  RunFileOptions options = Ended();
  options.picks.clear();
  for (int i = 0; i < 300; ++i) {
    options.picks.push_back(WrittenPick{.symbol = "function_number_" + std::to_string(i)});
  }
  {
    RunFileWriter file(RunPath("a"), options);
    for (std::uint32_t pick = 0; pick < 300; ++pick) file.Add(pick, 0, pick);
  }
  ASSERT_TRUE(agent.Harvest());
  EXPECT_GE(agent.GetStatus()->outbox.pending_bytes, 8192U);
  const auto full = agent.Upload(UploadWish::kWhatIsDue);
  ASSERT_TRUE(full);
  EXPECT_GE(full->batches_left, 2U) << "full batches are closed at once";
  EXPECT_GE(agent.GetStatus()->outbox.pending_rows, 1U);
  ASSERT_TRUE(agent.Upload(UploadWish::kEverythingNow));
  EXPECT_EQ(server_->Rows(stats::Metric::kWallTime).size(), 300U);
  EXPECT_EQ(server_->Calls(stats::Metric::kWallTime), 300U);
  wire::BatchDecoder decoder;
  for (const std::string& body : server_->bodies()) {
    ASSERT_TRUE(decoder.Decode(body));
    wire::BatchContent content{.field_policy_version = decoder.field_policy_version(),
                               .hardware = decoder.hardware(),
                               .rows = {}};
    wire::UntrustedRow row;
    for (std::size_t i = 0; i < decoder.row_count(); ++i) {
      decoder.GetRow(i, row);
      content.rows.push_back(
          {row.api, static_cast<stats::Metric>(row.metric_number), row.week, true, row.histogram});
    }
    EXPECT_LE(wire::EncodedBatchBytes(content), 4096U);
  }
}

TEST_F(UploadTest, ContributesAgainToWhatTheServiceDoesNotKnow) {
  Agent agent = OpenAgent(settings::Mode::kOn);
  for (int i = 0; i < 3; ++i) {
    WriteRun("a" + std::to_string(i), {3});
    ASSERT_TRUE(agent.Harvest());
    if (i == 1) {
      std::string rejects;
      for (int row = 0; row < 9; ++row) {
        rejects += fmt::format(R"({}{{"row":{},"reason":"no"}})", row == 0 ? "" : ",", row);
      }
      server_->Script(
          {.status = 200,
           .headers = {},
           .body = R"({"accepted_rows":0,"rejected_rows":9,"rejects":[)" + rejects + "]}",
           .counted = true});
    }
    ASSERT_TRUE(agent.Upload(UploadWish::kEverythingNow));
  }
  const auto rows = server_->Rows(stats::Metric::kWallTime);
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_TRUE(rows[0].first_contribution);
  EXPECT_FALSE(rows[1].first_contribution);
  EXPECT_TRUE(rows[2].first_contribution) << "the service has refused an addition";
}

TEST_F(UploadTest, ContributesToARowOnceAQuarter) {
  Agent agent = OpenAgent(settings::Mode::kOn);
  for (int i = 0; i < 2; ++i) {
    WriteRun("a" + std::to_string(i), {3});
    ASSERT_TRUE(agent.Harvest());
    ASSERT_TRUE(agent.Upload(UploadWish::kEverythingNow));
  }
  // Two weeks of the same quarter form one batch, the next quarter another.
  clock_.Advance(std::chrono::weeks(1));
  WriteRun("a", {3});
  ASSERT_TRUE(agent.Harvest());
  ASSERT_TRUE(agent.Upload(UploadWish::kEverythingNow));
  clock_.Advance(std::chrono::weeks(6));
  ASSERT_NE(wire::EpochOf(clock_.Now()), wire::EpochOf(kStart));
  for (int i = 0; i < 2; ++i) {
    WriteRun("b" + std::to_string(i), {3});
    ASSERT_TRUE(agent.Harvest());
    clock_.Advance(std::chrono::weeks(1));
  }
  ASSERT_TRUE(agent.Upload(UploadWish::kEverythingNow));
  auto rows = server_->Rows(stats::Metric::kWallTime);
  std::ranges::sort(rows, {}, [](const wire::UntrustedRow& row) {
    return std::pair(row.week, !row.first_contribution);
  });
  ASSERT_EQ(rows.size(), 5U);
  EXPECT_TRUE(rows[0].first_contribution);
  EXPECT_FALSE(rows[1].first_contribution);
  EXPECT_FALSE(rows[2].first_contribution) << "a new week of the same quarter";
  EXPECT_TRUE(rows[3].first_contribution) << "a new quarter, under a new key";
  EXPECT_FALSE(rows[4].first_contribution) << "the week after it in the same batch";
  EXPECT_THAT(server_->sequences(), ::testing::UnorderedElementsAre(1, 2, 3, 1));
}

TEST_F(UploadTest, LostAnswerMeansTheSameBytesAgain) {
  Agent agent = OpenAgent(settings::Mode::kOn);
  WriteRun("a", {3});
  ASSERT_TRUE(agent.Harvest());
  server_->Script({.headers = {}, .body = {}, .never = true, .counted = true});
  const auto report = agent.Upload(UploadWish::kEverythingNow);
  ASSERT_TRUE(report);
  EXPECT_TRUE(report->stopped_by);
  EXPECT_EQ(report->batches_left, 1U);
  EXPECT_EQ(agent.Upload(UploadWish::kEverythingNow)->batches_sent, 1U);
  EXPECT_EQ(server_->bodies().size(), 1U);
  EXPECT_EQ(server_->bad_requests(), 0U);
}

TEST_F(UploadTest, RefusedBatchIsSetAsideAndTheNextOnesGo) {
  Agent agent = OpenAgent(settings::Mode::kOn);
  for (const int status : {400, 401, 403, 413, 415}) {  // all others: upload_answers_test.cc
    WriteRun("a" + std::to_string(status), {3});
    ASSERT_TRUE(agent.Harvest());
    server_->Script({.status = status, .headers = {}, .body = "no\nthanks"});
    const auto report = agent.Upload(UploadWish::kEverythingNow);
    ASSERT_TRUE(report);
    EXPECT_EQ(report->batches_quarantined, 1U) << status;
    EXPECT_FALSE(report->stopped_by);
  }
  WriteRun("b", {4});
  ASSERT_TRUE(agent.Harvest());
  EXPECT_EQ(agent.Upload(UploadWish::kEverythingNow)->batches_sent, 1U);
  EXPECT_EQ(agent.GetStatus()->outbox.quarantined_batches, 5U);
  EXPECT_TRUE(server_->Rows()[0].first_contribution) << "the refused ones contributed nothing";
}

TEST_F(UploadTest, IgnoresAnswersOfAnotherServer) {
  Agent agent = OpenAgent(settings::Mode::kOn);
  WriteRun("a", {3});
  ASSERT_TRUE(agent.Harvest());
  for (const auto& [status, body] : std::vector<std::pair<int, std::string>>{
           {200, "<html>Please log in</html>"}, {404, "no"}, {302, ""}, {429, "slow"}}) {
    server_->Script({.status = status, .headers = {}, .body = body});
    const auto report = agent.Upload(UploadWish::kEverythingNow);
    ASSERT_TRUE(report);
    EXPECT_TRUE(report->stopped_by) << status;
    EXPECT_EQ(report->batches_left, 1U) << status;
  }
  EXPECT_EQ(agent.Upload(UploadWish::kEverythingNow)->batches_sent, 1U);
}

TEST_F(UploadTest, WrongAuthorityIsNamedAndNothingIsLost) {
  const testing::TempDir other;
  const auto certificates = testing::MakeCertificates(other.path());
  ASSERT_TRUE(WriteFileAtomically(paths_.config_file,
                                  "[modules]\nextra_modules = [\"libvictim.so.1\"]\n"
                                  "[aggregator]\nurl = \"" +
                                      server_->url() + "\"\nca_file = \"" +
                                      certificates.ca.string() + "\"\n",
                                  0600));
  {
    Agent agent = OpenAgent(settings::Mode::kOn);
    WriteRun("a", {3});
    ASSERT_TRUE(agent.Harvest());
    const auto report = agent.Upload(UploadWish::kEverythingNow);
    ASSERT_TRUE(report);
    ASSERT_TRUE(report->stopped_by);
    EXPECT_EQ(report->stopped_by->code, ErrorCode::kUnauthenticated);
    EXPECT_EQ(server_->requests(), 0U);
  }
  WriteConfig();
  Agent agent = OpenAgent();
  EXPECT_EQ(agent.Upload(UploadWish::kEverythingNow)->batches_sent, 1U);
}

TEST_F(UploadTest, WithoutThePinnedRootNothingLeavesAndNothingIsLost) {
  const std::string root = ReadFile(paths_.catalog_root_file, kMiB).value();
  Agent agent = OpenAgent(settings::Mode::kOn);
  Measure(agent);
  const auto expect_refusal = [&](ErrorCode code, const std::string& why) {
    const auto report = agent.Upload(UploadWish::kEverythingNow);
    ASSERT_TRUE(report && report->stopped_by);
    EXPECT_EQ(report->stopped_by->code, code);
    EXPECT_THAT(report->stopped_by->message, HasSubstr(why));
    EXPECT_EQ(report->batches_left, 1U);
  };
  std::filesystem::remove(paths_.catalog_root_file);
  expect_refusal(ErrorCode::kNotFound, "get it from the service's operator");
  ASSERT_TRUE(WriteFileAtomically(paths_.catalog_root_file, "damaged", 0600));
  expect_refusal(ErrorCode::kCorrupt, paths_.catalog_root_file.string());
  EXPECT_EQ(server_->requests(), 0U);
  ASSERT_TRUE(WriteFileAtomically(paths_.catalog_root_file, root, 0600));
  EXPECT_EQ(agent.Upload(UploadWish::kEverythingNow)->batches_sent, 1U);
}

TEST_F(UploadTest, SendsNothingWithoutConsent) {
  struct Row {
    const char* what;
    settings::Mode mode;
    int start_seconds;  // of the run, after consent
    bool forced;
    bool kept;
    bool sent;
  };
  constexpr Row kTable[] = {
      {"on", settings::Mode::kOn, 1, false, true, true},
      {"on, run before consent", settings::Mode::kOn, -1, false, false, false},
      {"on, forced pick", settings::Mode::kOn, 1, true, true, false},
      {"on, forced pick before consent", settings::Mode::kOn, -1, true, true, false},
      {"local", settings::Mode::kLocal, 1, false, true, false},
      {"local, run before consent", settings::Mode::kLocal, -1, false, false, false},
      {"local, forced pick", settings::Mode::kLocal, 1, true, true, false},
      {"off", settings::Mode::kOff, 1, false, false, false},
      {"off, forced pick", settings::Mode::kOff, 1, true, true, false},
  };
  std::uint64_t calls_sent = 0;
  for (const Row& row : kTable) {
    std::filesystem::remove_all(paths_.state_dir);
    Agent agent = OpenAgent(row.mode);
    ASSERT_TRUE(agent.WritePolicy({.forced = row.forced}));
    ASSERT_TRUE(MakeDirectories(paths_.run_dir(), 0700));
    RunFileOptions options = Ended();
    options.start_unix_ns += static_cast<std::uint64_t>(row.start_seconds) * 1'000'000'000U;
    options.forced = row.forced;
    WriteRun("a", {3}, options);
    const auto harvest = agent.Harvest();
    ASSERT_TRUE(harvest) << harvest.error().message;
    EXPECT_EQ(RowsOf(*agent.LocalRows()).size(), row.kept ? 1U : 0U) << row.what;
    EXPECT_EQ(agent.Preview()->has_value(), row.sent) << row.what;
    ASSERT_TRUE(agent.Upload(UploadWish::kEverythingNow)) << row.what;
    calls_sent += row.sent ? 1 : 0;
    EXPECT_EQ(server_->Calls(stats::Metric::kWallTime), calls_sent) << row.what;
    EXPECT_FALSE(std::filesystem::exists(RunPath("a"))) << row.what;
  }
}

TEST_F(UploadTest, WithdrawingConsentDropsWhatWasNotSent) {
  for (const settings::Mode mode : {settings::Mode::kLocal, settings::Mode::kOff}) {
    Agent agent = OpenAgent(settings::Mode::kOn);
    WriteRun("a", {3});
    ASSERT_TRUE(agent.Harvest());
    server_->Script({.status = 503, .headers = {}, .body = {}});
    EXPECT_EQ(agent.Upload(UploadWish::kEverythingNow)->batches_left, 1U);
    WriteRun("b", {4});
    ASSERT_TRUE(agent.Harvest());
    WriteRun("c", {5});
    ASSERT_TRUE(agent.SetMode(mode));
    const auto status = agent.GetStatus();
    EXPECT_EQ(status->outbox.pending_rows, 0U);
    EXPECT_EQ(status->outbox.spooled_batches, 0U);
    EXPECT_EQ(status->measuring.run_files, 0U);
    ASSERT_TRUE(agent.SetMode(settings::Mode::kOn));
    EXPECT_FALSE(agent.Preview()->has_value());
    ASSERT_TRUE(agent.Upload(UploadWish::kEverythingNow));
    EXPECT_EQ(server_->bodies().size(), 0U);
  }
}

TEST_F(UploadTest, SameDecisionAgainKeepsItsDateAndWhatWaits) {
  Agent agent = OpenAgent(settings::Mode::kOn);
  WriteRun("a", {3});
  ASSERT_TRUE(agent.Harvest());
  clock_.Advance(std::chrono::hours(1));
  ASSERT_TRUE(agent.SetMode(settings::Mode::kOn));
  EXPECT_EQ(agent.GetStatus()->consent.since, kStart);
  EXPECT_EQ(agent.GetStatus()->outbox.pending_rows, 2U);
}

TEST_F(UploadTest, ModeOffWritesNothing) {
  const auto before = Listing();
  Agent agent = OpenAgent();
  ASSERT_TRUE(agent.SetMode(settings::Mode::kOff));
  ASSERT_TRUE(agent.WritePolicy());
  ASSERT_TRUE(agent.Harvest());
  ASSERT_TRUE(agent.LocalRows());
  ASSERT_TRUE(agent.Preview());
  ASSERT_TRUE(agent.Upload(UploadWish::kEverythingNow));
  ASSERT_TRUE(agent.GetStatus());
  EXPECT_EQ(Listing(), before);
  // A manual pick needs only the policy file.
  ASSERT_TRUE(agent.WritePolicy({.forced = true}));
  EXPECT_TRUE(std::filesystem::exists(paths_.policy_file()));
  EXPECT_EQ(agent.GetStatus()->measuring.policy_problem, "");
}

// As PRIVACY.md states about the sums.
TEST_F(UploadTest, TheSumOfOneCallIsItsExactValue) {
  Agent agent = OpenAgent(settings::Mode::kOn);
  WriteRun("a", {1'234'567});
  ASSERT_TRUE(agent.Harvest());
  ASSERT_TRUE(agent.Upload(UploadWish::kEverythingNow));
  const auto rows = server_->Rows(stats::Metric::kWallTime);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].histogram.count(), 1U);
  EXPECT_EQ(rows[0].histogram, HistogramOf({1'234'567}));
}

TEST_F(UploadTest, CanariesOfThisMachineAreNotInTheBatch) {
  Agent agent = OpenAgent(settings::Mode::kOn);
  RunFileOptions options = Ended();
  options.picks[0].module_path = "/home/canary-user/canary-project/libvictim.so.1";
  options.picks.push_back(WrittenPick{.soname = "libcanary-private.so.1",
                                      .symbol = "canary_symbol",
                                      .module_path = "/opt/canary/libcanary-private.so.1"});
  WriteRun("canary-run", {3}, options);
  ASSERT_TRUE(agent.Harvest());
  ASSERT_TRUE(agent.Upload(UploadWish::kEverythingNow));
  char host[256] = {};
  ASSERT_EQ(::gethostname(host, sizeof host - 1), 0);
  wire::BatchDecoder decoder;
  ASSERT_EQ(server_->bodies().size(), 1U);
  ASSERT_TRUE(decoder.Decode(server_->bodies()[0]));
  std::string text = stats::DisplayName(decoder.hardware());
  for (const wire::UntrustedRow& row : server_->Rows()) {
    text += " " + stats::DisplayName(row.api) + " " + row.api.package_version + " " +
            row.api.build_id + " " + row.api.symbol_version;
  }
  EXPECT_THAT(text, HasSubstr("libvictim.so.1!victim_call"));
  for (const std::string& canary : {std::string("canary"), std::string("/home"), std::string(host),
                                    directory_.path().filename().string()}) {
    EXPECT_THAT(text, ::testing::Not(HasSubstr(canary)));
    EXPECT_THAT(server_->bodies()[0], ::testing::Not(HasSubstr(canary)));
  }
}

TEST_F(UploadTest, FullSpoolLetsSumsGrowInPlace) {
  WriteConfig("[batch]\nmax_batch_bytes = 16384\n[spool]\nmax_spool_bytes = 196608\n");
  Agent agent = OpenAgent(settings::Mode::kOn);
  RunFileOptions options = Ended();
  options.picks.clear();
  std::mt19937_64 random(1);  // incompressible names
  for (std::uint32_t i = 0; i < shm::kMaxPicks; ++i) {
    std::string symbol = "f" + std::to_string(i);
    while (symbol.size() < 200) symbol += static_cast<char>('a' + random() % 26);
    options.picks.push_back(WrittenPick{.symbol = symbol});
  }
  std::uint64_t calls = 0;
  for (int round = 0; round < 24; ++round) {
    RunFileWriter file(RunPath("a" + std::to_string(round)), options);
    for (std::uint32_t pick = 0; pick < shm::kMaxPicks; pick += 4, ++calls) {
      file.Add(static_cast<std::uint64_t>(round) * 1000 + pick, 0, pick);
    }
    ASSERT_TRUE(agent.Harvest());
    server_->Script({.status = 503, .headers = {}, .body = {}});
    ASSERT_TRUE(agent.Upload(UploadWish::kEverythingNow));
  }
  EXPECT_GE(agent.GetStatus()->outbox.pending_bytes, 16384U)
      << "a full batch, but no room in the spool";
  ASSERT_TRUE(agent.Upload(UploadWish::kEverythingNow));
  ASSERT_TRUE(agent.Upload(UploadWish::kEverythingNow));
  EXPECT_EQ(server_->Calls(stats::Metric::kWallTime), calls);
  EXPECT_EQ(agent.GetStatus()->outbox.spooled_batches, 0U);
  EXPECT_EQ(agent.GetStatus()->outbox.dropped_batches, 0U);
}

TEST_F(UploadTest, TwoProcessesNeverSendTheSameBatch) {
  WriteConfig("[batch]\nmax_batch_bytes = 1024\n");
  Agent first = OpenAgent(settings::Mode::kOn);
  Agent second = OpenAgent();
  RunFileOptions options = Ended();
  options.picks.clear();
  for (int i = 0; i < 200; ++i) {
    options.picks.push_back(WrittenPick{.symbol = "function_number_" + std::to_string(i)});
  }
  {
    RunFileWriter file(RunPath("a"), options);
    for (std::uint32_t pick = 0; pick < 200; ++pick) file.Add(pick, 0, pick);
  }
  ASSERT_TRUE(first.Harvest());
  std::uint32_t sent_by_other = 0;
  std::thread other(
      [&] { sent_by_other = second.Upload(UploadWish::kEverythingNow)->batches_sent; });
  const auto report = first.Upload(UploadWish::kEverythingNow);
  other.join();
  ASSERT_TRUE(report);
  EXPECT_FALSE(report->stopped_by);
  EXPECT_EQ(server_->requests(), server_->bodies().size());
  EXPECT_EQ(report->batches_sent + sent_by_other, server_->bodies().size());
  EXPECT_EQ(server_->Calls(stats::Metric::kWallTime), 200U);
}

}  // namespace
}  // namespace fieldcost::volunteer
