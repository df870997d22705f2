// Consent to probe points is withdrawn while a batch is being sent.
#include <filesystem>

#include "tests/agent/volunteer/holding_proxy.h"
#include "tests/e2e/probe_way.h"

namespace fieldcost::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using Step = HoldingProxy::Step;

class ProbeOffTest : public ProbeWayTest {
 protected:
  void Queue() {
    Start();
    LogIn();
    MustDo({"probe", "on"});
    Record({}, {kProbed, "scopes"});
    ASSERT_GE(Status().at("queued_batches").as_int64(), 1);
  }
  ProcessOptions FlushThrough(const HoldingProxy& proxy) const {
    ProcessOptions options = Options({"probe", "flush"});
    options.environment.emplace_back("https_proxy",
                                     "http://127.0.0.1:" + std::to_string(proxy.port()));
    options.unset.insert(options.unset.end(), {"no_proxy", "NO_PROXY", "HTTPS_PROXY"});
    return options;
  }
  static bool HasOpen(pid_t pid, const std::string& name) {
    std::error_code error;
    for (const auto& entry :
         std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/fd", error)) {
      if (std::filesystem::read_symlink(entry, error).filename() == name) return true;
    }
    return false;
  }
  // Whether the decision is on disk, where the sender reads it.
  bool IsOff() const { return Status().at("mode").as_string() == "off"; }
};

TEST_F(ProbeOffTest, SendsNothingOnceItHasReturned) {
  Queue();
  HoldingProxy proxy(Step::kHandshake);
  BackgroundProcess flush(FlushThrough(proxy));
  proxy.WaitUntilHeld();
  const ProcessResult off = Fieldcost({"probe", "off"});
  EXPECT_EQ(off.exit_status, 0) << off.errors;
  EXPECT_THAT(off.output, AllOf(HasSubstr("deleted"), Not(HasSubstr("0 queued batches")),
                                Not(HasSubstr("arrived"))));
  proxy.Release();
  flush.Wait();
  EXPECT_EQ(Hits(database()), 0U);
}

TEST_F(ProbeOffTest, ReportsABatchThatArrivesMeanwhileAsSent) {
  Queue();
  const std::int64_t queued = Status().at("queued_batches").as_int64();
  HoldingProxy proxy(Step::kAnswer);
  BackgroundProcess flush(FlushThrough(proxy));
  proxy.WaitUntilHeld();
  BackgroundProcess off(Options({"--json", "probe", "off"}));
  ASSERT_TRUE(WaitUntil([&] { return IsOff(); }));
  // The command opens the sender's lock only to wait.
  ASSERT_TRUE(WaitUntil([&] { return HasOpen(off.pid(), "probe_send.lock"); }));
  proxy.Release();
  const ProcessResult result = off.Wait();
  EXPECT_THAT(result.output, HasSubstr(fmt::format("\"dropped_batches\":{},\"may_have_arrived\":0,"
                                                   "\"sent_meanwhile\":1}}",
                                                   queued - 1)));
  flush.Wait();
  EXPECT_GT(Hits(database()), 0U);
}

TEST_F(ProbeOffTest, ReportsABatchThatLeftUnansweredAsPerhapsArrived) {
  Queue();
  HoldingProxy proxy(Step::kAnswer);
  BackgroundProcess flush(FlushThrough(proxy));
  proxy.WaitUntilHeld();
  const ProcessResult off = Fieldcost({"probe", "off"});
  EXPECT_EQ(off.exit_status, 0) << off.errors;
  EXPECT_THAT(off.output, HasSubstr("1 had left before, unanswered, and may have arrived"));
  proxy.Release();
  flush.Wait();
  EXPECT_GT(Hits(database()), 0U);
}

TEST_F(ProbeOffTest, ReportsABatchOfASenderThatWasKilledAsPerhapsArrived) {
  Queue();
  HoldingProxy proxy(Step::kAnswer);
  BackgroundProcess flush(FlushThrough(proxy));
  proxy.WaitUntilHeld();
  flush.Signal(SIGKILL);
  flush.Wait();
  proxy.Release();
  const ProcessResult off = Fieldcost({"probe", "off"});
  EXPECT_EQ(off.exit_status, 0) << off.errors;
  EXPECT_THAT(off.output, HasSubstr("1 had left before, unanswered, and may have arrived"));
}

}  // namespace
}  // namespace fieldcost::testing
