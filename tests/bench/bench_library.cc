// The timed function: the cheapest possible call through the PLT.
extern "C" void bench_target() { __asm__ volatile(""); }
extern "C" void bench_other() { __asm__ volatile(""); }
