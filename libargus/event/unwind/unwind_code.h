/* Functions of the recorded programs, for unwinding: where they begin and end, and which functions
 * they call. */
#ifndef ARGUS_EVENT_UNWIND_CODE_H
#define ARGUS_EVENT_UNWIND_CODE_H

#include "event/unwind/unwinder.h"

/* A function. */
struct code {
    struct elf_file *elf;  /* borrowed from the unwinder; NULL: unknown */
    uint64_t start, bytes; /* in the file */
    uint64_t moved;        /* added to a file offset, gives the address in the process */
};

/* A cache of functions. All zero is empty. */
struct codes {
    struct idmap by_address; /* process and address → one of `code` */
    VEC(struct code) code;
    bool no_memory; /* sticky */
};

/* The function at an address of `process` (index). If different files are mapped at one address at
 * different times, the first one looked up counts. */
struct code codes_at(struct codes *codes, struct unwinder *unwinder, uint32_t process,
                     uint64_t time_ns, uint64_t address);
void codes_deinit(struct codes *codes);

bool code_is_same(const struct code *a, const struct code *b);

/* Counts the direct calls of `callee` in `caller`'s code, in the same file; `*ret_return`: the
 * offset behind the last call. `machine`: EM_… */
uint32_t code_count_calls(unsigned machine, const struct code *caller, const struct code *callee,
                          uint64_t *ret_return);

#endif
