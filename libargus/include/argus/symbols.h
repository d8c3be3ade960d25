/* Maps addresses to functions: by the names that the trace contains, else by process, image and
 * build ID, from ELF symbols and DWARF lines (libdw).
 *
 * Only argus_symbols_show() may use the network, and only if argus_symbols_allow_fetch() was
 * called. A file whose build ID differs from the trace's is not used: the result is then
 * image+offset with `stale` set. An object belongs to one thread, because it caches.
 */
#ifndef ARGUS_SYMBOLS_H
#define ARGUS_SYMBOLS_H

#include "argus/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

struct argus_symbols;

struct argus_symbol {
    const char *function; /* demangled; NULL: no symbol covers the address */
    const char *image;    /* path or "[kernel]"; NULL: no image covers the address */
    const char *file;     /* source file; NULL: no line information */
    uint32_t line;
    uint64_t offset; /* into the function, or into the image's file if function is NULL */
    bool stale;      /* the file on disk is not the one that was executed */
    bool is_inlined; /* into the next function at the same address */
    uint8_t lack;    /* enum argus_lack: why `function` is NULL */
};

/* The functions at one address: those that the compiler inlined there, innermost first, then the
 * one that covers the address. `file` and `line` are where each one was at that moment: for all but
 * the first, the call that was replaced. */
#define ARGUS_FUNCTIONS_AT_MOST 33
struct argus_functions {
    struct argus_symbol symbols[ARGUS_FUNCTIONS_AT_MOST];
    uint32_t count; /* at least 1 */
};

/* The frames that an answer shows, each counted once, without kernel frames. */
struct argus_shown_frames {
    uint64_t frames;               /* all of them */
    uint64_t unnamed[ARGUS_LACKS]; /* those without a function, by reason */
};

struct argus_error *argus_symbols_create(const struct argus_graph *graph,
                                         struct argus_symbols **ret);
void argus_symbols_destroy(struct argus_symbols *symbols);

/* The symbol of `address` in `process` (index) at `time_ns`. Kernel addresses need no process.
 * `is_return`: the address is a return address, so the call before it is looked up. Strings are
 * borrowed from `symbols`. */
struct argus_symbol argus_symbols_find(struct argus_symbols *symbols, uint32_t process,
                                       uint64_t time_ns, uint64_t address, bool is_return);

/* The same for a frame that an answer shows: if neither the trace nor this machine knows its name,
 * debuginfod servers are asked. They are never asked while a graph is built or vertices are
 * compared, so no result depends on a server. */
struct argus_symbol argus_symbols_show(struct argus_symbols *symbols, uint32_t process,
                                       uint64_t time_ns, uint64_t address, bool is_return);

/* The same as argus_symbols_find() and argus_symbols_show(), with the functions that were inlined
 * at the address. argus_symbols_find_all() opens no file for an address that the trace names. */
void argus_symbols_find_all(struct argus_symbols *symbols, uint32_t process, uint64_t time_ns,
                            uint64_t address, bool is_return, struct argus_functions *ret);
void argus_symbols_show_all(struct argus_symbols *symbols, uint32_t process, uint64_t time_ns,
                            uint64_t address, bool is_return, struct argus_functions *ret);

/* Which function an answer names for an address: diagnose, report, contexts, Perfetto files and
 * JSON agree, because all of them ask these two functions.
 *
 * An inlined function is named like one that is called, if its source is below the same two folders
 * as that of the function that contains it: the program's own code, but not a container of C++'s
 * library. argus_functions_keep_named() removes the others; the calls that they replaced are then
 * the places of the functions that remain. Lists of all frames (report_stack()) keep them.
 *
 * argus_symbols_named() returns the innermost function first; the last one covers the address.
 * Servers are only asked for the name and the line of the last one: so whether an inlined function
 * is named does not depend on them.
 *
 * The function that covers the address (argus_symbols_find(), argus_symbols_function()) is used
 * where code is meant instead of source:
 *   - code that is read, and its ranges: where a loop and the writers of a variable are looked for,
 *     which threads ran them (their places are named as here), where instruction steps begin;
 *   - addresses at which a function begins: callbacks;
 *   - what is compared between files, of which only one may have debug information: signatures of
 *     hangs, likeness of vertices, rarity of functions;
 *   - rules and patterns, and the places for which a rule is proposed, since a probe needs code of
 *     its own. */
void argus_functions_keep_named(struct argus_functions *functions);
void argus_symbols_named(struct argus_symbols *symbols, uint32_t process, uint64_t time_ns,
                         uint64_t address, bool is_return, struct argus_functions *ret);

/* Whether the function was interpreted, or compiled at run time from a source file. The code of
 * such a function is in no mapped file. */
