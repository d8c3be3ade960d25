/* The table of the calls of 32-bit programs (linux/compat_calls.def), against the kernel's own lists of numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <sys/syscall.h>

#include "linux/load/compat_calls.h"

/* Numbers of i386 (asm/unistd_32.h), where names and numbers differ most. */
static const struct {
    uint16_t number, native, form;
} rows[] = {
#ifdef __x86_64__
    {3, SYS_read, 0},
    {11, SYS_execve, 0},
    {82, SYS_select, COMPAT_IN_MEMORY},
    {119, SYS_rt_sigreturn, 0},
    {142, SYS_select, 0},
    {168, SYS_poll, 0},
    {192, SYS_mmap, 0},
    {240, SYS_futex, 0},
    {256, SYS_epoll_wait, 0},
    {407, SYS_clock_nanosleep, 0},
    {413, SYS_pselect6, 0},
    {414, SYS_ppoll, 0},
    {422, SYS_futex, 0},
    {435, 435, 0}, /* clone3 */
#endif
    {17, UINT16_MAX, 0}, /* break: there is none */
};

static void test_calls(void **state)
{
    (void)state;
    static struct bpf_settings settings;
    compat_calls_fill(&settings);
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        uint16_t wanted = (uint16_t)(rows[i].native + 1) | rows[i].form;
        assert_int_equal(settings.compat_calls[rows[i].number], wanted);
    }
}

static void test_parts(void **state)
{
    (void)state;
#ifdef __x86_64__
    static struct bpf_settings settings;
    compat_calls_fill(&settings);
    assert_int_equal(settings.compat_calls[102], COMPAT_SOCKETCALL | 1);
    assert_int_equal(settings.compat_calls[117], COMPAT_IPC | 1);
    assert_int_equal(settings.compat_sockets[9], SYS_sendto + 1);    /* send() */
    assert_int_equal(settings.compat_sockets[10], SYS_recvfrom + 1); /* recv() */
    assert_int_equal(settings.compat_sockets[17], SYS_recvmsg + 1);
    assert_int_equal(settings.compat_ipc[1], SYS_semop + 1);
    assert_int_equal(settings.compat_ipc[12], SYS_msgrcv + 1);
    assert_int_equal(settings.compat_ipc[0], 0);
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calls),
        cmocka_unit_test(test_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
