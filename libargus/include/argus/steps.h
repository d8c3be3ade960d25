/* Instruction traces: what one thread executed, instruction by instruction, in a live run. `argus
 * step` records them and `argus diverge` compares them. docs/man/argus-steps.5.md alone defines the
 * file format.
 *
 * A step is the address of an instruction that the thread began to execute. Steps are numbered from
 * 0 in the order of execution; what happened between two of them is an *event*: a call, a return, a
 * library call that was stepped over (whose instructions are therefore missing), a signal. The file
 * also contains the code itself, so that the code of a stripped, deleted or generated image can be
 * read. The image map tells which file the code came from.
 *
 * The reader trusts nothing: every length, id and offset is checked, memory is bounded by the
 * file's size times a constant. A file that was cut off (its writer was killed) opens and reports
 * that; a damaged file does not open.
 *
 * One object belongs to one thread: argus_steps_registers() caches.
 */
#ifndef ARGUS_STEPS_H
#define ARGUS_STEPS_H

#include "argus/trace.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ARGUS_STEPS_MAGIC         "ARGUSSTP" /* the first 8 bytes of a file */
#define ARGUS_STEPS_VERSION_MAJOR 1
#define ARGUS_STEPS_VERSION_MINOR 0
#define ARGUS_STEPS_MOST          (16u << 20) /* steps in one file */

#ifndef ARGUS_NONE
#define ARGUS_NONE UINT32_MAX
#endif

/* x86_64: in the order of the hardware's encoding, then rip, rflags, fs base and gs base. */
enum argus_step_register_x86_64 {
    ARGUS_X86_RAX = 0,
    ARGUS_X86_RCX = 1,
    ARGUS_X86_RDX = 2,
    ARGUS_X86_RBX = 3,
    ARGUS_X86_RSP = 4,
    ARGUS_X86_RBP = 5,
    ARGUS_X86_RSI = 6,
    ARGUS_X86_RDI = 7,
    ARGUS_X86_R8 = 8, /* r8 to r15: 8 to 15 */
    ARGUS_X86_RIP = 16,
    ARGUS_X86_RFLAGS = 17,
    ARGUS_X86_FS_BASE = 18,
    ARGUS_X86_GS_BASE = 19,
    ARGUS_X86_REGISTERS = 20,
};
/* aarch64: x0 … x30, then … */
enum argus_step_register_aarch64 {
    ARGUS_ARM64_X0 = 0,
    ARGUS_ARM64_X30 = 30,
    ARGUS_ARM64_SP = 31,
    ARGUS_ARM64_PC = 32,
    ARGUS_ARM64_PSTATE = 33,
    ARGUS_ARM64_TPIDR = 34, /* tpidr_el0, the thread pointer */
    ARGUS_ARM64_REGISTERS = 35,
};
#define ARGUS_STEP_REGISTERS 35u /* the most of any architecture */

/* The number of registers that a file of `arch` has for each step. */
uint32_t argus_step_register_count(enum argus_arch arch);
/* The name of register `number` in lower case ("rax", "x19"); static; NULL: there is no such
 * register. */
const char *argus_step_register_name(enum argus_arch arch, uint32_t number);

enum argus_step_engine {
    ARGUS_STEP_ENGINE_OTHER = 0, /* made by hand or by another program */
    ARGUS_STEP_ENGINE_PTRACE = 1,
    ARGUS_STEP_ENGINE_LLDB = 2,
};

/* Where stepping began. */
enum argus_step_begin {
    ARGUS_STEP_BEGIN_PLACE = 0,    /* when the thread reached `begin_address` */
    ARGUS_STEP_BEGIN_ANYWHERE = 1, /* wherever the thread was */
};

/* Why stepping ended; `end_text` is a sentence about it. */
enum argus_step_end {
    ARGUS_STEP_END_NONE = 0, /* not recorded: the file was cut off */
    ARGUS_STEP_END_MOST = 1, /* the requested number of steps was reached */
    ARGUS_STEP_END_RETURN = 2,
    ARGUS_STEP_END_WAIT = 3,  /* reached the wait that ended the vertex */
    ARGUS_STEP_END_TIME = 4,  /* the requested time was over */
    ARGUS_STEP_END_EXIT = 5,  /* the thread, or the process, ended */
    ARGUS_STEP_END_EXEC = 6,  /* the process executed another program */
    ARGUS_STEP_END_USER = 7,  /* Ctrl-C */
    ARGUS_STEP_END_ERROR = 8, /* the thread could not be stepped further */
};

/* The thread that was stepped. Strings are borrowed from the object (for a writer: from the
 * caller), never NULL. */
struct argus_steps_about {
    enum argus_arch arch;
    enum argus_step_engine engine;
    enum argus_step_begin begin;
    uint32_t vertex; /* the vertex that the trace is about; ARGUS_NONE: none, and then … */
    uint64_t trace_identity; /* … this is 0; else argus_trace_identity() of the vertex's trace */
    uint64_t pid, tid;
    uint64_t wall_ns;       /* start of the stepping, since 1970 */
    uint64_t begin_address; /* where the thread was to begin; 0: anywhere */
    const char *comm;       /* name of the thread */
    const char *exe;        /* path of the program */
    const char *trace;      /* path of the vertex's trace, "" for none */
    /* that place as the user or the vertex names it: "on_click", "settings+0x1234" */
    const char *begin_text;
};

/* A file, or a part of it, mapped in the process. Images do not overlap and are ascending. */
struct argus_step_image {
    uint64_t start, end;  /* end exclusive */
    uint64_t file_offset; /* of `start` */
    const char *path;     /* "" for memory without a file (generated code) */
    bool executable, writable;
    /* part of the application, so its instructions are steps. Calls into other images were stepped
     * over */
    bool stepped;
    uint8_t build_id[20];
    uint32_t build_id_bytes; /* 0: unknown */
};

