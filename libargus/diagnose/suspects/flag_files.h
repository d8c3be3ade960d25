/* The files of a process that name one variable: its own, and others by its symbol. */
#ifndef ARGUS_DIAGNOSE_FLAG_FILES_H
#define ARGUS_DIAGNOSE_FLAG_FILES_H

#include "diagnose/diagnoser.h"
#include "steps/loops/loop_flags.h"

#define FLAG_USES_MAX 8

/* A file whose code may name the variable. */
struct flag_use {
    struct loop_flag flag; /* as this file names it */
    uint64_t bias;         /* between addresses of the file and of the process */
};

struct flag_uses {
    struct flag_use all[FLAG_USES_MAX];
    uint32_t count;
    bool is_cut; /* more files name it */
};

/* `flag` as it is named by the file that has the loop, in the process of vertex `v`. Exported
 * variables are one and the same in all files of a process (System V ABI, "symbol resolution"). The
 * file of the loop comes first, if it is mapped. */
void flag_uses_find(struct diagnoser *d, const struct argus_vertex *v, const struct loop_flag *flag,
                    struct flag_uses *ret);

/* A file that a process has mapped. */
struct mapped_file {
    struct elf_file *file; /* borrowed */
    uint64_t bias;
    const char *path; /* borrowed */
};

#define MAPPED_OWNERS_MAX 17 /* of forks, one from the other */

/* Goes through the files that a process has mapped at a time, but the C library's. A file that has
 * several parts with code comes more than once. */
struct mapped_files {
    struct diagnoser *d;
    uint32_t process;
    uint64_t time_ns;
    uint64_t owners[MAPPED_OWNERS_MAX]; /* process ids whose images it may use: of a process that
                                         * was forked, also its parent's */
    uint32_t owner_count;
    const struct argus_image_entry *images;
    size_t count, next;
};

struct mapped_files mapped_files_at(struct diagnoser *d, uint32_t process, uint64_t time_ns);
/* … when vertex `v` ended, in its process. */
struct mapped_files mapped_files_of(struct diagnoser *d, const struct argus_vertex *v);
/* False: no more. */
bool mapped_files_next(struct mapped_files *files, struct mapped_file *ret);

/* For loops/loop_flags.h: `context` is a struct function_search. Each search goes through all
 * files, so only a few are made. */
struct function_search {
    struct diagnoser *d;
    const struct argus_vertex *vertex;
    unsigned left;
};
struct elf_file *mapped_function_find(void *context, const char *name, uint64_t *ret);

/* The file that has a variable of another file than the loop's. `*ret_image`: its path, borrowed;
 * `*ret_address`: of the flag, in that file; behind pointers, of the first. False: not known. */
bool flag_owner_find(struct diagnoser *d, const struct argus_vertex *v,
                     const struct loop_flag *flag, const char **ret_image, uint64_t *ret_address);

#endif
