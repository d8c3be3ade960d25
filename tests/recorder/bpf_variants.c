/* Loads the BPF programs as the recorder does, in every variant of settings, and prints which of
 * them this kernel accepts.
 *
 * * bpf_variants [VARIANT…]
 *
 * One line for each variant and build: "VARIANT BUILD ok", or what was left out and why. Nothing is
 * attached. Ends with 1 if any program was refused; with 77 (skipped) where BPF is not allowed, or
 * this kernel is older than the programs are written for. Needs root. scripts/kernel-matrix runs it
 * on the kernels of the distributions.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "linux/load/bpf_object.h"
#include "linux/load/kernel_btf.h"
#include "linux/load/program_load.h"
#include "linux/load/program_table.h"
#include "server/backend.h"

#define SKIPPED 77

struct variant {
    const char *name;
    uint32_t categories; /* 0: all */
    bool call_stacks, watch_polls, probes;
    const char *unwind;
    uint32_t unwind_bytes;
    bool frame_pointers; /* stacks are not copied late, as they otherwise are */
    bool of_user;        /* another user than root has sent the probes */
};

/* To add a variant, add a row: the options that determine a setting of the programs. */
static const struct variant variants[] = {
    {.name = "default", .probes = true},
    {.name = "of-user", .probes = true, .of_user = true},
    {.name = "no-probes"},
    {.name = "frame-pointers", .frame_pointers = true},
    {.name = "unwind", .unwind = "editor", .unwind_bytes = 16384},
    {.name = "unwind-64k", .unwind = "editor", .unwind_bytes = 65536, .call_stacks = true},
    {.name = "unwind-pid", .unwind = "4711", .unwind_bytes = 4096},
    {.name = "call-stacks", .call_stacks = true},
    {.name = "on-hang", .watch_polls = true, .probes = true},
    {.name = "no-stacks", .categories = CATEGORIES_ALL & ~CATEGORY_BIT(CATEGORY_STACKS)},
    {.name = "no-messages", .categories = CATEGORIES_ALL & ~CATEGORY_BIT(CATEGORY_MESSAGES)},
    {.name = "sched-only", .categories = CATEGORY_BIT(CATEGORY_SCHED)},
};

#define VARIANT_COUNT (sizeof(variants) / sizeof(variants[0]))

struct outcome {
    uint32_t loaded, refused;
    bool skipped;
};

static struct probe_list *one_probe(uid_t client)
{
    static struct probe probe;
    static struct probe_list list;
    list.client = client;
    list.probes.data = &probe;
    static struct interpreter_spec interpreter;
    list.interpreters.data = &interpreter;
    list.interpreters.length = list.interpreters.capacity = 1;
    list.probes.length = list.probes.capacity = 1;
    return &list;
}

static void fill_options(const struct variant *variant, struct backend_options *ret)
{
    *ret = (struct backend_options){
        .ring_bytes = 8 << 20,
        .rate_hz = 99,
        .categories = variant->categories ? variant->categories : CATEGORIES_ALL,
        .call_stacks = variant->call_stacks,
        .watch_polls = variant->watch_polls,
        .probes = variant->probes ? one_probe(variant->of_user ? 1000 : 0) : NULL,
        .unwind_count = variant->unwind ? 1 : 0,
        .unwind_bytes = variant->unwind_bytes ? variant->unwind_bytes : 65536,
        .late_ns = variant->frame_pointers ? 0 : 500000,
    };
    if (variant->unwind && (ret->unwind[0].pid = (uint32_t)atoi(variant->unwind)) == 0)
        strncpy(ret->unwind[0].name, variant->unwind, sizeof(ret->unwind[0].name) - 1);
}

static uint32_t count_loaded(const struct program_set *set)
{
    uint32_t count = 0;
    struct bpf_program *program;
    bpf_object__for_each_program(program, set->object) count += bpf_program__fd(program) >= 0;
    return count;
}

