// Publication after real requests: nothing from fewer than k keys, not even a name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "aggregator/publish/publisher.h"
#include "common/base/file.h"
#include "common/wire/fragment.h"
#include "common/wire/zstd_frame.h"
#include "tests/aggregator/ingest/trust_fixture.h"

namespace fieldcost::publish {
namespace {

using ingest::kTrustWeek;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::uint32_t kThreshold = 5;

class ThresholdTest : public ingest::TrustTest {
 protected:
  void UseTokens() {
    const std::filesystem::path file = dir_.path() / "token";
    ASSERT_TRUE(WriteFileAtomically(file, "let-me-in\n", 0600).has_value());
    ingest_ = std::make_unique<ingest::Ingest>(
        *store_, clock_, *ingest::Pseudonyms::LoadOrCreate(dir_.path() / "pseudonyms"),
        *ingest::Receipts::LoadOrCreate(dir_.path() / "receipts"),
        std::move(*ingest::Admission::Load(ingest::EnrolmentMode::kToken, {file}, *store_)),
        ingest::IngestOptions{.names = {ingest::kTestHost}, .roots = {ingest::kTestRoot}});
  }

  static crypto::PrivateKey KeyOf(unsigned agent) {
    return crypto::PrivateKey::FromSeed(std::string(32, static_cast<char>('A' + agent)));
  }

  // Sends batches with one function from one key, one batch per class; all are accepted.
  void Contribute(unsigned agent, const stats::ApiKey& api, unsigned first_class,
                  unsigned classes = 1, stats::Metric metric = stats::Metric::kWallTime) {
    for (unsigned hardware = first_class; hardware < first_class + classes; ++hardware) {
      wire::BatchContent content = ingest::TestContent(1, kTrustWeek);
      content.hardware.cpu_family = "class-" + std::to_string(hardware);
      content.rows[0].api = api;
      content.rows[0].metric = metric;
      const http::Response response = Send(KeyOf(agent), ++sequences_[agent], content);
      ASSERT_EQ(response.status, 200) << response.body;
    }
  }

  // Sends the function in all epochs, each with its own classes, and in all weeks.
  void ContributeByAllMeans(unsigned agent, const stats::ApiKey& api) {
    const std::uint64_t now = ingest::EpochOfWeek(kTrustWeek).value();
    unsigned hardware = 0;
    for (const std::uint64_t epoch : {now, now - 1, now + 1}) {
      ingest::SetTestEpoch(wire::Epoch(epoch));
      ingest_->Handle(ingest::EnrolmentRequest(KeyOf(agent), "let-me-in"));
      for (std::uint32_t sequence = 1; sequence <= 14; ++sequence) {
        wire::BatchContent content =
            ingest::TestContent(1, kTrustWeek + ingest::kWeeksAhead - sequence / 2);
        content.hardware.cpu_family = "class-" + std::to_string(++hardware / 8);
        content.rows[0].api = api;
        Send(KeyOf(agent), sequence, content);
      }
    }
    ingest::SetTestEpoch(wire::Epoch(now));
  }

  void Enrol(unsigned agent) {
    ASSERT_EQ(ingest_->Handle(ingest::EnrolmentRequest(KeyOf(agent), "let-me-in")).status, 200);
  }

  PublishReport Publish() {
    auto publisher = Publisher::Open(
        {.data_dir = dir_.path() / "data", .contribution_threshold = kThreshold}, clock_);
    EXPECT_TRUE(publisher.has_value());
    const auto report = publisher->Publish(*store_);
    EXPECT_TRUE(report.has_value());
    published_.clear();
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(publisher->directory())) {
      if (!entry.is_regular_file()) continue;
      std::string bytes = ReadFile(entry.path(), 64 * kMiB).value();
      published_ += bytes;
      const bool is_fragment = entry.path().parent_path().filename() == "fragments";
      if (!is_fragment) continue;
      wire::Decompressor decompressor;
      const auto plain = decompressor.Decompress(
          bytes, {.max_compressed_bytes = 4 * kMiB, .max_decoded_bytes = 64 * kMiB});
      EXPECT_TRUE(plain.has_value());
      published_ += *plain;
    }
    return *report;
  }

  static stats::ApiKey Api(const std::string& symbol) {
    return {.soname = "libsample.so.1",
            .package_version = "1.2-3",
            .build_id = "00ff",
            .symbol = symbol};
  }

