#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "agent/idle/idle_events.h"
#include "common/base/result.h"

namespace fieldcost::idle_agent {

// The part in the kernel (idle.bpf.c), loaded and running. The only user of libbpf. Not
// thread-safe.
class BpfProgram {
 public:
  using OnEvent = std::function<void(std::span<const std::uint8_t> event)>;

  // Errors: kPermissionDenied if CAP_BPF and CAP_PERFMON are missing; kUnsupported if the kernel
  // has no BTF (/sys/kernel/btf/vmlinux) or is too old, or if this was built without clang.
  static Result<std::unique_ptr<BpfProgram>> Load(const fc_settings& settings, OnEvent on_event);
  ~BpfProgram();
  BpfProgram(const BpfProgram&) = delete;
  BpfProgram& operator=(const BpfProgram&) = delete;

  // Passes on the events since the previous call.
  Status Consume();
  // Stops the program: there are no new events; Consume() still passes on the old ones.
  void Detach();
  // Returns the program's counters, by CPU.
  Result<std::vector<fc_cpu>> Cpus() const;
  // How long and how often the program ran at switches; 0 unless the kernel counts this
  // (kernel.bpf_stats_enabled).
  struct Cost {
    std::uint64_t ns = 0;
    std::uint64_t runs = 0;
  };
  Cost CostOfSwitches() const;

 private:
  struct Kernel;
  BpfProgram();
  Status Open(const fc_settings& settings);
  Status Attach();
  Status MarkTasks();

  std::unique_ptr<Kernel> kernel_;
  OnEvent on_event_;
};

}  // namespace fieldcost::idle_agent
