/* A library with the variable, the writer, or the loop. */
#ifndef LOOP_LIBRARY_H
#define LOOP_LIBRARY_H

extern volatile int library_is_done;
extern volatile int program_is_done; /* of the program */

void library_ask(void);
void library_finish(void);
int library_has_finished(void);
void library_wait(void);
void library_finish_program(void);
void library_wait_for(int (*is_done)(const void *context), const void *context);

#endif
