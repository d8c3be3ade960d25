#include "why_on_mac.h"

#include <string.h>

struct argus_live *live;
struct argus_live_answer answer;
char summary[2 * LIVE_TEXT_BYTES];

void why(const char *word)
{
    uint32_t thread;
    assert_null(argus_live_open(&live));
    assert_null(argus_live_find(live, word, &thread));
    assert_null(argus_live_walk(live, thread, &answer));
    live_summary_text(live, &answer, summary, sizeof(summary));
}

int begin(void **state)
{
    (void)state;
    mac_begin();
    live = NULL;
    memset(&answer, 0, sizeof(answer));
    return 0;
}

int end(void **state)
{
    (void)state;
    if (live)
        argus_live_answer_deinit(&answer);
    argus_live_close(live);
    return 0;
}

void assert_step(size_t index, uint32_t pid, uint32_t tid, enum argus_live_kind kind,
                 enum argus_live_link link, bool is_guess)
{
    assert_in_range(index, 0, answer.step_count - 1);
    const struct argus_live_step *step = &answer.steps[index];
    const struct argus_live_thread *thread = argus_live_thread_at(live, step->thread);
    assert_int_equal(argus_live_process_at(live, thread->process)->pid, pid);
    assert_int_equal(thread->tid, tid);
    assert_string_equal(argus_live_kind_id(step->wait.kind), argus_live_kind_id(kind));
    assert_int_equal(step->link, link);
    assert_int_equal(step->is_guess, is_guess);
}

void assert_end(size_t steps, enum argus_live_end expected)
{
    assert_int_equal(answer.step_count, steps);
    assert_string_equal(argus_live_end_id(answer.end), argus_live_end_id(expected));
}

void assert_says(const char *words)
{
    if (!strstr(summary, words))
        fail_msg("\"%s\" is not in: %s", words, summary);
}

void wait_for_message(struct mac_thread *thread, uint32_t options, uint32_t remote,
                      uint32_t receive)
{
    MAC_WAIT(thread, "mach_msg2_trap", 0x16fdf0000, options, 0, (uint64_t)receive << 32 | remote, 0,
             (uint64_t)receive << 32);
}

void add_client(uint32_t pid, const char *name, uint32_t object, uint32_t reply)
{
    mac_add(pid, 1, name);
    wait_for_message(mac_add_thread(pid * 10, 0x103), SEND | RECEIVE, 0x2003, 0x707);
    mac_add_port(pid, 0x2003, MAC_PORT_SEND, object);
    mac_add_port(pid, 0x707, MAC_PORT_RECEIVE, reply);
}
