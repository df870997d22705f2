// A program whose garbage collector finds live objects by scanning stacks and registers. Keeps
// objects in a single register during calls; prints how many were collected by mistake.

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

// From the Boehm collector, whose headers are not needed otherwise.
void GC_init(void);
void* GC_malloc(size_t bytes);
void GC_gcollect(void);
void GC_register_finalizer(void* object, void (*function)(void*, void*), void* data,
                           void (**old_function)(void*, void*), void** old_data);
int GC_invoke_finalizers(void);

static uintptr_t held;  // the complement of the live address
static int collected;

static void OnCollected(void* object, void* data) {
  (void)data;
  if (~(uintptr_t)object == held) ++collected;
}

// An object whose address is kept only as its complement.
__attribute__((noinline)) static uintptr_t MakeHidden(void) {
  void* const object = GC_malloc(64);
  GC_register_finalizer(object, OnCollected, NULL, NULL, NULL);
  return ~(uintptr_t)object;
}

__attribute__((noinline)) static void CleanStack(void) {
  volatile char stack[16384];
  for (size_t i = 0; i < sizeof stack; ++i) stack[i] = 0;
}

// Collects while the address is only in rbx.
__attribute__((noinline)) static void CollectHolding(uintptr_t hidden, uintptr_t mask) {
  __asm__ volatile(
      "movq %0, %%rbx\n\tnotq %%rbx\n\tandq %1, %%rbx\n\t"
      "xorl %%eax, %%eax\n\t"
      "movq %%rsp, %%rbp\n\tsubq $128, %%rsp\n\tandq $-16, %%rsp\n\t"
      "call GC_gcollect@PLT\n\t"
      "movq %%rbp, %%rsp\n\txorl %%ebx, %%ebx"
      :
      : "r"(hidden), "r"(mask)
      : "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "rbp", "memory",
        "cc");
}

int main(int argc, char** argv) {
  const uintptr_t mask = argc > 1 && strcmp(argv[1], "drop") == 0 ? 0 : ~(uintptr_t)0;
  GC_init();
  for (int i = 0; i < 100; ++i) {
    held = MakeHidden();
    CleanStack();
    CollectHolding(held, mask);
    GC_invoke_finalizers();
  }
  printf("%d collected while held\n", collected);
  return 0;
}
