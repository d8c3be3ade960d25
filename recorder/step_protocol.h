/* The protocol between the front end and the stepper (`argus-recorder step`). The stepper is a
 * separate process for two reasons: ptrace ties a traced thread to one thread of one process, which
 * must not be inside a debugger; and that process must survive to release the thread when the front
 * end is killed.
 *
 * The front end writes one request to its standard input, and keeps the pipe open as long as
 * stepping should continue. The stepper writes items to its standard output, each a header followed
 * by the number of bytes that it states. The last one is STEP_ITEM_END or STEP_ITEM_ERROR.
 *
 * The stepper may be root, so it reads no ELF file, and the only names it uses are paths in
 * /proc/PID/maps. The request names places by offsets in files.
 *
 * To add an item: a number and a struct here, and a row in plugin/steps/step_collect.c.
 */
#ifndef ARGUS_RECORDER_STEP_PROTOCOL_H
#define ARGUS_RECORDER_STEP_PROTOCOL_H

#include <stdint.h>

#define STEP_MAGIC          0x51535441u /* "ATSQ" */
#define STEP_VERSION        1u
#define STEP_PATH_BYTES     1024
#define STEP_PATTERN_BYTES  2048
#define STEP_REGISTERS_MOST 35 /* as in argus/steps.h */
#define STEP_CODE_BYTES     4096u
#define STEP_STACK_BYTES    65536u
#define STEP_ITEM_BYTES     (STEP_STACK_BYTES + 256u) /* the largest item */
#define STEP_MOST_STEPS     (16u << 20)

enum step_flags {
    STEP_FROM_ANYWHERE = 1 << 0, /* begin where the thread is, not at a place */
    STEP_UNTIL_RETURN = 1 << 1,  /* end when the function in which stepping began returns */
    /* The process is about to execute its program, which contains the places. */
    STEP_NEW_PROGRAM = 1 << 2,
    /* Begin at once in a thread that is already inside the function. */
    STEP_INSIDE_AS_WELL = 1 << 3,
    /* The place is in a library: begin where the thread returns from it. */
    STEP_OUT_OF_LIBRARY = 1 << 4,
};

/* A place in a mapped file, or an address. */
struct step_place {
    char path[STEP_PATH_BYTES]; /* "": `offset` is an address */
    uint64_t offset;
    uint64_t function_bytes; /* size of the function that begins there; 0: unknown */
};

struct step_request {
    uint32_t magic, version;
    uint32_t pid;
    uint32_t tid; /* 0: any thread of the process, or … */
    uint32_t flags;
    uint32_t most_steps;
    char comm[16];        /* … of this name; "": any */
    uint64_t arrive_ns;   /* how long to wait for a thread to arrive; 0: no limit */
    uint64_t duration_ns; /* how long to step; 0: no limit */
    struct step_place place;
    struct step_place wait; /* end at the call that returns here; path "" and offset 0: none */
    /* Patterns of paths, one a line: calls into these files are stepped over, … */
    char skip[STEP_PATTERN_BYTES];
    char into[STEP_PATTERN_BYTES]; /* … but into these are not */
};

enum step_item_kind {
    STEP_ITEM_WAITING = 1, /* struct step_item_waiting: breakpoints are set */
    STEP_ITEM_BEGIN = 2,   /* struct step_item_begin: a thread has arrived */
    STEP_ITEM_MAP = 3,     /* struct step_item_map, and the path */
    STEP_ITEM_STACK = 4,   /* struct step_item_stack, and the bytes */
    STEP_ITEM_CODE = 5,    /* uint64_t address, and the bytes */
    STEP_ITEM_STEP = 6,    /* uint64_t registers[], before the instruction */
    /* Struct step_item_event, follows the last step; the same for the next three. */
    STEP_ITEM_CALL = 7,
    STEP_ITEM_RETURN = 8,
    STEP_ITEM_SKIP = 9,
    STEP_ITEM_SIGNAL = 10,
    STEP_ITEM_END = 11,   /* struct step_item_end, and a sentence */
    STEP_ITEM_ERROR = 12, /* struct step_item_error, and a sentence */
};

struct step_item {
    uint32_t kind;  /* enum step_item_kind */
    uint32_t bytes; /* that follow this header */
};

struct step_item_waiting {
    uint64_t address;
    uint32_t threads;
    uint32_t weak; /* 1: with debug registers that only the stepper can clear */
};

struct step_item_begin {
    uint32_t pid, tid;
    uint64_t wall_ns;
    char comm[16];
    uint64_t address; /* of the place */
};

enum step_map_flags { STEP_MAP_EXECUTABLE = 1, STEP_MAP_WRITABLE = 2, STEP_MAP_STEPPED = 4 };

struct step_item_map {
    uint64_t start, end, file_offset;
    uint32_t flags;    /* enum step_map_flags */
    uint32_t is_first; /* 1: a new map begins; all earlier entries are invalid */
};

struct step_item_stack {
    uint64_t address; /* of the first byte, which is the stack pointer */
};

struct step_item_event {
    uint64_t address; /* CALL, SKIP: of the function; RETURN: its target; SIGNAL: its number */
    uint64_t return_address; /* CALL, SKIP */
    uint64_t stack_pointer;  /* CALL: in the function's first instruction; RETURN: after it */
    uint64_t value;          /* RETURN, SKIP */
    uint64_t arguments[6];   /* CALL, SKIP */
    uint32_t returned;       /* SKIP: 1: the call has returned */
    uint32_t padding;
};

/* The same numbers as enum argus_step_end. */
enum step_end {
    STEP_END_MOST = 1,
    STEP_END_RETURN = 2,
    STEP_END_WAIT = 3,
    STEP_END_TIME = 4,
    STEP_END_EXIT = 5,
    STEP_END_EXEC = 6,
    STEP_END_USER = 7,
    STEP_END_ERROR = 8,
};

struct step_item_end {
    uint32_t end; /* enum step_end */
    uint32_t padding;
    uint64_t elapsed_ns; /* of stepping */
};

struct step_item_error {
    uint32_t code; /* enum argus_error_code */
    uint32_t padding;
};

#endif
