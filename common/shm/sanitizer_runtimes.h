#pragma once

// The run-time libraries of sanitizers, of gcc and of clang. They intercept what the preload
// library would, or replace it, and count on being the first library: programs that have one are
// left alone by the library, and the agent reports this beforehand.

namespace fieldcost::shm {

// Prefixes of their sonames and file names.
inline constexpr const char* kSanitizerRuntimes[] = {
    "libasan.", "libclang_rt.", "libhwasan.", "liblsan.",
    "libmsan.", "librtsan.",    "libtsan.",   "libubsan_standalone.",
};

}  // namespace fieldcost::shm
