#include "agent/settings/hardware.h"

#include <gtest/gtest.h>

#include "common/wire/batch.h"

namespace fieldcost::settings {
namespace {

TEST(HardwareTest, ClassIsCoarse) {
  const auto hardware = ClassOf({.architecture = "x86_64",
                                 .cpuinfo = "processor\t: 0\nvendor_id\t: GenuineIntel\n"
                                            "cpu family\t: 6\nmodel\t\t: 85\n",
                                 .meminfo = "MemTotal:       16318324 kB\nMemFree: 1 kB\n",
                                 .os_release = "PRETTY_NAME=\"Debian\"\nID=debian\n"
                                               "VERSION_ID=\"12\"\n",
                                 .cores = 6});
  EXPECT_EQ(stats::DisplayName(hardware), "x86_64/GenuineIntel-6/2^2 cores/2^13 MiB/debian-12");
}

TEST(HardwareTest, UnknownPartsAreStillAValidClass) {
  for (const HardwareFacts& facts : {HardwareFacts{}, HardwareFacts{.architecture = "a b\n",
                                                      .cpuinfo = "vendor_id: \xff weird\n",
                                                      .meminfo = "MemTotal: lots\n",
                                                      .os_release = "ID=" + std::string(500, 'x'),
                                                      .cores = -1}}) {
    const auto hardware = ClassOf(facts);
    const Status status = wire::ValidateHardwareClass(hardware);
    EXPECT_TRUE(status) << status.error().message;
  }
  const Status status = wire::ValidateHardwareClass(ThisHardware());
  EXPECT_TRUE(status) << status.error().message;
}

}  // namespace
}  // namespace fieldcost::settings
