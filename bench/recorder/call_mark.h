/* The second argument of every call of call_loops, by which check_calls recognizes them. */
#ifndef ARGUS_BENCH_CALL_MARK_H
#define ARGUS_BENCH_CALL_MARK_H

#define CALL_MARK 0x4172677573ull

#endif
