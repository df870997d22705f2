// Two services with one host name, on two ports: a request signed for one is worthless at the
// other, and stays valid when its own service rotates its keys.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/file.h"
#include "common/wire/wire_requests.h"
#include "tests/aggregator/service/service_fixture.h"

namespace fieldcost::aggregator {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// The other service.
class Neighbour : public ServiceTest {
 public:
  using ServiceTest::MustSend;
  using ServiceTest::Start;
  std::string Stop() {
    server_->Signal(SIGTERM);
    return server_->Wait().output;
  }
  std::size_t PublishedRows() {
    server_->Signal(SIGUSR1);
    EXPECT_TRUE(server_->WaitForLine("published snapshot"));
    return Download().size();
  }

 private:
  void TestBody() override {}
};

class TwoServicesFaults : public ServiceTest {
 protected:
  wire::BatchContent Content(unsigned rows) const {
    return ingest::TestContent(rows, WeekOf(SystemClock().Now()));
  }
  std::filesystem::path Root(int version) const {
    return dir_.path() / "data" / "publish" / "root" / std::to_string(version);
  }
};

TEST_F(TwoServicesFaults, ABatchOfOneServiceIsRefusedByTheOtherOfItsName) {
  Neighbour neighbour;
  ASSERT_NO_FATAL_FAILURE(neighbour.Start());
  ASSERT_NO_FATAL_FAILURE(Start());  // from here on, requests are signed for this service
  const std::string body = *wire::EncodeBatch(Content(5));
  const http::Request batch = ingest::SignedRequest(key_, 1, body);
  EXPECT_EQ(MustSend(batch).status, 200);
  const http::Request withdrawal = ingest::WithdrawalRequest(key_, 1, body, "");
  for (const http::Request& replayed :
       {batch, withdrawal, ingest::EnrolmentRequest(key_, "token")}) {
    const http::Response refused = neighbour.MustSend(replayed);
    EXPECT_EQ(refused.status, 421) << replayed.target;
    EXPECT_THAT(refused.body, HasSubstr("signed for another service of the name")) << refused.body;
  }
  EXPECT_EQ(neighbour.PublishedRows(), 0U);
  const std::string log = neighbour.Stop();
  EXPECT_THAT(log, HasSubstr("wrong_root=3"));
  EXPECT_THAT(log, Not(HasSubstr("accepted_batches")));
  EXPECT_EQ(MustSend(withdrawal).body, wire::EncodeWithdrawalAnswer({.withdrawn_rows = 5}));
  Stop();
}

TEST_F(TwoServicesFaults, AChangeOfKeysLeavesBatchesWhatTheyAre) {
  ASSERT_NO_FATAL_FAILURE(Start());
  const http::Request sent = ingest::SignedRequest(key_, 1, Content(5));
  wire::BatchContent more = Content(5);
  for (wire::BatchRow& row : more.rows) row.first_contribution = false;
  const http::Request pending = ingest::SignedRequest(key_, 2, more);
  const http::Response answer = MustSend(sent);
  EXPECT_EQ(answer.status, 200);
  for (const std::string role : {"root", "timestamp"}) {
    const auto rotated = testing::RunProcess(Command({"keys", "rotate", role}));
    ASSERT_EQ(rotated.exit_status, 0) << rotated.errors;
  }
  server_->Signal(SIGUSR1);
  ASSERT_TRUE(server_->WaitForLine("published snapshot"));
  EXPECT_EQ(MustSend(pending).status, 200) << "signed before";
  EXPECT_EQ(MustSend(sent).body, answer.body);
  // An agent that has pinned the newest root sends both again.
  ingest::SetTestRoot(wire::RootFingerprint(ReadFile(Root(3), kMiB).value()));
  EXPECT_EQ(MustSend(ingest::SignedRequest(key_, 1, Content(5))).body, answer.body);
  EXPECT_EQ(MustSend(ingest::SignedRequest(key_, 2, more)).status, 200);
  server_->Signal(SIGTERM);
  const std::string log = server_->Wait().output;
  EXPECT_THAT(log, HasSubstr("accepted_batches=2 replayed_batches=3"));
  // A restart does not forget the first root either.
  ASSERT_NO_FATAL_FAILURE(Start());
  EXPECT_EQ(MustSend(sent).body, answer.body);
  Stop();
}

}  // namespace
}  // namespace fieldcost::aggregator
