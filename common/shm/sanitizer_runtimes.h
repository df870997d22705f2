#pragma once

// The run-time libraries of the sanitizers of gcc and clang. They intercept or replace the
// functions that the preload library would, and must be the first library. The preload library does
// not intercept anything in programs that have one, and the agent reports this beforehand.

namespace fieldcost::shm {

// Prefixes of their sonames and file names.
inline constexpr const char* kSanitizerRuntimes[] = {
    "libasan.", "libclang_rt.", "libhwasan.", "liblsan.",
    "libmsan.", "librtsan.",    "libtsan.",   "libubsan_standalone.",
};

}  // namespace fieldcost::shm
