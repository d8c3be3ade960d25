/* Functions of the recorded programs, as unwinding needs them: where they begin and end, and whom they call. */
#ifndef ARGUS_EVENT_UNWIND_CODE_H
#define ARGUS_EVENT_UNWIND_CODE_H

#include "event/unwind/unwinder.h"

/* A function. */
struct code {
    struct elf_file *elf;  /* borrowed from the unwinder; NULL: not known */
    uint64_t start, bytes; /* in the file */
    uint64_t moved;        /* add to an offset to have an address of the process */
};

/* Those that were asked for. All zero is empty. */
struct codes {
    struct idmap by_address; /* process and address → one of `code` */
    VEC(struct code) code;
    bool no_memory; /* sticky */
};

/* The function at an address of `process` (index). What is mapped at one address at different times counts as the first. */
struct code codes_at(struct codes *codes, struct unwinder *unwinder, uint32_t process,
                     uint64_t time_ns, uint64_t address);
void codes_deinit(struct codes *codes);

bool code_is_same(const struct code *a, const struct code *b);

/* How many direct calls of `callee` there are in `caller`'s code, in the same file; `*ret_return`: the offset behind the last
 * one. `machine`: EM_… */
uint32_t code_count_calls(unsigned machine, const struct code *caller, const struct code *callee,
                          uint64_t *ret_return);

#endif