  std::map<unsigned, std::uint64_t> sequences_;
  std::string published_;  // all files; fragments also decompressed
};

TEST_F(ThresholdTest, OneKeyOfManyClassesNeverGetsALoneVolunteersRowPublished) {
  Contribute(0, Api("of_a_volunteer"), 1);
  ContributeByAllMeans(1, Api("of_a_volunteer"));
  const PublishReport report = Publish();
  EXPECT_EQ(report.rows, 0U);
  EXPECT_EQ(report.withheld, 1U);
  EXPECT_THAT(published_, Not(HasSubstr("of_a_volunteer")));
  // Three such keys and the volunteer make four; with one more there are five, in two classes.
  ContributeByAllMeans(2, Api("of_a_volunteer"));
  ContributeByAllMeans(3, Api("of_a_volunteer"));
  EXPECT_EQ(Publish().rows, 0U);
  Contribute(4, Api("of_a_volunteer"), 1);
  EXPECT_EQ(Publish().rows, 1U);
  EXPECT_THAT(published_, HasSubstr("of_a_volunteer"));
}

// k - 1 new keys cannot complete the threshold for a row. An attacker who waits for a day still
// can.
TEST_F(ThresholdTest, FreshKeysDoNotIsolateAVolunteer) {
  Open({.probation_batches = 3, .probation_age = std::chrono::hours(24)});
  const auto send = [&](unsigned agent, const std::string& own) {
    for (unsigned batch = 0; batch < 3; ++batch) {
      Contribute(agent, Api(own + std::to_string(batch)), 1);
    }
    Contribute(agent, Api("of_a_volunteer"), 1);
  };
  send(0, "volunteer_");
  clock_.Advance(std::chrono::hours(25));
  Contribute(0, Api("volunteer_late"), 1);
  for (unsigned agent = 1; agent < kThreshold; ++agent) send(agent, "fresh_");
  EXPECT_EQ(Publish().rows, 0U);
  EXPECT_THAT(published_, Not(HasSubstr("of_a_volunteer")));
  clock_.Advance(std::chrono::hours(25));
  for (unsigned agent = 1; agent < kThreshold; ++agent) Contribute(agent, Api("late"), 1);
  EXPECT_EQ(Publish().rows, 1U) << "they are old enough now";
}

TEST_F(ThresholdTest, NeitherDoesOneInvitedKey) {
  UseTokens();
  Enrol(0);
  Contribute(0, Api("of_a_volunteer"), 1);
  ContributeByAllMeans(1, Api("of_a_volunteer"));
  EXPECT_EQ(Publish().rows, 0U);
  EXPECT_THAT(published_, Not(HasSubstr("of_a_volunteer")));
}

TEST_F(ThresholdTest, ANameThatTooFewKeysGaveIsNowhere) {
  stats::ApiKey version = Api("known");
  version.package_version = "9.9-invented";
  stats::ApiKey build = Api("known");
  build.build_id = "badc0de0";
  stats::ApiKey library = Api("made_up");
  library.soname = "libinvented.so.7";
  stats::ApiKey symbol_version = Api("known");
  symbol_version.symbol_version = "INVENTED_1.0";
  for (unsigned agent = 0; agent < kThreshold; ++agent) Contribute(agent, Api("known"), 1);
  for (const stats::ApiKey& invented : {version, build, library, symbol_version, Api("made_up")}) {
    for (unsigned agent = 10; agent < 10 + kThreshold - 1; ++agent) {
      Contribute(agent, invented, agent);
      Contribute(agent, invented, agent, 1, stats::Metric::kAllocSize);
    }
    // Additional agents with another metric do not help either.
    Contribute(20, invented, 1, 1, stats::Metric::kDiskRead);
  }
  EXPECT_EQ(Publish().rows, 1U);
  EXPECT_THAT(published_, HasSubstr("known"));
  EXPECT_THAT(published_, Not(HasSubstr("nvented")));
  EXPECT_THAT(published_, Not(HasSubstr("INVENTED")));
  EXPECT_THAT(published_, Not(HasSubstr("made_up")));
  EXPECT_THAT(published_, Not(HasSubstr("badc0de0")));
  EXPECT_THAT(published_, Not(HasSubstr("class-"))) << "all known rows are of one class";
}

}  // namespace
}  // namespace fieldcost::publish
