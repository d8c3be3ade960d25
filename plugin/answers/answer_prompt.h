/* One question at a terminal. */
#ifndef ARGUS_PLUGIN_ANSWER_PROMPT_H
#define ARGUS_PLUGIN_ANSWER_PROMPT_H

#include "argus/question.h"
#include "plugin/analysis.h"

/* Besides an answer of argus/question.h: back to the question before. */
#define ANSWER_BACK (-101)

/* Asks until the answer is one. `may_go_back`: there is a question before this one. Ctrl-C and the end of input are
 * ARGUS_ANSWER_OPEN. */
int answer_prompt(const struct analysis *analysis, const struct argus_question *question,
                  bool may_go_back);

#endif
