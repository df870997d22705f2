#include "agent/idle/bpf_program.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>

#include "agent/idle/bpf_object.h"
#include "common/base/file.h"

namespace fieldcost::idle_agent {
namespace {

constexpr char kTypes[] = "/sys/kernel/btf/vmlinux";

// Names of the programs in idle.bpf.c. OnNewTask is first: it must see threads that begin while
// existing ones are marked.
constexpr std::array kTracing = {"OnNewTask", "OnWaking", "OnIdle", "OnSwitch"};
constexpr char kMark[] = "MarkTasks";

Error LoadError(std::string_view what, int error) {
  const std::string reason = ErrnoError("load", what, error).message;
  if (error == EPERM || error == EACCES) {
    return Fail(ErrorCode::kPermissionDenied, "{} (only root, or CAP_BPF and CAP_PERFMON, may)",
                reason);
  }
  return Fail(ErrorCode::kUnsupported, "{} (Linux 5.15 or later is needed)", reason);
}

// Checks that there is an object file to load, and BTF to resolve it against.
Status CheckBuild() {
  if (BpfObject().empty())
    return Fail(ErrorCode::kUnsupported,
                "load a program into the kernel: fieldcost was built without clang");
  if (::access(kTypes, R_OK) == 0) return {};
  return Fail(ErrorCode::kUnsupported,
              "load a program into the kernel, which does not describe its types: {}",
              ErrnoError("read", kTypes, errno).message);
}

int Silent(libbpf_print_level /*level*/, const char* /*format*/, va_list /*arguments*/) {
  return 0;
}

}  // namespace

struct BpfProgram::Kernel {
  bpf_object* object = nullptr;
  std::vector<bpf_link*> links;
  ring_buffer* ring = nullptr;

  ~Kernel() {
    Detach();
    ring_buffer__free(ring);
    bpf_object__close(object);
  }
  void Detach() {
    for (bpf_link* const link : links) bpf_link__destroy(link);
    links.clear();
  }
  int MapFd(const char* name) const {
    return bpf_map__fd(bpf_object__find_map_by_name(object, name));
  }
};

BpfProgram::BpfProgram() : kernel_(std::make_unique<Kernel>()) {}
BpfProgram::~BpfProgram() = default;

Result<std::unique_ptr<BpfProgram>> BpfProgram::Load(const fc_settings& settings,
                                                     OnEvent on_event) {
  FIELDCOST_TRY(CheckBuild());
  libbpf_set_print(Silent);
  std::unique_ptr<BpfProgram> program(new BpfProgram());
  program->on_event_ = std::move(on_event);
  FIELDCOST_TRY(program->Open(settings));
  FIELDCOST_TRY(program->Attach());
  return program;
}

Status BpfProgram::Open(const fc_settings& settings) {
  const std::span<const std::uint8_t> bytes = BpfObject();
  kernel_->object = bpf_object__open_mem(bytes.data(), bytes.size(), nullptr);
  if (kernel_->object == nullptr) return LoadError("a program for the kernel", errno);
  bpf_map* const constants = bpf_object__find_map_by_name(kernel_->object, ".rodata");
  if (bpf_map__set_initial_value(constants, &settings, sizeof settings) != 0)
    return LoadError("settings of a program for the kernel", errno);
  const int error = -bpf_object__load(kernel_->object);
  if (error != 0) return LoadError("a program into the kernel", error);
  const auto tell = [](void* self, void* event, std::size_t bytes_of_it) {
    static_cast<BpfProgram*>(self)->on_event_(
        {static_cast<const std::uint8_t*>(event), bytes_of_it});
    return 0;
  };
  kernel_->ring = ring_buffer__new(kernel_->MapFd("events"), tell, this, nullptr);
  if (kernel_->ring == nullptr) return LoadError("the ring of a program in the kernel", errno);
  return {};
}

Status BpfProgram::Attach() {
  for (const char* const name : kTracing) {
    if (name == kTracing[1]) FIELDCOST_TRY(MarkTasks());
    bpf_program* const program = bpf_object__find_program_by_name(kernel_->object, name);
    bpf_link* const link = bpf_program__attach(program);
    if (link == nullptr) return LoadError(name, errno);
    kernel_->links.push_back(link);
  }
  return {};
}

Status BpfProgram::MarkTasks() {
  bpf_program* const program = bpf_object__find_program_by_name(kernel_->object, kMark);
  bpf_link* const link = bpf_program__attach_iter(program, nullptr);
  if (link == nullptr) return LoadError(kMark, errno);
  const UniqueFd iterator(bpf_iter_create(bpf_link__fd(link)));
  char byte = 0;
  const bool done = iterator.valid() && ::read(iterator.get(), &byte, 1) == 0;
  const int error = errno;
  bpf_link__destroy(link);
  return done ? Status() : LoadError(kMark, error);
}

Status BpfProgram::Consume() {
  const int taken = ring_buffer__consume(kernel_->ring);
  if (taken < 0) return ErrnoError("read", "the ring of a program in the kernel", -taken);
  return {};
}

void BpfProgram::Detach() { kernel_->Detach(); }

Result<std::vector<fc_cpu>> BpfProgram::Cpus() const {
  std::vector<fc_cpu> cpus(static_cast<std::size_t>(::sysconf(_SC_NPROCESSORS_CONF)));
  for (std::uint32_t i = 0; i < cpus.size() && i < FC_MOST_CPUS; ++i) {
    if (bpf_map_lookup_elem(kernel_->MapFd("cpus"), &i, &cpus[i]) != 0)
      return ErrnoError("read", "the counts of a program in the kernel", errno);
  }
  return cpus;
}

BpfProgram::Cost BpfProgram::CostOfSwitches() const {
  bpf_prog_info info{};
  __u32 bytes = sizeof info;
  const int fd =
      bpf_program__fd(bpf_object__find_program_by_name(kernel_->object, kTracing.back()));
  if (bpf_obj_get_info_by_fd(fd, &info, &bytes) != 0) return {};
  return {.ns = info.run_time_ns, .runs = info.run_cnt};
}

}  // namespace fieldcost::idle_agent
