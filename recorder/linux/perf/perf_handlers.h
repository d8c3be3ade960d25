/* The handlers named in perf_rows.c: each makes records from a sample, whose fields are where the
 * row says. */
#ifndef ARGUS_RECORDER_LINUX_PERF_HANDLERS_H
#define ARGUS_RECORDER_LINUX_PERF_HANDLERS_H

#include "linux/perf/perf_translate.h"

/* perf_on_thread.c */
void perf_on_switch(const struct translation *now);
void perf_on_waking(const struct translation *now);
void perf_on_wakeup_new(const struct translation *now);
void perf_on_sample(const struct translation *now);
void perf_on_sys_enter(const struct translation *now);
void perf_on_sys_exit(const struct translation *now);
void perf_on_new_task(const struct translation *now);
void perf_on_exec(const struct translation *now);
void perf_on_exit(const struct translation *now);
void perf_on_rename(const struct translation *now);

/* perf_on_machine.c */
void perf_on_irq_entry(const struct translation *now);
void perf_on_irq_exit(const struct translation *now);
void perf_on_softirq_entry(const struct translation *now);
void perf_on_softirq_exit(const struct translation *now);
void perf_on_timer_start(const struct translation *now);
void perf_on_timer_cancel(const struct translation *now);
void perf_on_timer_expire(const struct translation *now);
void perf_on_timer_expired(const struct translation *now);
void perf_on_wheel_start(const struct translation *now);
void perf_on_wheel_cancel(const struct translation *now);
void perf_on_wheel_expire(const struct translation *now);
void perf_on_wheel_expired(const struct translation *now);
void perf_on_itimer_set(const struct translation *now);
void perf_on_itimer_expire(const struct translation *now);
void perf_on_work_queued(const struct translation *now);
void perf_on_work_start(const struct translation *now);
void perf_on_work_end(const struct translation *now);
void perf_on_block_issue(const struct translation *now);
void perf_on_block_complete(const struct translation *now);
void perf_on_signal_generate(const struct translation *now);
void perf_on_signal_deliver(const struct translation *now);

#endif
