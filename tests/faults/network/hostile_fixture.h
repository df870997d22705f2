#pragma once

#include <fmt/format.h>

#include <string>

#include "tests/aggregator/service/service_fixture.h"

namespace fieldcost::aggregator {

// A service that publishes rows with at least `threshold` agents and has no limits per address.
class HostileAgentsTest : public ServiceTest {
 protected:
  explicit HostileAgentsTest(std::uint64_t threshold) {
    std::string config = Config();
    const std::string usual = "contribution_threshold = 1\n";
    config.replace(config.find(usual), usual.size(),
                   fmt::format("contribution_threshold = {}\n", threshold));
    config.insert(config.find("[store]"), "requests_per_minute_per_address = 0\n");
    WriteConfig(config);
  }
};

}  // namespace fieldcost::aggregator
