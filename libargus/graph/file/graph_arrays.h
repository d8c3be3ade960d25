/* A graph as the arrays of its file (graph_arrays.def), and the structure of that file.
 *
 * The arrays are written as they are in memory: a saved graph is a cache for the machine and the
 * build that wrote it. A pointer to a text is stored as the text's offset in `texts`. The arrays
 * contain no other pointers.
 *
 * The file is a struct graph_file_header and the arrays, each aligned to GRAPH_FILE_ALIGN. The
 * header has a checksum of itself and one of each array.
 */
#ifndef ARGUS_GRAPH_GRAPH_ARRAYS_H
#define ARGUS_GRAPH_GRAPH_ARRAYS_H

#include "argus/graph_file.h"
#include "graph/graph_data.h"

enum graph_array_id {
#define ARRAY(name, type) GRAPH_ARRAY_##name,
#include "graph/file/graph_arrays.def"
#undef ARRAY
    GRAPH_ARRAYS
};

struct graph_summary {
    uint64_t start_ns, end_ns;
    uint64_t damaged_chunks;
    struct argus_message_counts messages;
};

/* One array of any element type. */
struct graph_array {
    const void *data;
    size_t count;
};

struct graph_arrays {
    union {
        struct graph_array all[GRAPH_ARRAYS];
        struct {
#define ARRAY(name, type)                                                                          \
    struct {                                                                                       \
        const type *data;                                                                          \
        size_t count;                                                                              \
    } name;
#include "graph/file/graph_arrays.def"
#undef ARRAY
        };
    };
};

extern const size_t graph_array_bytes[GRAPH_ARRAYS]; /* of an element */
extern const char *const graph_array_names[GRAPH_ARRAYS];

/* --- the file --- */

#define GRAPH_FILE_MAGIC "ARGUSGRF"
#define GRAPH_FILE_ALIGN 4096u

struct graph_file_array {
    uint64_t offset_bytes, count, element_bytes;
    uint64_t checksum; /* graph_array_checksum() */
};

struct graph_file_header {
    char magic[8];
    uint64_t sources;  /* GRAPH_SOURCE_HASH of the build that wrote it */
    uint64_t trace;    /* argus_trace_identity() */
    uint64_t rule_set; /* identity of the user's rules; 0: none */
    uint64_t file_bytes;
    struct graph_file_array arrays[GRAPH_ARRAYS];
    uint64_t checksum; /* hash64() of everything before it */
};

/* Checksums are made of blocks of elements, so that several threads can check one array. */
#define GRAPH_BLOCK_ELEMENTS 16384u
static inline size_t graph_array_blocks(size_t count)
{
    return (count + GRAPH_BLOCK_ELEMENTS - 1) / GRAPH_BLOCK_ELEMENTS;
}
/* The checksum of the elements of one block. The checksum of an array is the sum over its
 * blocks. */
uint64_t graph_block_checksum(const struct graph_array *array, size_t element_bytes, size_t block);

/* The identity of the options' rules, as the header stores it. */
uint64_t graph_rule_set_identity(const struct argus_graph_options *options);
/* Returns GRAPH_SOURCE_HASH. */
uint64_t graph_source_hash(void);

/* --- conversion: graph_arrays.c --- */

/* Memory that graph_arrays_of() allocated and that the arrays point to. */
struct graph_packed {
    struct graph_summary summary;
    uint64_t *rules;                 /* owned: how often each rule applied */
    struct argus_process *processes; /* owned */
    struct argus_thread *threads;    /* owned */
    uint64_t *stacks;                /* owned */
    VEC(char) texts;
};

/* Makes the arrays of a graph; they borrow those of the graph itself. False without memory. */
bool graph_arrays_of(const struct argus_graph *graph, struct graph_packed *packed,
                     struct graph_arrays *ret);
void graph_packed_deinit(struct graph_packed *packed);

/* Gives the arrays, which must have been checked and must outlive it, to an empty graph with
 * `trace` set. False without memory. */
bool graph_arrays_take(const struct graph_arrays *arrays, struct argus_graph *graph);

/* --- checks of a file's content: graph_valid.c --- */

/* The first invalid element between `from` and `to` of an array; `to` if all are valid. */
size_t graph_array_fault(const struct graph_arrays *arrays, enum graph_array_id id, size_t from,
                         size_t to);
/* What is wrong with the lengths of the arrays; NULL: nothing. To be called before other checks. */
const char *graph_counts_fault(const struct graph_arrays *arrays);

#endif