enum argus_step_event_kind {
    /* the step is a call, and the next step is the function's first instruction */
    ARGUS_STEP_CALL = 1,
    ARGUS_STEP_RETURN = 2, /* the step is a return: `frame` has ended */
    /* the step called (or jumped into) code that was not stepped; the next step is after its
     * return */
    ARGUS_STEP_SKIP = 3,
    ARGUS_STEP_SIGNAL = 4, /* a signal was delivered after the step; its handler was not stepped */
};

struct argus_step_event {
    uint32_t step; /* the step after which it happened; non-decreasing */
    /* CALL: the new frame; RETURN: the frame that ended; otherwise: the current frame; or
     * ARGUS_NONE */
    uint32_t frame;
    uint8_t kind;  /* enum argus_step_event_kind */
    bool returned; /* SKIP: the call returned, and `value` is valid */
    /* CALL, SKIP: of the function; SIGNAL: the signal's number; RETURN: the return address */
    uint64_t address;
    uint64_t arguments[6]; /* CALL, SKIP: the six integer argument registers */
    uint64_t value;        /* RETURN, SKIP: rax or x0 afterwards */
};

/* A call that had not returned. Stacks are chains of these, innermost first. */
struct argus_step_frame {
    uint64_t return_address; /* in the caller */
    /* address of its first instruction; 0: unknown, since it began before the trace */
    uint64_t function;
    uint32_t caller; /* the caller's frame, a smaller ID; ARGUS_NONE: the outermost known frame */
};

struct argus_steps;

/* Opens `path` and checks all of it. Errors that name the offset: not an Argus step file, damaged,
 * a newer version. */
struct argus_error *argus_steps_open(const char *path, struct argus_steps **ret);
void argus_steps_close(struct argus_steps *steps);

const struct argus_steps_about *argus_steps_about(const struct argus_steps *steps);
const char *argus_steps_path(const struct argus_steps *steps);
enum argus_step_end argus_steps_end(const struct argus_steps *steps);
/* one sentence; "" if the file was cut off */
const char *argus_steps_end_text(const struct argus_steps *steps);
uint64_t argus_steps_elapsed_ns(const struct argus_steps *steps); /* 0: unknown */

/* Arrays are borrowed; each function returns the number of elements. */
size_t argus_steps_pcs(const struct argus_steps *steps, const uint64_t **ret); /* by step */
size_t argus_steps_events(const struct argus_steps *steps, const struct argus_step_event **ret);
size_t argus_steps_frames(const struct argus_steps *steps, const struct argus_step_frame **ret);
size_t argus_steps_images(const struct argus_steps *steps, const struct argus_step_image **ret);

/* The frame (with its callers) in which the first step was executed; ARGUS_NONE: unknown. */
uint32_t argus_steps_first_frame(const struct argus_steps *steps);

/* The image that covers `address`, or ARGUS_NONE. */
uint32_t argus_steps_image_of(const struct argus_steps *steps, uint64_t address);

/* The registers before the instruction of `step` was executed. False: they were not recorded. */
bool argus_steps_registers(struct argus_steps *steps, uint32_t step,
                           uint64_t ret[ARGUS_STEP_REGISTERS]);

/* Copies the code at `address`: at most `room` bytes, as far as the file has them without a gap.
 * Returns their number. */
size_t argus_steps_code(const struct argus_steps *steps, uint64_t address, size_t room,
                        uint8_t *ret);

/* --- writing ---
 *
 * Steps are written in chunks of a few thousand. What was written before a failure stays readable.
 * A writer belongs to one thread. */

struct argus_steps_writer;

/* Writes a new file to `fd`, which is borrowed, empty and seekable. */
struct argus_error *argus_steps_writer_create(int fd, const struct argus_steps_about *about,
                                              struct argus_steps_writer **ret);
/* The same, into `output`, which is copied; its context is borrowed. */
struct argus_error *argus_steps_writer_create_into(const struct argus_output *output,
                                                   const struct argus_steps_about *about,
                                                   struct argus_steps_writer **ret);
/* Adds a step. The registers are those before its instruction, as many as the architecture has;
 * NULL: not recorded. */
struct argus_error *argus_steps_writer_step(struct argus_steps_writer *writer, uint64_t pc,
                                            const uint64_t *registers);
/* Adds an image. In ascending order, all before argus_steps_writer_end(). */
struct argus_error *argus_steps_writer_image(struct argus_steps_writer *writer,
                                             const struct argus_step_image *image);
/* Adds code. Pieces must not overlap, may come in any order, and have at most 65536 bytes. */
struct argus_error *argus_steps_writer_code(struct argus_steps_writer *writer, uint64_t address,
                                            const uint8_t *code, size_t bytes);
struct argus_error *argus_steps_writer_frame(struct argus_steps_writer *writer,
                                             const struct argus_step_frame *frame, uint32_t *ret);
/* Sets the frame of the first step. */
void argus_steps_writer_first_frame(struct argus_steps_writer *writer, uint32_t frame);
struct argus_error *argus_steps_writer_event(struct argus_steps_writer *writer,
                                             const struct argus_step_event *event);
/* The number of steps written. */
uint32_t argus_steps_writer_count(const struct argus_steps_writer *writer);
/* Writes what is buffered, and the reason for the end. */
struct argus_error *argus_steps_writer_end(struct argus_steps_writer *writer,
                                           enum argus_step_end end, const char *text,
                                           uint64_t elapsed_ns);
/* Frees the writer; its file stays open. */
void argus_steps_writer_destroy(struct argus_steps_writer *writer);

#ifdef __cplusplus
}
#endif
#endif
