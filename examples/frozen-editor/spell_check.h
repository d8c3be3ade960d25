/* The editor's spell-check thread, which asks the spell server so that the window need not know about sockets. */
#ifndef EXAMPLE_SPELL_CHECK_H
#define EXAMPLE_SPELL_CHECK_H

#include <stdbool.h>

#include "message.h"

/* Starts the thread; `server_fd` is the connection to the spell server. */
void spell_check_start(int server_fd);

/* Hands a word to the thread and waits for the verdict. This wait is the freeze. */
bool spell_check_word(const struct word *word);

/* Ends the thread. */
void spell_check_stop(void);

#endif
