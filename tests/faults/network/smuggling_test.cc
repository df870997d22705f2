// Requests that two servers in a chain might parse differently. Each file in smuggling/ holds the
// bytes that a client sends; its name ends in the expected result: the statuses of all responses,
// or "closed" if there are none. After a refusal the server must close the connection and ignore
// everything that follows.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <string>
#include <vector>

#include "common/base/file.h"
#include "tests/common/http/http_fixture.h"
#include "tests/faults/network/fault_run.h"
#include "tests/faults/network/tls_connection.h"

namespace fieldcost::faults {
namespace {

constexpr std::size_t kMinFiles = 80;
constexpr std::size_t kMaxFileBytes = 64 * 1024;

struct Attack {
  std::string name;
  std::string bytes;
  std::string expected;  // "400", "200+405", "closed"
  bool refused = false;  // the server must close the connection

  std::size_t handled() const {
    std::size_t count = 0;
    for (std::size_t at = 0; (at = expected.find("200", at)) != expected.npos; at += 3) ++count;
    return count;
  }
};

std::vector<Attack> ReadCorpus() {
  std::vector<Attack> attacks;
  for (const auto& entry : std::filesystem::directory_iterator(FIELDCOST_SMUGGLING)) {
    const std::filesystem::path path = entry.path();
    if (path.extension() != ".http") continue;
    const auto bytes = ReadFile(path, kMaxFileBytes);
    EXPECT_TRUE(bytes) << path;
    const std::string expected = path.stem().extension().string().substr(1);
    attacks.push_back({.name = path.filename().string(),
                       .bytes = *bytes,
                       .expected = expected,
                       .refused = expected != "closed" && !expected.ends_with("200")});
  }
  std::sort(attacks.begin(), attacks.end(),
            [](const Attack& a, const Attack& b) { return a.name < b.name; });
  return attacks;
}

// Returns the statuses of the final responses; only refusals have a body.
std::string Statuses(std::string_view answers) {
  std::string all;
  while (!answers.empty()) {
    const std::size_t end = answers.find("\r\n\r\n");
    if (!answers.starts_with("HTTP/1.1 ") || end == answers.npos) return all + "+rubbish";
    const std::string_view head = answers.substr(0, end + 2);
    answers.remove_prefix(end + 4);
    const std::string status(head.substr(9, 3));
    if (status.starts_with('1')) continue;
    constexpr std::string_view kLength = "\r\nContent-Length: ";
    const std::size_t at = head.find(kLength);
    const std::size_t length =
        at == head.npos ? 0 : std::stoul(std::string(head.substr(at + kLength.size())));
    if (length > answers.size()) return all + "+short";
    answers.remove_prefix(length);
    all += all.empty() ? status : "+" + status;
  }
  return all.empty() ? "closed" : all;
}

class SmugglingFaults : public http::HttpFixture {
 protected:
  http::Handler Recorder() {
    return [this](const http::Request& request, const http::Respond& respond) {
      {
        const std::lock_guard lock(mutex_);
        handled_.push_back(request.target);
      }
      respond({});
    };
  }

  // Sends the attack in pieces that end at the given offsets.
  template <typename Connection>
  void Replay(const Attack& attack, const std::vector<std::size_t>& ends) {
    Connection connection(server_->port());
    std::size_t start = 0;
    for (const std::size_t end : ends) {
      connection.Send(std::string_view(attack.bytes).substr(start, end - start));
      start = end;
    }
    if (start < attack.bytes.size()) connection.Send(std::string_view(attack.bytes).substr(start));
    if (!attack.refused) connection.FinishSending();
    EXPECT_EQ(Statuses(connection.ReadToEnd()), attack.expected);
    const std::lock_guard lock(mutex_);
    EXPECT_EQ(handled_.size(), attack.handled());
    if (!handled_.empty()) {
      EXPECT_TRUE(handled_.front().starts_with("/seen")) << handled_.front();
    }
    handled_.clear();
  }

  template <typename Connection>
  void ReplayWhole() {
    const std::vector<Attack> attacks = ReadCorpus();
    ASSERT_GE(attacks.size(), kMinFiles);
    for (const Attack& attack : attacks) {
      SCOPED_TRACE(attack.name);
      Replay<Connection>(attack, {});
    }
  }

  // Sends each attack in two pieces: split at every offset in the long form, otherwise at `places`
  // of them.
  template <typename Connection>
  void ReplaySplit(std::size_t places) {
    std::mt19937_64 random = Randomness(places);
    for (const Attack& attack : ReadCorpus()) {
      const std::size_t size = attack.bytes.size();
      const bool all = LongForm() || size - 1 <= places;
      for (std::size_t i = 1; i < (all ? size : places); ++i) {
        const std::size_t end = all ? i : 1 + Below(random, size - 1);
        SCOPED_TRACE(attack.name + " split at " + std::to_string(end));
        Replay<Connection>(attack, {end});
        if (HasFailure()) return;
      }
    }
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> handled_;
};

TEST_F(SmugglingFaults, EachRequestIsRefusedAndClosedOrReadAsExactlyOne) {
  StartPlain(Recorder());
  ReplayWhole<http::RawConnection>();
}

TEST_F(SmugglingFaults, TheSameInsideTls) {
  StartTls(Recorder());
  ReplayWhole<TlsConnection>();
}

TEST_F(SmugglingFaults, ByteByByteTheyMeanTheSame) {
  StartPlain(Recorder());
  for (const Attack& attack : ReadCorpus()) {
    if (attack.bytes.size() > 1024 && !LongForm()) continue;
    SCOPED_TRACE(attack.name);
    std::vector<std::size_t> ends(attack.bytes.size());
    for (std::size_t i = 0; i < ends.size(); ++i) ends[i] = i + 1;
    Replay<http::RawConnection>(attack, ends);
  }
}

TEST_F(SmugglingFaults, InTwoPiecesTheyMeanTheSame) {
  StartPlain(Recorder());
  ReplaySplit<http::RawConnection>(256);
}

TEST_F(SmugglingFaults, InTwoTlsRecordsTheyMeanTheSame) {
  StartTls(Recorder());
  ReplaySplit<TlsConnection>(12);
}

}  // namespace
}  // namespace fieldcost::faults
