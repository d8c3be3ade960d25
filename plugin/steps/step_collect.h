/* Turns the items that the stepper sends into a step file. */
#ifndef ARGUS_PLUGIN_STEP_COLLECT_H
#define ARGUS_PLUGIN_STEP_COLLECT_H

#include "argus/steps.h"
#include "base/vec.h"
#include "recorder/client/step_client.h"

/* A call that has not returned. */
struct step_open_call {
    uint32_t frame;
    uint64_t stack_pointer; /* at its first instruction */
};

struct step_collector {
    struct argus_steps_about about; /* set by the caller, except process, thread and time */
    const char *registers;          /* "all", "none", or "START-END" … */
    uint64_t from, to;              /* … which this is */
    struct argus_output output;     /* of the step file */

    struct argus_steps_writer *writer;   /* owned */
    VEC(struct argus_step_image) images; /* their paths are owned */
    VEC(uint32_t) callers;               /* by frame */
    VEC(struct step_open_call) calls;
    uint32_t frame;                 /* the thread's current frame */
    uint64_t pc;                    /* of the last step */
    uint64_t first_registers_stack; /* address of `stack`, until the first step */
    uint8_t *stack;                 /* owned: a copy of the thread's stack */
    size_t stack_bytes;
    char comm[16];
    bool weak, begun, over;
    enum argus_step_end end;
    char end_text[512];
    uint64_t elapsed_ns;
    uint64_t counts[STEP_ITEM_SIGNAL + 1]; /* by kind of item */
};

/* `output` is copied. `registers`: "all", "none", or an address range in hexadecimal
 * "0x1000-0x2000". */
struct argus_error *step_collector_init(struct step_collector *collector,
                                        const struct argus_output *output, const char *registers);
void step_collector_deinit(struct step_collector *collector);

/* Handles one item. An item that reports the stepper's failure becomes an error. */
struct argus_error *step_collector_take(struct step_collector *collector,
                                        const struct step_said *said);
/* Ends the file. To be called when collector->over is set. */
struct argus_error *step_collector_finish(struct step_collector *collector);

#endif
