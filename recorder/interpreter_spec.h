/* An interpreter, as numbers only: what the front end sends, and what the BPF programs
 * (linux/bpf/interpreter.h) follow when they copy the stack of a thread that runs it. The C stack
 * shows which of the interpreter's own functions run. The functions of the interpreted program have
 * their frames on the heap.
 *
 * Included by BPF programs too, so it uses only fixed-width types, which each includer defines
 * first. No hidden padding.
 */
#ifndef ARGUS_RECORDER_INTERPRETER_SPEC_H
#define ARGUS_RECORDER_INTERPRETER_SPEC_H

#define INTERPRETER_LIMIT 16 /* files in one recording */

/* How an interpreter keeps its frames; the walk for each kind is recorder/linux/interpreter_walk.h,
 * zend_walk.h or yarv_walk.h. */
enum interpreter_kind {
    INTERPRETER_CPYTHON = 0,
    INTERPRETER_ZEND = 1, /* of PHP */
    INTERPRETER_YARV = 2, /* of Ruby */
    INTERPRETER_KINDS,
};

/* Offsets in bytes, of one version. argus/interpreter_layouts.def has a row for each. */
struct interpreter_layout {
    uint16_t kind;            /* enum interpreter_kind */
    uint16_t main;            /* in the runtime: the main interpreter */
    uint16_t threads;         /* in an interpreter: its first thread state … */
    uint16_t next;            /* … in which: the next one, */
    uint16_t thread_id;       /* what pthread_self() says, */
    uint16_t frame;           /* and the innermost frame, or what holds it: */
    uint16_t has_holder;      /* 1: a struct on the C stack of the function that interprets, */
    uint16_t holder_frame;    /* in which: the innermost frame, */
    uint16_t holder_previous; /* and the same struct of the outer call */
    uint16_t code;            /* in a frame: the code object, */
    uint16_t instruction;     /* the address of the instruction, */
    uint16_t previous;        /* the caller's frame, */
    uint16_t mark;            /* and a byte: the value `outermost` says */
    uint16_t outermost;       /* that it is the outermost one of a call of the C function, */
    uint16_t is_shim;         /* 1: and no function's, but itself on the C stack */
    uint16_t units;           /* in a code object: number of instructions of 2 bytes, */
    uint16_t line;            /* its first line, */
    uint16_t texts;           /* file, name, qualified name and table of lines: 4 pointers, */
    uint16_t instructions;    /* and the instructions themselves */
    uint16_t type;            /* in any object: its type */
    uint16_t length;          /* in a text or bytes object */
    uint16_t text_state;      /* in a text object: a word of 4 bytes … */
    uint16_t text_mask;       /* … in which these bits are set if it is plain ASCII */
    uint16_t text_bytes;      /* … which begins here */
    uint16_t table_bytes;     /* in a bytes object: where they begin */
    /* INTERPRETER_ZEND: `main` leads from the runtime to the innermost frame. In a frame are code,
     * instruction, previous and mark as above; in a text are length and text_bytes. `outermost`
     * has the bits of the mark that say so. */
    uint16_t name;             /* in a code object: type (a byte), units, line, its name, */
    uint16_t scope;            /* the class, */
    uint16_t file;             /* the file, */
    uint16_t code_start;       /* and a pointer to the instructions */
    uint16_t scope_name;       /* in a class */
    uint16_t instruction_line; /* in an instruction */
    /* INTERPRETER_YARV: the runtime is a pointer to the machine, in which `main` is the main
     * ractor; `threads` is the head of its list. In this head and in a thread, `next` is the thread
     * before (the list has two directions; the newest thread is the last one). In a thread, frame
     * (the execution context) is as above, and thread_id, if `native` is 0. holder_frame: in the
     * context, the innermost frame, in which code, instruction and mark are as above (the mark's
     * address is there); `previous` is the size of a frame; is_shim has the bits of the mark for
     * functions in C. units, line, name, file and code_start are in the body of a code object. A
     * text inside its object begins at text_bytes; its length is in the first word, from bit
     * text_state with text_mask; no mask: at `length`. */
    uint16_t native;     /* in a thread: the system's thread, in which thread_id is */
    uint16_t line_shift; /* of the first line: 1: it is an integer of Ruby */
    uint16_t line_rows;  /* in the body: the table of lines, */
    uint16_t line_count; /* how many rows it has, */
    uint16_t line_index; /* and which row an instruction has */
    uint16_t line_bytes; /* of a row */
    uint16_t padding[3];
};

/* Addresses are relative to the start of the image's mapped code, and may be negative. */
struct interpreter_spec {
    uint64_t runtime, code_type, text_type, bytes_type;
    uint64_t function;    /* ZEND and YARV: the C function that interprets */
    uint64_t code_offset; /* of the image's code in its file */
    struct interpreter_layout layout;
    uint8_t build_id[20];
    uint32_t build_id_bytes; /* 0: it has none */
    char image[400];         /* path */
};

#endif
