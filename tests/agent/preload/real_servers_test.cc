#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/agent/preload/real_program.h"
#include "tests/support/binary_dir.h"
#include "tests/support/certificates.h"

// Installed servers and their clients, both measured, slice after slice of libraries' functions:
// both must print the same as without. Unix sockets and port 0 only.

namespace fieldcost::testing {
namespace {

class RealServerTest : public RealProgramFixture {
 protected:
  // Runs `session` without measuring, then for each slice, and compares what it returns.
  template <typename Session>
  void ExpectTheSameWhateverIsMeasured(const Session& session, const std::string& name,
                                       const std::vector<AtLeast>& at_least) {
    const std::string plain = session({{"LC_ALL", "C"}});
    ASSERT_NE(plain, "");
    bool sampled = false;
    for (const char* const slice : kSlices) {
      SCOPED_TRACE(std::string(slice) + (sampled ? ", sampled" : ""));
      ASSERT_EQ(session(MeasuredEnvironment(slice, sampled)), plain);
      sampled = !sampled;
      CollectPicks();
    }
    ExpectPicked(name, at_least);
  }

  using Environment = std::vector<std::pair<std::string, std::string>>;

  std::string RunClient(const std::vector<std::string>& arguments, const Environment& environment,
                        const std::string& input = "") const {
    const ProcessResult result = RunProcess({.arguments = arguments,
                                             .environment = environment,
                                             .directory = work_.path(),
                                             .input = input});
    return result.output + result.errors + "exit status " + std::to_string(result.exit_status) +
           "\n";
  }

  static std::string EndOf(BackgroundProcess& server) {
    const ProcessResult result = server.Wait();
    return "server: exit status " + std::to_string(result.exit_status) + ", signal " +
           std::to_string(result.signal) + "\n";
  }

