/* The internals of an opened step file. */
#ifndef ARGUS_STEPS_FILE_H
#define ARGUS_STEPS_FILE_H

#include "argus/steps.h"
#include "base/strtab.h"
#include "base/vec.h"
#include "trace/cursor.h"

/* A piece of code contained in the file. */
struct steps_code {
    uint64_t address;
    uint32_t bytes;
    uint32_t order; /* position in the file, for a stable sort */
    size_t at;      /* in code_bytes */
};

/* A payload of registers, decompressed but not decoded: decoded payloads would be a hundred times
 * as large. */
struct steps_registers {
    uint32_t first_step, count;
    uint8_t *payload; /* owned; with VARINT_SLACK bytes behind its end */
    uint32_t bytes;
};

struct argus_steps {
    char *path; /* owned */
    struct argus_steps_about about;
    struct strtab *strings;
    enum argus_step_end end;
    const char *end_text;
    uint64_t elapsed_ns;
    uint32_t first_frame, register_count;
    VEC(uint64_t) pcs;
    VEC(struct argus_step_event) events;
    VEC(struct argus_step_frame) frames;
    VEC(struct argus_step_image) images;
    VEC(struct steps_code) code; /* by address */
    VEC(uint8_t) code_bytes;
    VEC(struct steps_registers) registers; /* by step */
    size_t cached;      /* index in `registers` of the decoded payload; SIZE_MAX: none */
    uint64_t *rows;     /* owned; its registers, register_count for each step */
    bool *row_is_there; /* by step of it; owned */
};

/* One chunk while it is decoded. */
struct steps_payload {
    struct cursor cursor;
    uint32_t count;
    const char *reason; /* half a sentence: why it is damaged; or NULL */
};

/* Decodes the payload of a chunk of `kind`. NULL, or why it is damaged. */
const char *steps_take(struct argus_steps *steps, unsigned kind, struct steps_payload *payload);

/* The checks that need all chunks: sorts the code, checks IDs and steps. NULL, or what is wrong. */
const char *steps_finish(struct argus_steps *steps);

/* Decodes a payload of registers into `rows` and `there`, which both have room for all of them, or
 * are both NULL to check only. False: it is damaged. */
bool steps_registers_decode(const struct argus_steps *steps, const struct steps_registers *chunk,
                            uint64_t *rows, bool *there);

#endif
