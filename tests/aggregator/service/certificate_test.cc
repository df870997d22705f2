// Certificates that are unusable or expired, as the operator of the real program sees them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "common/base/file.h"
#include "tests/aggregator/service/service_fixture.h"
#include "tests/support/fake_time.h"

namespace fieldcost::aggregator {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class CertificateTest : public ServiceTest {
 protected:
  CertificateTest() {
    WriteConfig(Config("port = 0", "data", "[admin]\nport = 0\naddress_file = \"admin\"\n"));
  }

  http::Response Ask(const char* target) {
    auto url = ReadFile(dir_.path() / "admin", 1024);
    EXPECT_TRUE(url.has_value());
    url->pop_back();
    auto client = http::Client::Create({.url = *url});
    return client->Send({.target = target}).value();
  }

  // Like MakeCertificates(), with a clock that is off by `offset`.
  testing::Certificates MakeAt(const std::string& offset) {
    const std::filesystem::path directory = dir_.path() / ("made_at_" + offset);
    std::filesystem::create_directory(directory);
    testing::Certificates made{certificates_.ca, directory / "server.pem",
                               directory / "server.key"};
    const testing::ProcessOptions command{.arguments = {"openssl",
                                                        "req",
                                                        "-x509",
                                                        "-newkey",
                                                        "ec",
                                                        "-pkeyopt",
                                                        "ec_paramgen_curve:P-256",
                                                        "-nodes",
                                                        "-days",
                                                        "30",
                                                        "-subj",
                                                        "/CN=localhost",
                                                        "-CA",
                                                        made.ca.string(),
                                                        "-CAkey",
                                                        (dir_.path() / "ca.key").string(),
                                                        "-addext",
                                                        "subjectAltName=DNS:localhost,IP:127.0.0.1",
                                                        "-addext",
                                                        "basicConstraints=CA:FALSE",
                                                        "-keyout",
                                                        made.key.string(),
                                                        "-out",
                                                        made.certificate.string()}};
    EXPECT_EQ(testing::RunProcess(testing::AtOffset(command, offset)).exit_status, 0);
    return made;
  }

  void PutInPlace(const testing::Certificates& made) {
    for (const auto& [from, to] : {std::pair{made.key, certificates_.key},
                                   std::pair{made.certificate, certificates_.certificate}}) {
      std::filesystem::copy_file(from, to, std::filesystem::copy_options::overwrite_existing);
    }
  }

