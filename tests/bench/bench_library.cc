// The function whose calls are timed: as little as a call through the PLT can be.
extern "C" void bench_target() { __asm__ volatile(""); }
extern "C" void bench_other() { __asm__ volatile(""); }
