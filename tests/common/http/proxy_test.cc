#include "common/http/proxy.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <optional>
#include <string>

namespace fieldcost::http {
namespace {

TEST(ProxyTest, TheConfigurationTakesPrecedenceOverTheEnvironment) {
  struct Row {
    const char* configured;
    ProxyVariables variables;
    const char* expected;
  };
  const Row kTable[] = {
      {"", {}, ""},
      {"http://a:1", {}, "http://a:1"},
      {"http://a:1", {.https_proxy = "http://b:2", .no_proxy = "*"}, "http://a:1"},
      {"", {.https_proxy = "http://b:2", .no_proxy = {}}, "http://b:2"},
      {"", {.https_proxy = "b:2", .no_proxy = {}}, "http://b:2"},
      {"", {.https_proxy = "http://b:2", .no_proxy = "*"}, ""},
      {"", {.https_proxy = "http://b:2", .no_proxy = "example.org"}, ""},
      {"", {.https_proxy = "http://b:2", .no_proxy = "example.com"}, "http://b:2"},
      {"", {.https_proxy = "socks5://b:2", .no_proxy = {}}, "socks5://b:2"},  // rejected by Client
  };
  for (const Row& row : kTable) {
    EXPECT_EQ(ChooseProxy("https://www.example.org:8443", row.configured, row.variables),
              row.expected);
  }
}

TEST(ProxyTest, ExceptionsMatchNamesBelowThemPortsAndNetworks) {
  struct Row {
    const char* no_proxy;
    const char* host;
    bool excepted;
  };
  constexpr Row kTable[] = {
      {"", "example.org", false},
      {",, ,", "example.org", false},
      {"*", "example.org", true},
      {"a.net, *", "example.org", true},
      {"example.org", "example.org", true},
      {"EXAMPLE.org", "example.org", true},
      {"example.org", "www.example.org", true},
      {".example.org", "www.example.org", true},
      {".example.org", "example.org", true},
      {"example.org", "badexample.org", false},
      {"ple.org", "example.org", false},
      {"www.example.org", "example.org", false},
      {"org", "example.org", true},
      {"a b\texample.org", "example.org", true},
      {"example.org:443", "example.org", true},
      {"example.org:80", "example.org", false},
      {"example.org:x", "example.org", false},
      {".", "example.org", false},
      {"10.1.2.3", "10.1.2.3", true},
      {"10.1.2.3:443", "10.1.2.3", true},
      {"10.1.2.3", "10.1.2.4", false},
      {"10.0.0.0/8", "10.1.2.3", true},
      {"10.0.0.0/15", "10.2.0.0", false},
      {"10.0.0.0/33", "10.0.0.0", false},
      {"10.0.0.0/x", "10.0.0.0", false},
      {"0.0.0.0/0", "10.1.2.3", true},
      {"0.0.0.0/0", "::1", false},
      {"2.3", "10.1.2.3", false},
      {"::1", "::1", true},
      {"0:0::1", "::1", true},
      {"[::1]", "::1", true},
      {"[::1]:443", "::1", true},
      {"[::1]:80", "::1", false},
      {"[::1", "::1", false},
      {"fd00::/8", "fd12::1", true},
      {"fd00::/8", "fe80::1", false},
      {"10.0.0.0/8", "example.org", false},
  };
  for (const Row& row : kTable) {
    EXPECT_EQ(IsExcepted(row.no_proxy, row.host, 443), row.excepted)
        << '"' << row.no_proxy << "\" " << row.host;
  }
}

TEST(ProxyTest, TheEnvironmentsLowerCaseNamesGoFirst) {
  constexpr const char* kNames[] = {"https_proxy", "HTTPS_PROXY", "no_proxy", "NO_PROXY"};
  std::optional<std::string> before[4];
  for (int i = 0; i < 4; ++i) {
    if (const char* value = ::getenv(kNames[i])) before[i] = value;
    ::unsetenv(kNames[i]);
  }
  EXPECT_EQ(ProxyVariables::FromEnvironment().https_proxy, "");
  ::setenv("HTTPS_PROXY", "upper:1", 1);
  ::setenv("NO_PROXY", "upper", 1);
  EXPECT_EQ(ProxyVariables::FromEnvironment().https_proxy, "upper:1");
  EXPECT_EQ(ProxyVariables::FromEnvironment().no_proxy, "upper");
  ::setenv("https_proxy", "lower:1", 1);
  ::setenv("no_proxy", "", 1);
  EXPECT_EQ(ProxyVariables::FromEnvironment().https_proxy, "lower:1");
  EXPECT_EQ(ProxyVariables::FromEnvironment().no_proxy, "upper") << "empty is not set";
  for (int i = 0; i < 4; ++i) {
    if (before[i]) {
      ::setenv(kNames[i], before[i]->c_str(), 1);
    } else {
      ::unsetenv(kNames[i]);
    }
  }
}

}  // namespace
}  // namespace fieldcost::http
