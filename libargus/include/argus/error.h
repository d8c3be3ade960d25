/* Errors are values: a function that can fail returns `struct argus_error *`, NULL meaning success.
 * The library never prints, exits or aborts: it runs inside the user's debugger.
 *
 * Ownership: the caller of a failing function owns the error, and destroys it with
 * argus_error_destroy() or returns it to its own caller. Out-parameters are untouched unless the
 * header says otherwise.
 */
#ifndef ARGUS_ERROR_H
#define ARGUS_ERROR_H

#ifdef __cplusplus
extern "C" {
#endif

/* What a caller can do about the error; the message says the rest. */
enum argus_error_code {
    ARGUS_ERROR_MEMORY, /* out of memory */
    ARGUS_ERROR_IO,     /* a system call on a file or socket failed */
    /* the bytes are not what the format requires; the message names file and offset */
    ARGUS_ERROR_FORMAT,
    ARGUS_ERROR_VERSION,     /* written by a newer Argus */
    ARGUS_ERROR_USAGE,       /* wrong use of a command or option: exit code 2 */
    ARGUS_ERROR_NOT_FOUND,   /* no such vertex, process, hang … in this trace */
    ARGUS_ERROR_PERMISSION,  /* root or a capability is missing */
    ARGUS_ERROR_UNSUPPORTED, /* this kernel or platform lacks a required feature */
    ARGUS_ERROR_BUSY,        /* in use by another recording, request or debugger; may end */
    ARGUS_ERROR_INTERRUPTED, /* Ctrl-C */
    ARGUS_ERROR_QUESTION,    /* a question could not be answered: exit code 3 */
};

struct argus_error {
    enum argus_error_code code;
    const char *message; /* one sentence, no newline, UTF-8; owned by the error */
};

/* Makes an error. Never returns NULL: without memory it returns a static out-of-memory error. */
struct argus_error *argus_error_create(enum argus_error_code code, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The same with ": <strerror(error_number)>" appended. The code is ARGUS_ERROR_IO, or _PERMISSION
 * for EPERM and EACCES. */
struct argus_error *argus_error_os(int error_number, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The static out-of-memory error; destroying it does nothing. */
struct argus_error *argus_error_memory(void);

/* Puts "<context>: " before the message. Takes ownership of `error`, which must not be NULL, and
 * returns it or its replacement. */
struct argus_error *argus_error_context(struct argus_error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Gives an error from argus_error_create() another message, from malloc(). Takes ownership of both,
 * and returns `error`. The static error keeps its own. */
struct argus_error *argus_error_replace(struct argus_error *error, char *message);

/* Frees `error`; NULL is fine. */
void argus_error_destroy(struct argus_error *error);

#ifdef __cplusplus
}
#endif
#endif