bool argus_symbol_is_script(const struct argus_symbol *symbol);
/* Whether a script's source file is part of its language or an installed library: its path contains
 * a folder lib. */
bool argus_source_is_library(const char *source);
/* The frame of a script in `stack` to look at first: the innermost frame outside libraries, else
 * the innermost one. Returns its index and writes its symbol to `ret`; ARGUS_NONE: there is none.
 * `symbols` may be NULL. */
uint32_t argus_symbols_script(struct argus_symbols *symbols, uint32_t process, uint64_t time_ns,
                              struct argus_stack stack, struct argus_symbol *ret);

/* Allows argus_symbols_show() to fetch files if DEBUGINFOD_URLS names servers. `progress` may be
 * NULL. If it returns false, fetching stops until argus_symbols_forget_shown(), which also resets
 * the time limit for the next answer. */
void argus_symbols_allow_fetch(struct argus_symbols *symbols, argus_progress progress,
                               void *context);
void argus_symbols_fetched(const struct argus_symbols *symbols, struct argus_fetched *ret);

/* Returns how many of the first frames of `stack` lie in code that `process` had mapped at
 * `time_ns`. The frames after them come from following frame pointers through code that has none.
 * Returns the whole count if not even the innermost frame is known, and for a Mac, whose images may
 * be unknown. */
uint32_t argus_symbols_known(const struct argus_symbols *symbols, uint32_t process,
                             uint64_t time_ns, struct argus_stack stack);

/* Only the function, or only the path of the image ("[kernel]"). Cheaper than argus_symbols_find():
 * no source line is looked up, and for the image no file is opened. NULL: unknown. */
const char *argus_symbols_function(struct argus_symbols *symbols, uint32_t process,
                                   uint64_t time_ns, uint64_t address, bool is_return);
const char *argus_symbols_image(struct argus_symbols *symbols, uint32_t process, uint64_t time_ns,
                                uint64_t address, bool is_return);

/* The start of a function without a name, as an offset in its file; identifies the function by any
 * of its addresses. False: the file does not tell either. */
bool argus_symbols_start(struct argus_symbols *symbols, uint32_t process, uint64_t time_ns,
                         uint64_t address, bool is_return, uint64_t *ret);

/* The mapping that contains `address`, borrowed from the trace, and the address's offset in the
 * mapping's file. NULL: unknown. */
const struct argus_image_entry *argus_symbols_mapping(const struct argus_symbols *symbols,
                                                      uint32_t process, uint64_t time_ns,
                                                      uint64_t address, uint64_t *ret_offset);

/* The name of the variable at `address`, borrowed; NULL: unknown. The trace only tells where code
 * is mapped, so the variable is looked up in the file whose code precedes it by at most 64 MB. */
const char *argus_symbols_variable(struct argus_symbols *symbols, uint32_t process,
                                   uint64_t time_ns, uint64_t address);

/* The function called by the direct call before the return address `address`. NULL: the call is
 * indirect, or goes through a table of another library, or is unknown. Stacks that were walked by
 * frame pointers lack one function if the innermost code has no frame pointer (most C libraries):
 * the function that called that code. It is the function that the call at frame 1 calls. */
const char *argus_symbols_called(struct argus_symbols *symbols, uint32_t process, uint64_t time_ns,
                                 uint64_t address);

/* Lets an answer report how many of its frames have no function: records a frame that is shown, and
 * what was found about it. */
void argus_symbols_note(struct argus_symbols *symbols, uint32_t process, uint64_t address,
                        bool is_return, const struct argus_symbol *symbol);
void argus_symbols_shown(const struct argus_symbols *symbols, struct argus_shown_frames *ret);
/* Begins another answer; that includes what allows fetching again. */
void argus_symbols_forget_shown(struct argus_symbols *symbols);
/* Begins another report of the same answer. */
void argus_symbols_forget_frames(struct argus_symbols *symbols);
/* "its file is gone"; static. */
const char *argus_lack_text(enum argus_lack lack);

/* "function", or "image+0x1234", or "0x7f…", as shown to a person; into `buffer`. */
const char *argus_symbol_text(const struct argus_symbol *symbol, uint64_t address, char *buffer,
                              size_t buffer_bytes);
/* The same, but all addresses of a function have one text: a function without a name is written
 * with its start (argus_symbols_start()) if that is known. */
const char *argus_symbols_function_text(struct argus_symbols *symbols, uint32_t process,
                                        uint64_t time_ns, uint64_t address, bool is_return,
                                        const struct argus_symbol *symbol, char *buffer,
                                        size_t buffer_bytes);

#ifdef __cplusplus
}
#endif
#endif
