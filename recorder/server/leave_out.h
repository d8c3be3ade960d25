/* Keeps a recording below the cost that its user allows (--max-overhead): measures once a second
 * what it costs, and leaves out the categories that the policy chooses (overhead.h).
 *
 * The trace says when: a mark (ARGUS_ID_LEFT_OUT) before and after each change, of which the reader
 * forgets what it knew of such records, one that changes nothing where a trace begins meanwhile (a
 * snapshot, a ring file), and a note for each category, which commands show beside
 * their answers (libargus/event/gaps.def).
 */
#ifndef ARGUS_RECORDER_LEAVE_OUT_H
#define ARGUS_RECORDER_LEAVE_OUT_H

#include <stddef.h>
#include <stdint.h>

#include "argus/error.h"
#include "server/backend.h"
#include "server/overhead.h"

struct leave_out {
    struct overhead policy;
    uint32_t out;                      /* bits of categories */
    uint64_t since_ns[CATEGORY_COUNT]; /* the trace clock; 0: it was never out */
    uint64_t until_ns[CATEGORY_COUNT]; /* … if it is back */
    record_list marks; /* in the order of time; the caller removes what it needs no more */
    /* at the last look: */
    uint64_t looked_ns; /* 0: there was none */
    uint64_t own_ns, kernel_ns;
    uint64_t category_ns[CATEGORY_COUNT];
};

/* `limit` in 1/OVERHEAD_WHOLE, 0: none; `allowed`: bits of categories that may be left out. */
void leave_out_init(struct leave_out *leave_out, uint32_t limit, uint32_t allowed);
void leave_out_deinit(struct leave_out *leave_out);

/* Call it several times a second. `own_ns`: CPU time that the recorder's processes have used.
 * `*ret_added`: marks that are new at the end of leave_out->marks. */
struct argus_error *leave_out_look(struct leave_out *leave_out, struct backend *backend,
                                   uint64_t own_ns, size_t *ret_added);

/* Forgets the marks before `oldest_ns`, but for the last of them, which says what is out since
 * then. */
void leave_out_forget(struct leave_out *leave_out, uint64_t oldest_ns);
/* What was out at `time_ns`, as bits, by the marks that are kept. */
uint32_t leave_out_at(const struct leave_out *leave_out, uint64_t time_ns);

/* The sentence that a trace needs which begins at `from_ns` and lacks records of the category;
 * false: none is missing. */
bool leave_out_note(const struct leave_out *leave_out, enum category category, uint64_t from_ns,
                    char *ret, size_t room);

#endif
