/* Which variables end the loop in which a thread waits, by the program's code alone.
 *
 * Given is the stack of the wait. In its frames, from the innermost on, the loop around the call is
 * looked for. Of each branch that leads out of it the condition is sliced backward to the memory
 * from which it was loaded (code_slice.h). The first loop that anything but the waiting itself
 * decides is the one: if the code does not tell what that is, there is no answer, since any other
 * would be of another loop. Nothing is guessed.
 */
#ifndef ARGUS_STEPS_LOOP_FLAGS_H
#define ARGUS_STEPS_LOOP_FLAGS_H

#include "event/binary/elf_file.h"
#include "event/binary/elf_members.h"
#include "steps/loops/loop_tests.h"

#define LOOP_FLAGS_MAX 3 /* with more of them the answer says nothing */

struct loop_frame {
    struct elf_file *file; /* borrowed; NULL: not known, or a function whose loops say nothing (the
                              C library's) */
    uint64_t address;      /* of an instruction of the file: of a call, a byte of it */
    bool is_spin_lock; /* without a file: a function that polls what its first argument points to */
};

/* The root of a flag that no variable of the file leads to (CODE_STACK and CODE_OBJECT of
 * code_paths.h): a local variable, or an object that one points to. All addresses are of the file.
 */
struct loop_local {
    bool is_local;
    bool is_object;        /* else the word of the stack, which without links is the flag itself */
    uint64_t function;     /* where the function begins that has it */
    struct code_slot slot; /* as struct code_path has it */
    uint64_t code;
    struct code_sighting seen[CODE_SIGHTINGS];
    uint32_t seen_count;
    int64_t inside; /* without links: how far the flag lies behind the beginning of its object */
};

struct loop_flag {
    struct elf_file
        *file; /* borrowed: whose code names it; the variable is its own unless `foreign` */
    const char
        *foreign; /* borrowed from the file: the symbol of a variable of another file; NULL */
    /* `address` counts from the beginning of memory that code of the file maps */
    bool is_mapped;
    bool is_thread_local; /* `address` counts from the beginning of the file's thread-local block */
    uint64_t address;     /* of the file; of a foreign variable an offset into it */
    uint32_t links;       /* the pointers that lead on from there */
    int64_t offsets[CODE_PATH_LINKS];
    uint32_t size_bytes;  /* that are looked at */
    uint32_t elements;    /* as struct code_path has it; 0: of no array */
    bool is_lock;         /* the loop tries to take it */
    const char *taken_by; /* … by this function; borrowed from the file; NULL: it is no lock */
    struct loop_local local;
    struct loop_tests tests;
};

struct loop_flags {
    uint32_t frame; /* whose loop it is */
    uint64_t head;  /* address of the file: where the loop begins */
    struct loop_flag all[LOOP_FLAGS_MAX];
    uint32_t count;
    bool is_whole; /* nothing else ends the loop, but a counter */
};

/* `files`: finds functions of other files that the loop calls; NULL: they are not looked into.
 * False: the code does not tell. Costs milliseconds. Any thread may call it, a file at a time. */
bool loop_flags_find(const struct loop_frame *frames, uint32_t count, bool is_arm64,
                     const struct code_files *files, struct loop_flags *ret);

/* The same for the stack of a thread that runs, whose innermost frame is any instruction: the first
 * loop that only looks at variables (loop_effects.h). False also if a loop does anything else. */
bool loop_flags_find_spin(const struct loop_frame *frames, uint32_t count, bool is_arm64,
                          const struct code_files *files, struct loop_flags *ret);

/* "did_reconfigure", "settings+0x8", "window->0x18", and of a file without symbols "0x4060": as
 * argus watchflag takes it. False: it is an address of the file, or "shared memory+0x8", which
 * argus watchflag does not take. */
bool loop_flag_text(const struct loop_flag *flag, char *buffer, size_t bytes);

/* "window->document->state", by debug information; `code` is an address of the loop, in the file
 * that has it. False: it names no member, or not which array of several has the element. */
bool loop_flag_member(const struct loop_flag *flag, uint64_t code, struct elf_member *ret);

/* Part of the above: "jobs[0].is_done" is "jobs[i].is_done", because which element it is, is not
 * known. `is_last`: the array is behind the last pointer, else before the first one. False: the
 * text names no array there, or several. */
bool loop_member_put_index(struct elf_member *member, bool is_last);

#endif
