/* Variables that point to memory which the program maps and may share with other processes: `board
 * = mmap(…, MAP_SHARED, …)`. A place in such memory is the same variable in all processes that map
 * it, whatever each of them calls it. It is told by how far it lies behind the beginning of the
 * mapping. */
#ifndef ARGUS_STEPS_SHARED_ROOTS_H
#define ARGUS_STEPS_SHARED_ROOTS_H

#include "steps/loops/loop_flags.h"

#define SHARED_ROOTS_MAX 16

struct shared_root {
    struct loop_flag pointer; /* a variable that has a pointer */
    uint64_t place;           /* where that leads, behind the beginning of a mapping */
};

struct shared_roots {
    struct shared_root all[SHARED_ROOTS_MAX];
    uint32_t count;
};

/* Of a file's code: what functions store that map memory, or call such a function. None: the code
 * does not tell. Costs less than a second for a file of 200 MB. Any thread may call it, a file at a
 * time. */
void shared_roots_find(struct elf_file *file, bool is_arm64, struct shared_roots *ret);

/* How far `flag` lies behind the beginning of a mapping, by `roots` of its file. False: it is not
 * in such memory, as far as code tells. */
bool shared_roots_place(const struct shared_roots *roots, const struct loop_flag *flag,
                        uint64_t *ret);

/* The `index`th way in which the file reaches the place: `*ret` has the sizes and tests of `flag`.
 * False: there are no more. */
bool shared_roots_flag(const struct shared_roots *roots, uint32_t index, struct elf_file *file,
                       const struct loop_flag *flag, uint64_t place, struct loop_flag *ret);

#endif
