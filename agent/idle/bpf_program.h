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

  // kPermissionDenied: who may do so has CAP_BPF and CAP_PERFMON. kUnsupported: the kernel does not
  // describe its types (/sys/kernel/btf/vmlinux), or is too old; or this was built without clang.
  static Result<std::unique_ptr<BpfProgram>> Load(const fc_settings& settings, OnEvent on_event);
  ~BpfProgram();
  BpfProgram(const BpfProgram&) = delete;
  BpfProgram& operator=(const BpfProgram&) = delete;

  // Gives what was told since the last call.
  Status Consume();
  // Stops it: nothing is told from now on; Consume() gives what was.
  void Detach();
  // What it counted, by CPU.
  Result<std::vector<fc_cpu>> Cpus() const;
  // How long it ran at switches, and how often; 0 unless the kernel counts that
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
