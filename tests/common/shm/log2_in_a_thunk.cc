// Log2Times256() compiled as inside other people's programs.

#include "common/shm/log2_fixed.h"

extern "C" uint32_t fieldcost_test_log2_in_a_thunk(uint64_t value) {
  return fieldcost::shm::Log2Times256(value);
}
