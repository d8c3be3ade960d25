/* The members of struct flags, for flags.c (watched flags) and flag_plans.c (plans). */
#ifndef ARGUS_RECORDER_LINUX_FLAG_TABLE_H
#define ARGUS_RECORDER_LINUX_FLAG_TABLE_H

#include "linux/flags/flag_threads.h"
#include "linux/flags/flags.h"
#include "server/backend.h"

struct flag {
    struct request_flag wanted; /* bytes 0: not in use */
    uint64_t address;           /* 0: a pointer to it is still null */
    uint64_t since_ns;          /* CLOCK_MONOTONIC */
    uint32_t plan;              /* number of the plan by which it is watched; 0: none */
    struct flag_threads threads;
};

struct flag_plan {
    struct request_flag wanted; /* bytes 0: not in use */
    uid_t owner;
    uint32_t watched; /* number of processes in which it was watched */
};

struct flags {
    struct bpf_program *program; /* NULL: detached */
    struct backend *notes;
    int map_fd;
    bool is_checked; /* this kernel lets a watched thread go on */
    struct flag flags[FLAG_LIMIT];
    struct flag_plan plans[FLAG_PLANS];
    VEC(struct argus_flag_entry) names; /* of all flags ever watched; labels owned */
    VEC(struct argus_record) shared;    /* that flags_take_shared() has not taken yet */
};

/* Watches the flag `wanted`; `plan`: number of its plan, or 0. With a plan a pointer may still be
 * null. Errors as in flags.h. */
struct argus_error *flag_table_watch(struct flags *flags, const struct request_flag *wanted,
                                     uint32_t plan, uint32_t *ret_number);
void flag_table_clear(struct flags *flags, uint32_t place);
uint64_t flag_table_hits(const struct flags *flags, uint32_t place);

/* flag_plans.c */
struct argus_error *flag_plan_add(struct flags *flags, const struct request_flag *wanted,
                                  uid_t owner, uint32_t *ret_number);
void flag_plan_remove(struct flags *flags, uint32_t place);

#endif
