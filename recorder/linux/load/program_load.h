/* Loads those BPF programs that the running kernel accepts. */
#ifndef ARGUS_RECORDER_LINUX_PROGRAM_LOAD_H
#define ARGUS_RECORDER_LINUX_PROGRAM_LOAD_H

#include <stdint.h>

#include "argus/error.h"
#include "base/vec.h"
#include "server/backend.h"

struct bpf_object;
struct bpf_image;
struct btf;

struct program_request {
    const struct backend_options *options;
    uint32_t cpu_count, slot_count;
    /* For tests: a tracepoint to treat as if the kernel did not have it; NULL. */
    const char *without;
    const struct bpf_image *image; /* for tests: the only build to try; NULL: whichever fits */
};

/* A program that the kernel's verifier refused. */
struct program_refused {
    uint32_t row; /* in program_table */
    char *reason; /* the verifier's last line; owned */
};

struct program_set {
    struct bpf_object *object; /* loaded; owned */
    const struct bpf_image *image;
    VEC(struct program_refused) refused;
    /* Why the programs were refused with the code that reads interpreter frames and accepted
     * without it; owned; NULL: not so. */
    char *interpreters_refused;
    VEC(char *) notes; /* owned sentences about missing programs */
};

/* Loads the programs of the categories in request->options that this kernel has tracepoints for and
 * whose programs it accepts. UNSUPPORTED: a required one is missing or refused, or too many are.
 * PERMISSION: BPF is not allowed at all. `btf`: of the running kernel. One thread; `ret` is for
 * program_set_deinit() also after an error. */
struct argus_error *program_set_load(const struct program_request *request, const struct btf *btf,
                                     struct program_set *ret);
void program_set_deinit(struct program_set *set);

#endif