static void report(const char *variant, const struct bpf_image *image,
                   const struct program_set *set, const struct argus_error *error,
                   struct outcome *outcome)
{
    outcome->refused += (uint32_t)set->refused.length + (error != NULL);
    if (error)
        printf("%s %s: %s\n", variant, image->name, error->message);
    else
        printf("%s %s %s: %u programs\n", variant, image->name,
               set->refused.length ? "in part" : "ok", count_loaded(set));
    outcome->refused += set->interpreters_refused != NULL;
    if (set->interpreters_refused)
        printf("%s %s refused what reads the frames of interpreters: %s\n", variant, image->name,
               set->interpreters_refused);
    for (size_t i = 0; i < set->refused.length; i++)
        printf("%s %s refused %s: %s\n", variant, image->name,
               program_table[set->refused.data[i].row].program, set->refused.data[i].reason);
    fflush(stdout);
}

static void try_build(const struct variant *variant, const struct bpf_image *image,
                      const char *without, const struct btf *btf, struct outcome *outcome)
{
    char name[128];
    struct backend_options options;
    struct program_set set;
    fill_options(variant, &options);
    const struct program_request request = {.options = &options,
                                            .cpu_count = (uint32_t)libbpf_num_possible_cpus(),
                                            .slot_count = 4096,
                                            .without = without,
                                            .image = image};
    snprintf(name, sizeof(name), "%s%s%s", variant->name, without ? ",without-" : "",
             without ? without : "");
    struct argus_error *error = program_set_load(&request, btf, &set);
    outcome->skipped |= error && error->code == ARGUS_ERROR_PERMISSION;
    report(name, image, &set, error, outcome);
    argus_error_destroy(error);
    program_set_deinit(&set);
}

static void try_variant(const struct variant *variant, const char *without, const struct btf *btf,
                        struct outcome *outcome)
{
    for (uint32_t i = 0; i < BPF_IMAGES; i++) {
        const struct bpf_image *image = &bpf_images[i];
        if (!image->kernel_function ||
            btf__find_by_name_kind(btf, image->kernel_function, BTF_KIND_FUNC) >= 0)
            try_build(variant, image, without, btf, outcome);
    }
}

/* Simulates a kernel without a tracepoint on which a setting depends, or that other programs
 * replace. */
static void try_without_tracepoints(const struct btf *btf, struct outcome *outcome)
{
    for (size_t i = 0; i < program_table_length; i++) {
        const struct program_row *row = &program_table[i];
        if (row->setting != PROGRAM_NO_SETTING)
            try_variant(&variants[0], row->tracepoint, btf, outcome);
    }
}

static bool is_wanted(const char *name, int count, char **names)
{
    bool wanted = count == 0;
    for (int i = 0; i < count; i++)
        wanted |= strcmp(names[i], name) == 0;
    return wanted;
}

int main(int argc, char **argv)
{
    struct btf *btf;
    struct outcome outcome = {0};
    struct argus_error *error = kernel_btf_load(&btf);
    if (error || !kernel_btf_has_helper(btf, "BPF_FUNC_get_attach_cookie")) {
        printf("skipped: %s\n", error ? error->message : "Linux 5.15 or later is needed");
        argus_error_destroy(error);
        return SKIPPED;
    }
    printf("built by %s\n", bpf_compiler);
    for (size_t i = 0; i < VARIANT_COUNT && !outcome.skipped; i++)
        if (is_wanted(variants[i].name, argc - 1, argv + 1))
            try_variant(&variants[i], NULL, btf, &outcome);
    if (is_wanted("without", argc - 1, argv + 1) && !outcome.skipped)
        try_without_tracepoints(btf, &outcome);
    btf__free(btf);
    if (outcome.skipped)
        return SKIPPED;
    printf("%s: %u refused\n", outcome.refused ? "failed" : "done", outcome.refused);
    return outcome.refused ? 1 : 0;
}
