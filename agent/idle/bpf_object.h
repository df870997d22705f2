#pragma once

#include <cstdint>
#include <span>

namespace fieldcost::idle_agent {

// idle.bpf.c as clang made it, an ELF object; empty where there was no clang.
std::span<const std::uint8_t> BpfObject();

}  // namespace fieldcost::idle_agent
