/* Asks one question at a terminal. */
#ifndef ARGUS_PLUGIN_ANSWER_PROMPT_H
#define ARGUS_PLUGIN_ANSWER_PROMPT_H

#include "argus/question.h"
#include "plugin/analysis.h"

/* In addition to the answers of argus/question.h: go back to the previous question. */
#define ANSWER_BACK (-101)

/* Asks until the input is a valid answer. `may_go_back`: there is a previous question. Ctrl-C and
 * the end of input return ARGUS_ANSWER_OPEN. */
int answer_prompt(const struct analysis *analysis, const struct argus_question *question,
                  bool may_go_back);

#endif
