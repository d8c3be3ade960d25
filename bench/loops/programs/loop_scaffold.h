/* A program that asks a worker for something and polls until it is done: three rounds that go well,
 * and one in which the worker waits for a lock for 2.5 s. Each shape (c_loops.c, cpp_loops.cpp) has
 * its own loop and its own variable. */
#ifndef LOOP_SCAFFOLD_H
#define LOOP_SCAFFOLD_H

#ifdef __cplusplus
extern "C" {
#endif

/* Of the shape. */
void prepare(void); /* once, before the worker exists */
void ask(void);     /* before each round */
void wait_until_done(void);
void finish_work(void); /* in the worker */

#ifdef __cplusplus
}
#endif
#endif
