#include "tests/agent/unwind/libdw_stack.h"

#include <elfutils/libdwfl.h>

#include "common/base/check.h"

namespace fieldcost::testing {

struct LibdwStack::Session {
  Dwfl_Callbacks callbacks{};
  Dwfl* dwfl = nullptr;
};

LibdwStack::LibdwStack(pid_t pid) : pid_(pid), session_(std::make_unique<Session>()) {
  session_->callbacks.find_elf = dwfl_linux_proc_find_elf;
  session_->callbacks.find_debuginfo = dwfl_standard_find_debuginfo;
  session_->dwfl = dwfl_begin(&session_->callbacks);
  FIELDCOST_CHECK(session_->dwfl != nullptr);
  FIELDCOST_CHECK(dwfl_linux_proc_report(session_->dwfl, pid) == 0);
  FIELDCOST_CHECK(dwfl_report_end(session_->dwfl, nullptr, nullptr) == 0);
  FIELDCOST_CHECK(dwfl_linux_proc_attach(session_->dwfl, pid, true) == 0);
}

LibdwStack::~LibdwStack() { dwfl_end(session_->dwfl); }

std::vector<std::uint64_t> LibdwStack::Addresses() {
  std::vector<std::uint64_t> addresses;
  dwfl_getthread_frames(
      session_->dwfl, pid_,
      [](Dwfl_Frame* frame, void* out) {
        constexpr std::size_t kMost = 1024;
        auto& found = *static_cast<std::vector<std::uint64_t>*>(out);
        Dwarf_Addr address = 0;
        bool exact = false;
        if (!dwfl_frame_pc(frame, &address, &exact)) return static_cast<int>(DWARF_CB_ABORT);
        found.push_back(address);
        return static_cast<int>(found.size() < kMost ? DWARF_CB_OK : DWARF_CB_ABORT);
      },
      &addresses);
  return addresses;
}

}  // namespace fieldcost::testing
