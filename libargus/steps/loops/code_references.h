/* Places in the code of a file that name an address: found by a search through the bytes, without
 * decoding them. A few are no such instructions; the caller decodes and looks. */
#ifndef ARGUS_STEPS_CODE_REFERENCES_H
#define ARGUS_STEPS_CODE_REFERENCES_H

#include "steps/loops/code_function.h"

#define CODE_REFERENCES_MAX 4096

struct code_references {
    VEC(uint64_t) places; /* addresses of the file, inside of the instructions */
    bool is_cut;          /* there are more, or memory ran out */
};

/* Appends the references to addresses from `first` on: relative to the instruction, and absolute
 * ones of 32 bits. */
void code_references_add(struct code_references *references, const struct elf_file *file,
                         uint64_t first, uint64_t bytes);
/* … and those to one of the functions `targets`, which are sorted, where its address is taken: lea
 * rsi, [rip+on_end]. */
void code_references_add_functions(struct code_references *references, const struct elf_file *file,
                                   const uint64_t *targets, size_t count);
/* … and the direct calls of, and jumps to, the addresses `targets`, which are sorted. */
void code_references_add_calls(struct code_references *references, const struct elf_file *file,
                               const uint64_t *targets, size_t count);
void code_references_deinit(struct code_references *references);

#endif
