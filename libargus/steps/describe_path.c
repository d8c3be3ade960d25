/* Describes the parts of a pointer path in words. */
#include "steps/describe_path.h"

const char *describe_offsets(struct describer *describer, const struct pointer_path *path,
                             const char *root)
{
    const char *text = root;
    for (uint32_t i = 0; i < path->links; i++)
        text = describe_text(
            describer, "%s->%s0x%llx", text, path->offsets[i] < 0 ? "-" : "",
            (unsigned long long)(path->offsets[i] < 0 ? -path->offsets[i] : path->offsets[i]));
    return text;
}

const char *describe_register_name(const struct describer *describer, unsigned number)
{
    bool arm64 = instruction_decoder_machine(describer->run->decoder) == INSTRUCTION_ARM64;
    bool is_general = number < (arm64 ? ARGUS_ARM64_PC : ARGUS_X86_RIP);
    return is_general
               ? argus_step_register_name(arm64 ? ARGUS_ARCH_AARCH64 : ARGUS_ARCH_X86_64, number)
               : "?";
}

/* The number of the argument passed in a register, from 1; 0: none. */
static unsigned argument_of(const struct describer *describer, unsigned number)
{
    static const uint8_t x86[] = {REGISTER_RDI, REGISTER_RSI, REGISTER_RDX,
                                  REGISTER_RCX, REGISTER_R8,  REGISTER_R9};
    if (instruction_decoder_machine(describer->run->decoder) == INSTRUCTION_ARM64)
        return number < 8 ? number + 1 : 0;
    for (unsigned i = 0; i < sizeof(x86); i++)
        if (x86[i] == number)
            return i + 1;
    return 0;
}

const char *describe_register(struct describer *describer, unsigned number)
{
    const struct run *run = describer->run;
    bool begins = argus_steps_about(run->steps)->begin == ARGUS_STEP_BEGIN_PLACE;
    unsigned argument = begins ? argument_of(describer, number) : 0;
    if (argument)
        return describe_text(
            describer, "in an object that argument %u of %s (register %s) leads to", argument,
            describe_function(describer, run->pcs[0]), describe_register_name(describer, number));
    return describe_text(describer, "in an object to which register %s led when the trace began",
                         describe_register_name(describer, number));
}

const char *describe_skipped(struct describer *describer, uint32_t step)
{
    const struct argus_step_event *events;
    uint32_t event = describer->run->skip_of[step];
    argus_steps_events(describer->run->steps, &events);
    return describe_function(describer, events[event].address);
}
