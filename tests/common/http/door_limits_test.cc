// Tests limits per client address, deadlines for complete responses, counters, and replaced
// certificates.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "tests/common/http/http_fixture.h"
#include "tests/common/http/raw_connection.h"
#include "tests/support/wait_until.h"

namespace fieldcost::http {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr std::string_view kGet = "GET /x HTTP/1.1\r\nHost: a\r\n\r\n";
constexpr std::string_view kOther = "127.0.0.9";  // loopback has many addresses

class DoorLimitsTest : public HttpFixture {
 protected:
  void StartSaying(ServerOptions options) {
    StartPlain([](const Request& request,
                  const Respond& respond) { respond({.body = request.target + ";"}); },
               std::move(options));
  }
};

TEST_F(DoorLimitsTest, AnAddressHasItsShareOfConnectionsAndAnotherOneStillGetsIn) {
  StartSaying({.max_connections_per_address = 2});
  RawConnection first(server_->port());
  RawConnection second(server_->port());
  for (RawConnection* connection : {&first, &second}) {
    connection->Send(kGet);
    EXPECT_THAT(connection->ReadUntil(";"), HasSubstr("/x;"));
  }
  const std::string refused = RawConnection(server_->port()).ReadToEnd();
  EXPECT_THAT(refused, StartsWith("HTTP/1.1 429 "));
  EXPECT_THAT(refused, HasSubstr("\r\nRetry-After: 5\r\n"));
  EXPECT_THAT(refused, HasSubstr("\r\nConnection: close\r\n"));
  RawConnection other(server_->port(), kOther);
  other.Send(kGet);
  EXPECT_THAT(other.ReadUntil(";"), HasSubstr("/x;"));
  first.Send(kGet);
  EXPECT_THAT(first.ReadUntil(";"), HasSubstr("/x;"));
  EXPECT_EQ(server_->counters().over_address_limit, 1U);
  EXPECT_EQ(server_->counters().over_capacity, 0U);
}

TEST_F(DoorLimitsTest, ReleasedPlacesCanBeTakenAgain) {
  StartSaying({.max_connections_per_address = 1});
  for (int i = 0; i < 10; ++i) {
    RawConnection connection(server_->port());
    connection.Send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    connection.FinishSending();
    EXPECT_THAT(connection.ReadToEnd(), StartsWith("HTTP/1.1 200 ")) << i;
    // The server's end of the connection may briefly outlive ours.
    ASSERT_TRUE(testing::WaitUntil([&] { return server_->counters().open_connections == 0; }));
  }
}

TEST_F(DoorLimitsTest, AStubbornAddressIsClosedBeforeItsHandshake) {
  StartTls(Echo, {.max_connections_per_address = 1});
  Client served = MakeClient();
  ASSERT_TRUE(served.Send({}));
  int polite = 0;
  for (int i = 0; i < 50; ++i) {
    const Result<Response> response = MakeClient().Send({});
    if (!response) continue;
    EXPECT_EQ(response->status, 429);
    EXPECT_NE(Find(response->headers, "Retry-After"), "");
    ++polite;
  }
  EXPECT_GE(polite, 4);
  EXPECT_LT(polite, 50);
  EXPECT_EQ(served.Send({})->status, 200);
  const ServerCounters counters = server_->counters();
  EXPECT_EQ(counters.over_address_limit, 50U);
  EXPECT_EQ(counters.requests, 2U);
}

TEST_F(DoorLimitsTest, AFullHouseCostsNoMoreHandshakesOfAnAddressThanItsLimitDoes) {
  StartTls(Echo, {.max_connections = 1, .max_connections_per_address = 20});
  Client served = MakeClient();
  ASSERT_TRUE(served.Send({}));
  int polite = 0;
  for (int i = 0; i < 50; ++i) {
    const Result<Response> response = MakeClient().Send({});
    if (!response) continue;
    EXPECT_EQ(response->status, 503);
    ++polite;
  }
  EXPECT_GE(polite, 4);
  EXPECT_LT(polite, 50);
  EXPECT_EQ(server_->counters().over_capacity, 50U);
}

// Otherwise a client that opens all available connections and sends nothing would lock everyone
// out.
TEST_F(DoorLimitsTest, InAFullHouseTheOldestSilentConnectionMakesRoom) {
  constexpr std::size_t kPlaces = 4;
  StartTls(Echo, {.max_connections = kPlaces});
  std::vector<std::unique_ptr<RawConnection>> silent;
  for (std::size_t i = 0; i < kPlaces; ++i) {
    silent.push_back(
        std::make_unique<RawConnection>(server_->port(), "127.0.1." + std::to_string(i + 1)));
    ASSERT_TRUE(testing::WaitUntil([&] { return server_->counters().connections == i + 1; }));
  }
  std::vector<Client> served;
  for (std::size_t i = 0; i < kPlaces; ++i) {
    served.push_back(MakeClient());
    const Result<Response> response = served.back().Send({});
    ASSERT_TRUE(response) << response.error().message;
    EXPECT_EQ(response->status, 200);
    EXPECT_EQ(silent[i]->ReadToEnd(), "") << "the oldest was closed";
    EXPECT_EQ(server_->counters().evicted, i + 1);
  }
  EXPECT_EQ(MakeClient().Send({})->status, 503) << "no connection is silent";
  for (Client& client : served) EXPECT_EQ(client.Send({})->status, 200);
  const ServerCounters counters = server_->counters();
  EXPECT_EQ(counters.evicted, kPlaces);
  EXPECT_EQ(counters.over_capacity, 1U);
  EXPECT_EQ(counters.deadlines, 0U);
}

TEST_F(DoorLimitsTest, HalfAHeadCountsAsSilenceAndIdlingAfterARequestDoesNot) {
  StartSaying({.max_connections = 2});
  RawConnection asked(server_->port());
  asked.Send(kGet);
  EXPECT_THAT(asked.ReadUntil(";"), HasSubstr("/x;"));
  RawConnection half(server_->port(), kOther);
  half.Send("GET / HTTP/1.1\r\nHost: a\r\n");
  for (int i = 0; i < 20; ++i) {
    RawConnection next(server_->port(), "127.0.2." + std::to_string(i + 1));
    if (i == 0) {
      EXPECT_EQ(half.ReadToEnd(), "");
    }
    next.Send("GET /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    next.FinishSending();
    EXPECT_THAT(next.ReadToEnd(), HasSubstr("/x;"));
    ASSERT_TRUE(testing::WaitUntil([&] { return server_->counters().open_connections == 1; }));
  }
  asked.Send(kGet);
  EXPECT_THAT(asked.ReadUntil(";"), HasSubstr("/x;"));
  EXPECT_EQ(server_->counters().evicted, 1U);
}

TEST_F(DoorLimitsTest, TooManyRequestsOfAnAddressAreRefusedAndTheConnectionClosed) {
  StartSaying({.requests_per_second_per_address = 0.001, .request_burst_per_address = 3});
  RawConnection connection(server_->port());
  for (int i = 0; i < 3; ++i) {
    connection.Send(kGet);
    EXPECT_THAT(connection.ReadUntil(";"), HasSubstr("/x;"));
  }
  connection.Send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 200000\r\n\r\n");
  const std::string refused = connection.ReadToEnd();
  EXPECT_THAT(refused, StartsWith("HTTP/1.1 429 "));
  EXPECT_THAT(refused, HasSubstr("\r\nRetry-After: 1000\r\n"));
  EXPECT_THAT(refused, HasSubstr("\r\nConnection: close\r\n"));
  EXPECT_THAT(RawConnection(server_->port()).ReadToEnd(), StartsWith("HTTP/1.1 429 "));
  RawConnection other(server_->port(), kOther);
  other.Send(kGet);
  EXPECT_THAT(other.ReadUntil(";"), HasSubstr("/x;"));
  EXPECT_EQ(server_->counters().requests, 4U);
}

TEST_F(DoorLimitsTest, ClosesConnectionsOfEndlessReaders) {
  const std::string large(64 * 1024 * 1024, 'x');
  StartPlain(
      [&](const Request&, const Respond& respond) { respond({.body = large}); },
      {.response_timeout = std::chrono::hours(1), .whole_response_timeout = milliseconds(50)});
  RawConnection deaf(server_->port());
  deaf.Send(kGet);
  ASSERT_TRUE(testing::WaitUntil([&] { return server_->counters().deadlines != 0; }));
  EXPECT_LT(deaf.ReadToEnd().size(), large.size());
}

TEST_F(DoorLimitsTest, CountersTellWhatHappenedAtTheDoor) {
  // Long enough for handshakes on a busy machine; below, for requests.
  StartTls(Echo, {.handshake_timeout = milliseconds(2'000)});
  ASSERT_TRUE(MakeClient().Send({}));
  RawConnection plain(server_->port());
  plain.Send(kGet);
  plain.ReadToEnd();
  RawConnection(server_->port()).ReadToEnd();
  ASSERT_TRUE(testing::WaitUntil([&] { return server_->counters().open_connections == 0; }));
  const ServerCounters counters = server_->counters();
  EXPECT_EQ(counters.connections, 3U);
  EXPECT_EQ(counters.requests, 1U);
  EXPECT_EQ(counters.handshake_failures, 1U);
  EXPECT_EQ(counters.deadlines, 1U);
  EXPECT_EQ(counters.refused_heads, 0U);

  StartSaying({});
  RawConnection bad(server_->port());
  bad.Send("rubbish\n");
  EXPECT_THAT(bad.ReadToEnd(), StartsWith("HTTP/1.1 400 "));
  EXPECT_EQ(server_->counters().refused_heads, 1U);
}

TEST_F(DoorLimitsTest, AnIdleConnectionIsNotASlowOne) {
  StartSaying({.header_timeout = milliseconds(2'000)});
  RawConnection idle(server_->port());
  idle.Send(kGet);
  EXPECT_THAT(idle.ReadToEnd(), HasSubstr("/x;"));
  EXPECT_EQ(server_->counters().deadlines, 0U);
  RawConnection slow(server_->port());
  slow.Send(kGet);
  slow.Send("GET ");
  EXPECT_THAT(slow.ReadToEnd(), HasSubstr("/x;"));
  EXPECT_EQ(server_->counters().deadlines, 1U);
}

TEST_F(DoorLimitsTest, TheLimitOfOpenFilesIsRaisedForTheConnections) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  if (before.rlim_max < 4000) GTEST_SKIP() << "the hard limit is " << before.rlim_max;
  const rlimit low{.rlim_cur = 512, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &low), 0);
  StartSaying({.max_connections = 2000});
  rlimit after{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &after), 0);
  EXPECT_GE(after.rlim_cur, 2000U + ServerOptions().reserved_descriptors);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
}

class CertificateReloadTest : public DoorLimitsTest {
 protected:
  CertificateReloadTest() : next_(testing::MakeCertificates(NextDirectory())) {
    CopyFrom(Certs());
    StartPlain(Echo, {.certificate_file = certificate_, .private_key_file = key_});
  }
  std::filesystem::path NextDirectory() const {
    std::filesystem::create_directory(dir_.path() / "next");
    return dir_.path() / "next";
  }
  void CopyFrom(const testing::Certificates& source) const {
    constexpr auto kOver = std::filesystem::copy_options::overwrite_existing;
    std::filesystem::copy_file(source.certificate, certificate_, kOver);
    std::filesystem::copy_file(source.key, key_, kOver);
  }
  Client TrustingTheNext() const {
    ClientOptions options = Options();
    options.ca_file = next_.ca;
    return Client::Create(options).value();
  }

  const testing::TempDir dir_;
  const testing::Certificates next_;
  const std::filesystem::path certificate_ = dir_.path() / "chain.pem";
  const std::filesystem::path key_ = dir_.path() / "key.pem";
};

TEST_F(CertificateReloadTest, NewConnectionsGetTheNewCertificateAndOldOnesContinue) {
  Client old = MakeClient();
  ASSERT_TRUE(old.Send({}));
  EXPECT_FALSE(TrustingTheNext().Send({}));
  CopyFrom(next_);
  EXPECT_FALSE(TrustingTheNext().Send({}));
  const Status reloaded = server_->ReloadCertificate();
  ASSERT_TRUE(reloaded) << reloaded.error().message;
  const Result<Response> response = TrustingTheNext().Send({});
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->status, 200);
  EXPECT_EQ(old.Send({})->status, 200);  // on its existing connection
  EXPECT_FALSE(MakeClient().Send({}));
}

TEST_F(CertificateReloadTest, AnUnusableCertificateLeavesTheOldOneInForce) {
  const auto validity = server_->certificate_validity();
  const auto refused = [&](const std::filesystem::path& named) {
    const Status reloaded = server_->ReloadCertificate();
    ASSERT_FALSE(reloaded);
    EXPECT_EQ(reloaded.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(reloaded.error().message, HasSubstr(named.string()));
    EXPECT_TRUE(MakeClient().Send({}));
    EXPECT_EQ(server_->certificate_validity(), validity);
  };
  std::filesystem::copy_file(next_.certificate, certificate_,
                             std::filesystem::copy_options::overwrite_existing);
  refused(key_);  // not the certificate's key
  std::filesystem::remove(key_);
  refused(key_);
  std::filesystem::remove(certificate_);
  refused(certificate_);
  CopyFrom(next_);
  EXPECT_TRUE(server_->ReloadCertificate());
  EXPECT_TRUE(TrustingTheNext().Send({}));
}

TEST_F(CertificateReloadTest, ReloadingDisturbsNoConnections) {
  std::vector<std::thread> clients;
  std::atomic<int> right = 0;
  for (int t = 0; t < 4; ++t) {
    clients.emplace_back([&] {
      for (int i = 0; i < 10; ++i) right += MakeClient().Send({}).has_value() ? 1 : 0;
    });
  }
  for (int i = 0; i < 50; ++i) EXPECT_TRUE(server_->ReloadCertificate());
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(right, 40);
}

TEST_F(CertificateReloadTest, TheEndOfTheCertificateIsKnown) {
  const auto validity = server_->certificate_validity();
  ASSERT_TRUE(validity);
  const auto left = validity->end - std::chrono::system_clock::now();  // the tests' last 30 days
  EXPECT_GT(left, std::chrono::days(28));
  EXPECT_LT(left, std::chrono::days(31));
  StartSaying({});
  EXPECT_FALSE(server_->certificate_validity());
  EXPECT_TRUE(server_->ReloadCertificate());
}

}  // namespace
}  // namespace fieldcost::http
