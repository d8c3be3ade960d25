/* A walk on a made-up Mac, and what its answer is asked for. */
#ifndef ARGUS_TESTS_WHY_ON_MAC_H
#define ARGUS_TESTS_WHY_ON_MAC_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "argus/live.h"
#include "report/live_words.h"
#include "simulated_mac.h"

enum { SEND = 1, RECEIVE = 2, LOCK = 0x50000 };

extern struct argus_live *live;
extern struct argus_live_answer answer;
extern char summary[2 * LIVE_TEXT_BYTES];

/* Walks from this process. */
void why(const char *word);
/* Before and after each test. */
int begin(void **state);
int end(void **state);

/* Step `index` is of this thread and process, waits for this kind, and leads on by this link. */
void assert_step(size_t index, uint32_t pid, uint32_t tid, enum argus_live_kind kind,
                 enum argus_live_link link, bool is_guess);
void assert_end(size_t steps, enum argus_live_end expected);
/* The first sentences have these words. */
void assert_says(const char *words);

/* mach_msg2_trap(data, options, bits and size, remote and local port, voucher and ID, descriptors and
 * receive name). */
void wait_for_message(struct mac_thread *thread, uint32_t options, uint32_t remote,
                      uint32_t receive);
/* A process whose main thread asks the port `object`; its own reply port is `reply`. */
void add_client(uint32_t pid, const char *name, uint32_t object, uint32_t reply);

#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, begin, end)

#endif
