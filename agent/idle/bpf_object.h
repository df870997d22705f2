#pragma once

#include <cstdint>
#include <span>

namespace fieldcost::idle_agent {

// idle.bpf.c as compiled by clang: an ELF object; empty if clang was not available.
std::span<const std::uint8_t> BpfObject();

}  // namespace fieldcost::idle_agent