  std::string Path(const std::string& name) const { return (work_.path() / name).string(); }
};

constexpr char kRedisSession[] = R"redis(set a 1
incr a
eval "return redis.error_reply(string.rep('x', 3))" 0
eval "error('raised')" 0
eval "local t = {} for i = 1, 1000 do t[i] = tostring(i * 1.5) end return table.concat(t)" 0
lpush l 3 1 2
sort l desc
hset h f v g w
hgetall h
zadd z 1.5 a 2 b
zrangebyscore z 1 2
setrange big 100000 end
strlen big
object encoding big
geoadd g 13.36 38.11 p 15.08 37.50 c
geodist g p c km
pfadd p 1 2 3 4 5
pfcount p
xadd s 1-1 k v
xrange s - +
no such command
save
debug reload
get a
shutdown nosave
)redis";

TEST_F(RealServerTest, RedisAndItsClient) {
  const std::string program = "/usr/bin/redis-check-rdb";  // another name of the server
  if (::access(program.c_str(), X_OK) != 0 || ::access("/usr/bin/redis-cli", X_OK) != 0) {
    GTEST_SKIP() << "redis is not here";
  }
  std::filesystem::create_symlink(program, work_.path() / "redis-server");
  const auto session = [&](const Environment& environment) {
    std::filesystem::remove(work_.path() / "dump.rdb");
    BackgroundProcess server(
        {.arguments = {Path("redis-server"), "--port", "0", "--unixsocket", Path("socket"),
                       "--io-threads", "2", "--save", "", "--enable-debug-command", "yes"},
         .environment = environment,
         .directory = work_.path()});
    if (!server.WaitForLine("ready to accept connections")) return std::string("never ready");
    const std::string said =
        RunClient({"/usr/bin/redis-cli", "-s", Path("socket")}, environment, kRedisSession);
    return said + EndOf(server);
  };
  ExpectTheSameWhateverIsMeasured(session, "redis",
                                  {{"libc.so.6", 150}, {"libjemalloc.so.2", 1}, {"libm.so.6", 10}});
}

constexpr char kNginxConfiguration[] = R"conf(daemon off;
master_process off;
pid nginx.pid;
error_log stderr notice;
events {}
http {
  access_log off;
  client_body_temp_path temporary; proxy_temp_path temporary; fastcgi_temp_path temporary;
  uwsgi_temp_path temporary; scgi_temp_path temporary;
  gzip on; gzip_types *; gzip_min_length 10;
  ssl_certificate server.pem; ssl_certificate_key server.key;
  server {
    listen unix:plain.socket;
    listen unix:tls.socket ssl;
    root .;
    location / { }
    location /listing { autoindex on; alias ./listed/; }
    location ~ ^/again/(.*)$ { rewrite ^/again/(.*)$ /$1 last; }
    location /behind { proxy_pass http://unix:plain.socket:/text; }
  }
}
)conf";

// Installed, or unpacked by tests/run.sh; empty if neither.
std::string FindNginx() {
  for (const char* const place :
       {"/usr/sbin/nginx", FIELDCOST_BINARY_DIR "/../packages/nginx/usr/sbin/nginx"}) {
    if (::access(place, X_OK) == 0) return place;
  }
  return {};
}

TEST_F(RealServerTest, NginxAndCurlWithTls) {
  const std::string nginx = FindNginx();
  if (nginx.empty() || ::access("/usr/bin/curl", X_OK) != 0) {
    GTEST_SKIP() << "nginx or curl is not here (Debian's nginx packages start a server on port 80, "
                    "so they are never installed for a test; tests/run.sh unpacks one)";
  }
  const Certificates certificates = MakeCertificates(work_.path());
  std::filesystem::create_directory(work_.path() / "listed");
  std::ofstream(work_.path() / "nginx.conf") << kNginxConfiguration;
  const auto session = [&](const Environment& environment) {
    // The server would not replace a socket left by a killed server.
    for (const char* const name : {"plain.socket", "tls.socket"}) {
      std::filesystem::remove(work_.path() / name);
    }
    BackgroundProcess server(
        {.arguments = {nginx, "-p", work_.path().string(), "-c", "nginx.conf", "-e", "stderr"},
         .environment = environment,
         .directory = work_.path()});
    if (!server.WaitForLine("getrlimit")) return std::string("never ready");
    const std::string plain = "http://localhost/";
    const std::string tls = "https://localhost/";
    std::string said = RunClient(
        {"/usr/bin/curl", "-sS", "--compressed", "--unix-socket", "plain.socket", plain + "text",
         plain + "again/text", plain + "missing", plain + "behind", plain + "listing/"},
        environment);
    said += RunClient({"/usr/bin/curl", "-sS", "--cacert", certificates.ca.string(),
                       "--unix-socket", "tls.socket", "-r", "100-300,500-600", tls + "text"},
                      environment);
    said += RunClient({"/usr/bin/curl", "-sS", "--unix-socket", "tls.socket", tls + "text"},
                      environment);  // without the authority's certificate
    server.Signal(SIGQUIT);
    return said + EndOf(server);
  };
  ExpectTheSameWhateverIsMeasured(session, "nginx and curl",
                                  {{"libcrypto.so.3", 1000}, {"libssl.so.3", 150}});
}

TEST_F(RealServerTest, OpensslServerAndCurlOverLoopback) {
  if (::access("/usr/bin/openssl", X_OK) != 0 || ::access("/usr/bin/curl", X_OK) != 0) {
    GTEST_SKIP() << "openssl or curl is not here";
  }
  const Certificates certificates = MakeCertificates(work_.path());
  const auto session = [&](const Environment& environment) {
    BackgroundProcess server(
        {.arguments = {"/usr/bin/openssl", "s_server", "-accept", "127.0.0.1:0", "-cert",
                       certificates.certificate.string(), "-key", certificates.key.string(), "-WWW",
                       "-naccept", "2"},
         .environment = environment,
         .directory = work_.path()});
    std::string line;
    if (!server.WaitForLine("ACCEPT", &line)) return std::string("never ready");
    const std::string address = "https://localhost" + line.substr(line.rfind(':'));
    std::string said = RunClient({"/usr/bin/curl", "-sS", "-4", "--http1.0", "--cacert",
                                  certificates.ca.string(), address + "/text"},
                                 environment);
    said += RunClient({"/usr/bin/curl", "-sS", "-4", "--http1.0", "--tls-max", "1.2", "--cacert",
                       certificates.ca.string(), address + "/text"},
                      environment);
    return said + EndOf(server);
  };
  ExpectTheSameWhateverIsMeasured(session, "openssl and curl",
                                  {{"libcrypto.so.3", 1000}, {"libssl.so.3", 150}});
}

}  // namespace
}  // namespace fieldcost::testing
