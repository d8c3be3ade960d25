/* A libuv loop with a timer. The timer's callback queues work for the thread pool, whose result
 * comes back to the loop. */
#include <uv.h>

#include "use_cpu.h"

static void do_pool_work(uv_work_t *request)
{
    (void)request;
    work(20);
}

static void do_after_work(uv_work_t *request, int status)
{
    (void)request, (void)status;
    work(10);
    say("done");
}

static void do_timer_work(uv_timer_t *timer)
{
    static uv_work_t request;
    work(20);
    say("timer");
    uv_queue_work(timer->loop, &request, do_pool_work, do_after_work);
}

int main(void)
{
    uv_loop_t loop;
    uv_timer_t timer;
    uv_loop_init(&loop);
    uv_timer_init(&loop, &timer);
    say("ready");
    uv_timer_start(&timer, do_timer_work, 200, 0);
    uv_run(&loop, UV_RUN_DEFAULT);
    uv_close((uv_handle_t *)&timer, NULL);
    uv_run(&loop, UV_RUN_DEFAULT);
    return uv_loop_close(&loop);
}
