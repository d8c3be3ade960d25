/* An opened step file. */
#ifndef ARGUS_STEPS_FILE_H
#define ARGUS_STEPS_FILE_H

#include "argus/steps.h"
#include "base/strtab.h"
#include "base/vec.h"
#include "trace/cursor.h"

/* Code bytes that are in the file. */
struct steps_code {
    uint64_t address;
    uint32_t bytes;
    uint32_t order; /* in the file, for a stable sort */
    size_t at;      /* in code_bytes */
};

/* A payload of registers, unpacked but not decoded: decoded they would be a hundred times as large. */
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
    size_t cached;      /* the element of `registers` that is decoded; SIZE_MAX: none */
    uint64_t *rows;     /* its registers, register_count for each step; owned */
    bool *row_is_there; /* by step of it; owned */
};

/* One chunk while it is taken apart. */
struct steps_payload {
    struct cursor cursor;
    uint32_t count;
    const char *reason; /* why it is damaged, in half a sentence, or NULL */
};

/* Takes the payload of a chunk of `kind` apart; NULL, or why it is damaged. */
const char *steps_take(struct argus_steps *steps, unsigned kind, struct steps_payload *payload);

/* What can only be seen when all is there: sorts the code, checks ids and steps. NULL, or what is wrong. */
const char *steps_finish(struct argus_steps *steps);

/* Goes once through a payload of registers. Into `rows` and `there` (both or none), each NULL or room for all of them. False: it
 * is damaged. */
bool steps_registers_decode(const struct argus_steps *steps, const struct steps_registers *chunk,
                            uint64_t *rows, bool *there);

#endif
