/* The programs that run inside the kernel, all in one object. linux/programs.c lists them and says
 * what is lost when the running kernel lacks the tracepoint of one.
 */
#include "block.h"
#include "flag.h"
#include "interrupt.h"
#include "lasting.h"
#include "memory.h"
#include "message_socket.h"
#include "probe.h"
#include "process.h"
#include "sample.h"
#include "scheduler.h"
#include "signal.h"
#include "syscall.h"
#include "timer_wheel.h"
#include "work.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";
