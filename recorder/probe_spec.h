/* One probe, as numbers only: what the front end sends, and what the BPF program
 * (linux/bpf/probe.h) interprets at each hit.
 *
 * Included by BPF programs too, so it uses only fixed-width types, which each includer defines
 * first. Every struct is without hidden padding.
 */
#ifndef ARGUS_RECORDER_PROBE_SPEC_H
#define ARGUS_RECORDER_PROBE_SPEC_H

#define PROBE_LIMIT     512 /* in one recording */
#define PROBE_STEPS     3   /* pointers that are followed for one value */
#define PROBE_KINDS     24  /* pairs of a toolkit's number of a UI event and ours */
#define PROBE_ARGUMENTS 6

#define PROBE_STACK_MOST 4096 /* bytes that a function may have allocated at its probe */

/* enum probe_base: where a value begins. */
#define PROBE_BASE_NONE   0 /* the value is 0; 1 to PROBE_ARGUMENTS: that argument of the function */
#define PROBE_BASE_RESULT 7 /* of the function, at its return */
#define PROBE_BASES       8

/* A number at the place of a probe: base, then `steps` times "the pointer at this offset of it". */
struct probe_value {
    uint8_t base;
    uint8_t steps;
    /* 1, 2, 4 or 8: size of what the last step reads, or of the base if there are no steps. */
    uint8_t bytes;
    uint8_t is_signed; /* 1: the value is signed */
    int32_t offsets[PROBE_STEPS];
};

#define PROBE_COMPARE_NONE    0 /* always true */
#define PROBE_COMPARE_EQUAL   1
#define PROBE_COMPARE_LESS    2 /* value < than, unsigned */
#define PROBE_COMPARE_ATLEAST 3

/* The probe counts only if this holds. */
struct probe_condition {
    struct probe_value value;
    uint32_t compare; /* PROBE_COMPARE_… */
    uint32_t padding;
    uint64_t than;
};

struct probe_kind {
    uint32_t number; /* the toolkit's */
    uint32_t kind;   /* enum argus_ui_event */
};

#define PROBE_ONCE   (1u << 0) /* BEGIN: a callback that was queued once runs once */
#define PROBE_QUEUED (1u << 1) /* BEGIN: only of callbacks that were queued */
#define PROBE_FIRST  (1u << 2) /* UI: only the first hit with this key in a turn of the loop */
#define PROBE_RETURN (1u << 3) /* at the function's return */
#define PROBE_HOOK                                                                                 \
    (1u << 4) /* nothing to attach: reported by a hook in the program (dylib-hooks/) */
#define PROBE_SPARABLE (1u << 5) /* removed if hit too often, because the user did not name it */
#define PROBE_FLAGS                                                                                \
    (PROBE_ONCE | PROBE_QUEUED | PROBE_FIRST | PROBE_RETURN | PROBE_HOOK | PROBE_SPARABLE)

/* Hooks have numbers of their own, from here on. */
#define PROBE_HOOK_FIRST 0x10000u
#define PROBE_HOOK_LIMIT 4096 /* hooks in one recording */

struct probe_spec {
    uint32_t shape; /* enum argus_probe_shape */
    uint32_t flags;
    uint32_t space; /* equal keys of one space name the same object */
    uint32_t kind_count;
    uint32_t stack_bytes; /* that the function has allocated when the probe is hit */
    uint32_t padding;
    struct probe_value key, function, other, type;
    struct probe_condition when;
    struct probe_kind kinds[PROBE_KINDS];
};

#endif
