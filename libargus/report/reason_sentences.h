/* The sentences of reasons, a row each. */
#ifndef ARGUS_REPORT_REASON_SENTENCES_H
#define ARGUS_REPORT_REASON_SENTENCES_H

#include "argus/diagnosis_reason.h"

/* A sentence without its end, or a clause. Words in braces are fields: reason_words.c. */
const char *reason_sentence(enum argus_reason_kind kind);

#endif
