#include "agent/idle/bpf_object.h"

#ifdef FIELDCOST_BPF_OBJECT
asm(R"(
  .section .rodata
  .balign 8
fieldcost_bpf_object_begin:
  .incbin ")" FIELDCOST_BPF_OBJECT R"("
fieldcost_bpf_object_end:
  .previous
)");
extern "C" const std::uint8_t fieldcost_bpf_object_begin[];
extern "C" const std::uint8_t fieldcost_bpf_object_end[];
#endif

namespace fieldcost::idle_agent {

std::span<const std::uint8_t> BpfObject() {
#ifdef FIELDCOST_BPF_OBJECT
  return {fieldcost_bpf_object_begin, fieldcost_bpf_object_end};
#else
  return {};
#endif
}

}  // namespace fieldcost::idle_agent