  bool IsServed() {
    auto client = http::Client::Create({.url = url_, .ca_file = certificates_.ca});
    return client->Send({.target = wire::kRootPath}).has_value();
  }
};

TEST_F(CertificateTest, ErrorsNameTheProblemAndTheFile) {
  const std::string certificate = *ReadFile(certificates_.certificate, 1 << 20);
  const std::string key = *ReadFile(certificates_.key, 1 << 20);
  std::string broken = certificate;
  broken.replace(broken.find('\n') + 100, 4, "****");
  std::string bad_form = key;
  bad_form[bad_form.find('\n') + 2] = 'w';
  const testing::ProcessResult locked =
      testing::RunProcess({.arguments = {"openssl", "pkey", "-in", certificates_.key.string(),
                                         "-aes256", "-passout", "pass:x"}});
  ASSERT_EQ(locked.exit_status, 0) << locked.errors;
  const testing::TempDir other;
  const std::string other_key = *ReadFile(testing::MakeCertificates(other.path()).key, 1 << 20);
  const std::string in_certificate = "certificate " + certificates_.certificate.string() + " ";
  const std::string in_key = "private key " + certificates_.key.string() + " ";
  const struct {
    std::optional<std::string> certificate;
    std::optional<std::string> key;
    std::string message;
  } cases[] = {
      {std::nullopt, key, in_certificate + "is missing"},
      {"", key, in_certificate + "is empty"},
      {"garbage\n", key, in_certificate + "holds no certificate in PEM form"},
      {key, certificate, in_certificate + "holds no certificate, but a private key"},
      {certificate.substr(0, 300), key, in_certificate + "is damaged: "},
      {broken, key, in_certificate + "is damaged: "},
      {certificate + certificate.substr(0, 300), key, in_certificate + "is damaged: "},
      {certificate, std::nullopt, in_key + "is missing"},
      {certificate, "\n", in_key + "is empty"},
      {certificate, "garbage", in_key + "holds no private key in PEM form"},
      {certificate, certificate, in_key + "holds no private key, but a certificate"},
      {certificate, key.substr(0, 100), in_key + "is damaged: "},
      {certificate, bad_form, in_key + "is damaged: "},
      {certificate, locked.output, in_key + "is encrypted"},
      {certificate, other_key, in_key + "does not belong to " + in_certificate.substr(0, 11)},
  };
  for (const auto& c : cases) {
    std::filesystem::remove(certificates_.certificate);
    std::filesystem::remove(certificates_.key);
    if (c.certificate) std::ofstream(certificates_.certificate) << *c.certificate;
    if (c.key) std::ofstream(certificates_.key) << *c.key;
    ExpectRefusal(Command(), ErrorCode::kInvalidArgument, c.message);
    const std::string errors = testing::RunProcess(Command()).errors;
    EXPECT_THAT(errors, Not(HasSubstr(" lib\n")));
    EXPECT_THAT(errors, Not(HasSubstr(" lib;")));
  }
}

TEST_F(CertificateTest, OneThatIsNotValidDoesNotReplaceOneThatIs) {
  FIELDCOST_SKIP_WITHOUT_FAKE_TIME();
  ASSERT_NO_FATAL_FAILURE(Start());
  int failures = 0;
  for (const auto& [offset, why] :
       {std::pair{"-40d", " expired on "}, std::pair{"+10d", " is not valid before "}}) {
    PutInPlace(MakeAt(offset));
    std::string line;
    ASSERT_TRUE(server_->WaitForLine("cannot use the new certificate", &line));
    EXPECT_THAT(line, HasSubstr(certificates_.certificate.string()));
    EXPECT_THAT(line, HasSubstr(why));
    EXPECT_TRUE(IsServed());
    EXPECT_EQ(Ask("/readyz").status, 200);
    EXPECT_THAT(Ask("/metrics").body, HasSubstr("fieldcost_certificate_reload_failures_total " +
                                                std::to_string(++failures) + "\n"));
  }
  PutInPlace(MakeAt("+0d"));
  EXPECT_TRUE(server_->WaitForLine("the certificate has changed"));
  EXPECT_TRUE(IsServed());
  Stop();
}

TEST_F(CertificateTest, StartWithAnExpiredOneIsReportedUntilABetterOneIsLoaded) {
  FIELDCOST_SKIP_WITHOUT_FAKE_TIME();
  PutInPlace(MakeAt("-40d"));
  std::string line = "the service is not ready";
  ASSERT_NO_FATAL_FAILURE(Start(Command(), &line));
  EXPECT_THAT(line, HasSubstr("error"));
  EXPECT_THAT(line, HasSubstr("the certificate expired on "));
  EXPECT_THAT(line, HasSubstr(certificates_.key.string()));
  EXPECT_FALSE(IsServed());
  const http::Response ready = Ask("/readyz");
  EXPECT_EQ(ready.status, 503);
  EXPECT_THAT(ready.body, HasSubstr("not ready: the certificate expired on 20"));
  PutInPlace(MakeAt("+10d"));
  ASSERT_TRUE(server_->WaitForLine("the certificate has changed"));
  EXPECT_THAT(Ask("/readyz").body, HasSubstr("not ready: the certificate is not valid before 20"));
  PutInPlace(MakeAt("+0d"));
  ASSERT_TRUE(server_->WaitForLine("the certificate has changed"));
  EXPECT_EQ(Ask("/readyz").status, 200);
  EXPECT_TRUE(IsServed());
  Stop();
}

TEST_F(CertificateTest, ReportsExpiryWhenItHappens) {
  FIELDCOST_SKIP_WITHOUT_FAKE_TIME();
  const std::filesystem::path clock = dir_.path() / "clock";
  testing::SetOffset(clock, "+0d");
  ASSERT_NO_FATAL_FAILURE(Start(testing::AtOffsetIn(Command(), clock)));
  EXPECT_EQ(Ask("/readyz").status, 200);
  testing::SetOffset(clock, "+31d");
  std::string line;
  ASSERT_TRUE(server_->WaitForLine("the service is not ready", &line));
  EXPECT_THAT(line, HasSubstr("the certificate expired on "));
  EXPECT_THAT(Ask("/readyz").body, HasSubstr("not ready: the certificate expired on "));
  EXPECT_THAT(Ask("/metrics").body, HasSubstr("fieldcost_ready 0\n"));
  Stop();
}

}  // namespace
}  // namespace fieldcost::aggregator
