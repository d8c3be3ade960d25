/* What the file of a PHP without threads (NTS) exports. */
#ifndef ARGUS_PLUGIN_INTERPRETER_PHP_H
#define ARGUS_PLUGIN_INTERPRETER_PHP_H

#include <stdbool.h>
#include <stdint.h>

/* Addresses in the file's address space. */
struct interpreter_php {
    uint64_t globals;  /* the variable that leads to the frames */
    uint64_t function; /* the function that interprets */
};

/* Whether the file at `path` has PHP with this version of the engine (ZEND_EXTENSION_API_NO). */
bool interpreter_php_find(const char *path, uint32_t version, struct interpreter_php *ret);

#endif
