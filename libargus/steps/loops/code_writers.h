/* Which functions of a file write a variable, by the file's code alone.
 *
 * The bytes of the code are searched for references to the variable where the flag's path begins.
 * Only the functions around them are decoded. In each of them every store whose path
 * (code_paths.h) is that of the flag is a write. A function that gets the variable, or a pointer to
 * it, as an argument is followed. A write through a pointer that came another way (from a list, in
 * an object) is not found.
 */
#ifndef ARGUS_STEPS_CODE_WRITERS_H
#define ARGUS_STEPS_CODE_WRITERS_H

#include "steps/loops/loop_flags.h"

#define CODE_WRITERS_MAX 16
#define CODE_WAY_MAX     8
#define CODE_CALLERS_MAX 64

struct code_writer {
    uint64_t address;      /* of the instruction that writes, or calls a function that does */
    uint64_t start, bytes; /* of its function; addresses of the file */
    /* the instruction that writes, and the calls that lead to it, the innermost first; the last one
     * is `address`; if there are more calls than fit in, those just before it are left out */
    uint64_t way[CODE_WAY_MAX];
    uint32_t way_count;
    int64_t value; /* … that it writes, if has_value */
    bool has_value;
    uint64_t signals; /* whose handler the function is: signal n is bit n - 1 */
    /* it gives the variable's address to a function of another file, is a callback that may get it,
     * writes an element of an array where the loop looks at one, or is alike (code_similar.h) */
    bool is_possible;
};

struct code_writers {
    struct code_writer all[CODE_WRITERS_MAX]; /* by address; a function once for each value */
    uint32_t count;
    bool is_cut; /* there may be more */
};

/* False: none, or the code does not tell. Costs less than a second for a file of 200 MB. Any thread
 * may call it, a file at a time. */
bool code_writers_find(const struct loop_flag *flag, bool is_arm64, struct code_writers *ret);

#define CODE_HANDED_MAX 16

/* Functions whose address is stored by a function that also stores a pointer to the variable: a
 * callback and its data in a struct, a `std::function` and what it captured. They may get the
 * pointer when they are called. Puts where they begin into `ret`, and returns how many there are.
 * `*ret_is_cut`: there may be more, as in code_writers. */
uint32_t code_handed_find(const struct loop_flag *flag, bool is_arm64,
                          uint64_t ret[CODE_HANDED_MAX], bool *ret_is_cut);

/* A write, or a call that is one, at `node` of the scope, which `outer` leads to by calls. */
struct code_writer code_writer_at(const struct code_scope *scope, uint32_t node,
                                  const struct code_function *outer);

/* By address. */
void code_writers_sort(struct code_writers *writers);

#define CODE_POINTERS_MAX 4

struct code_pointers {
    struct code_path all[CODE_POINTERS_MAX]; /* addresses of a file */
    uint32_t count;
    bool is_cut; /* something else may be stored there */
};

/* The addresses that code of the word's file stores there, by direct stores. The budget has a
 * library. */
void code_writers_find_pointers(struct code_budget *budget, const struct code_path *word,
                                struct code_pointers *ret);

/* A function that calls one of `starts`, directly or through another one. */
struct code_caller {
    uint64_t start, bytes; /* addresses of the file */
};

/* Returns how many of at most CODE_CALLERS_MAX there are. Calls through pointers are not found. */
uint32_t code_callers_find(struct elf_file *file, const uint64_t *starts, uint32_t count,
                           struct code_caller *ret);
/* The same for functions of other files, by their symbols. */
uint32_t code_callers_find_imported(struct elf_file *file, const char *const *names, uint32_t count,
                                    struct code_caller *ret);
/* The same for functions that map memory which may be shared (code_is_mapping()). */
uint32_t code_callers_of_mapping(struct elf_file *file, struct code_caller *ret);

#endif
