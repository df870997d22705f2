// A C program with the table of functions that Go's linker writes. GO_IN_HEADER: the address of the code is in the
// table, as before Go 1.26; else it is in the description of the program. GO_SECTION: the table's section.

__attribute__((noinline, used, section(".text.go"))) static int parse_rows(int n) { return n * 3; }
__attribute__((noinline, used, section(".text.go"))) static int load_file(int n) { return parse_rows(n) + 1; }
__attribute__((noinline, used, section(".text.go"))) static int code_end(int n) { return n; }

__asm__(".section " GO_SECTION ", \"aw\"\n"
        ".balign 32\n"
        "go_table: .long 0xfffffff1\n"
        ".byte 0, 0, 1, 8\n"
#ifdef GO_IN_HEADER
        ".quad 2, 0, parse_rows\n"
#else
        ".quad 2, 0, 0\n"
#endif
        ".quad go_names - go_table, 0, 0, 0, go_list - go_table\n"
        "go_names: .asciz \"main.parseRows\"\n"
        "go_second: .asciz \"main.loadFile\"\n"
        ".balign 8\n"
        "go_list: .long 0, go_first_function - go_list, load_file - parse_rows, go_second_function - go_list\n"
        ".long code_end - parse_rows\n"
        "go_first_function: .long 0, 0\n"
        "go_second_function: .long load_file - parse_rows, go_second - go_names\n"
#ifndef GO_IN_HEADER
        ".section .go.module, \"aw\"\n"
        ".balign 8\n"
        ".quad go_table\n"
        ".skip 168\n"
        ".quad parse_rows\n"
#endif
        ".text\n");

int main(int argc, char** argv) {
  (void)argv;
  return load_file(argc) == 0;
}
