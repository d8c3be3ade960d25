#include "plugin/lldb/packet_steps.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace
{

constexpr size_t MOST_BYTES = 512; /* of memory in one packet */

enum {
    MOST_REGISTERS = 64, /* that the stub is asked for */
    TRAP = 5,
    MOST_SIGNALS = 16,   /* before one instruction */
    MOST_OUTPUTS = 1024, /* of the process, before the answer to a step */
};

/* Sends a packet. Returns its answer, which lives until the next one; "" if there is none. LLDB
 * would keep each text that GetOutput() returns until it ends, so it writes into memory instead. */
const char *send(struct packet_steps *steps, const char *packet)
{
    static const char answer[] = "response: ";
    char command[128];
    lldb::SBCommandReturnObject result;
    snprintf(command, sizeof(command), "process plugin packet send %s", packet);
    rewind(steps->output);
    result.SetImmediateOutputFile(steps->output, false);
    steps->debugger.GetCommandInterpreter().HandleCommand(command, result, false);
    fputc('\0', steps->output);
    if (fflush(steps->output) != 0 || !result.Succeeded())
        return "";
    const char *found = strstr(steps->text, answer);
    return found ? found + sizeof(answer) - 1 : "";
}

/* The name in "name:rax;bitsize:64;…" is `name`. */
bool is_named(const char *answer, const char *name)
{
    size_t length = strlen(name);
    return strncmp(answer, "name:", 5) == 0 && strncmp(answer + 5, name, length) == 0 &&
           answer[5 + length] == ';';
}

/* Asks for the number of each register. */
bool find_numbers(struct packet_steps *steps)
{
    uint32_t found = 0, wanted = host_register_count();
    for (uint32_t i = 0; i < wanted; i++)
        steps->numbers[i] = -1;
    for (int32_t number = 0; number < MOST_REGISTERS && found < wanted; number++) {
        char packet[32];
        snprintf(packet, sizeof(packet), "qRegisterInfo%x", static_cast<unsigned>(number));
        const char *answer = send(steps, packet);
        for (uint32_t i = 0; i < wanted; i++) {
            if (steps->numbers[i] >= 0 || !is_named(answer, host_register_name_in_lldb(i)))
                continue;
            steps->numbers[i] = number;
            found++;
        }
    }
    return found == wanted;
}

int digit(char character)
{
    const char *digits = "0123456789abcdef";
    const char *found = character ? strchr(digits, character) : nullptr;
    return found ? static_cast<int>(found - digits) : -1;
}

/* Two digits; -1: they are not. */
int byte_at(const char *text)
{
    int high = digit(text[0]);
    int low = high < 0 ? -1 : digit(text[1]);
    return low < 0 ? -1 : high << 4 | low;
}

/* The bytes of a register, the least significant one first. */
uint64_t value_at(const char *text)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < sizeof(value); i++, text += 2) {
        int byte = byte_at(text);
        if (byte < 0)
            break;
        value |= static_cast<uint64_t>(byte) << 8 * i;
    }
    return value;
}

/* The value of `key` in "T05thread:1a2b;00:…;reason:trace;", behind the signal; nullptr. */
const char *find_value(const char *answer, const char *key)
{
    size_t length = strlen(key);
    for (const char *at = answer + 3; *at;) {
        if (strncmp(at, key, length) == 0 && at[length] == ':')
            return at + length + 1;
        const char *end = strchr(at, ';');
        if (!end)
            break;
        at = end + 1;
    }
    return nullptr;
}

/* Takes the registers out of the answer to a step; false: one is missing. */
bool take_registers(struct packet_steps *steps, const char *answer)
{
    for (uint32_t i = 0; i < host_register_count(); i++) {
        char key[8];
        snprintf(key, sizeof(key), "%02x", static_cast<unsigned>(steps->numbers[i]));
        const char *value = find_value(answer, key);
        if (!value)
            return false;
        steps->registers[i] = value_at(value);
    }
    return true;
}

/* "T05…": the thread has stopped. */
bool is_stop(const char *answer)
{
    return answer[0] == 'T' && byte_at(answer + 1) >= 0;
}

/* Whether answers to steps will have all registers and a reason: the answer to "why did it stop?"
 * has them, too. */
bool tells_enough(struct packet_steps *steps)
{
    const char *answer = send(steps, "?");
    return is_stop(answer) && find_value(answer, "reason") && take_registers(steps, answer);
}

/* Whether a SIGTRAP can be that of a step. At a breakpoint, the instruction is not executed. */
bool is_of_step(const char *answer)
{
    const char *reason = find_value(answer, "reason");
    return !reason ||
           (strncmp(reason, "breakpoint;", 11) != 0 && strncmp(reason, "watchpoint;", 11) != 0);
}

/* W00, X09: the process has ended. */
bool is_end(const char *answer)
{
    return (answer[0] == 'W' || answer[0] == 'X') && byte_at(answer + 1) >= 0;
}

void take_end(struct packet_steps *steps, const char *answer)
{
    int number = byte_at(answer + 1);
    steps->has_ended = true;
    snprintf(steps->end, sizeof(steps->end),
             answer[0] == 'W' ? "the process ended (exit status %d)"
                              : "the process was ended by signal %d",
             number);
}

/* Nothing is known of the thread any more. */
void take_loss(struct packet_steps *steps)
{
    steps->is_lost = true;
    snprintf(steps->end, sizeof(steps->end), "LLDB's debug server did not answer a step");
}

/* The packet that executes an instruction and delivers the signal that is pending. */
void write_packet(const struct packet_steps *steps, char *ret, size_t room)
{
    auto tid = static_cast<unsigned long long>(steps->tid);
    if (steps->pending > 0)
        snprintf(ret, room, "vCont;S%02x:%llx", static_cast<unsigned>(steps->pending), tid);
    else
        snprintf(ret, room, "vCont;s:%llx", tid);
}

/* Sends a packet. Returns the answer that is not output of the process ("O" and hexadecimal
 * digits). To the packet "+" the servers of LLDB reply nothing, so it reads the next answer
 * (lldb-server 19: 1,409 outputs in 5,000 steps of a program that LLDB had started through
 * `platform connect`). */
const char *send_and_wait(struct packet_steps *steps, const char *packet)
{
    const char *answer = send(steps, packet);
    for (unsigned i = 0; i < MOST_OUTPUTS && answer[0] == 'O' && byte_at(answer + 1) >= 0; i++)
        answer = send(steps, "+");
    return answer;
}

/* Executes an instruction. Returns the answer; nullptr: the steps are over. */
const char *resume(struct packet_steps *steps)
{
    char packet[48];
    write_packet(steps, packet, sizeof(packet));
    steps->pending = 0;
    const char *answer = send_and_wait(steps, packet);
    if (is_end(answer))
        take_end(steps, answer);
    else if (!is_stop(answer) || !take_registers(steps, answer))
        take_loss(steps);
    else
        steps->is_ahead = true;
    return packet_steps_are_over(steps) ? nullptr : answer;
}

/* The next packet delivers `signal`, if LLDB is set to. */
void keep(struct packet_steps *steps, int signal)
{
    steps->pending = signal > 0 && !steps->signals.GetShouldSuppress(signal) ? signal : 0;
}

bool is_fault(const struct packet_steps *steps, int signal)
{
    static const char *const faults[] = {"SIGILL", "SIGBUS", "SIGFPE", "SIGSEGV"};
    const char *name = steps->signals.GetSignalAsCString(signal);
    for (const char *fault : faults)
        if (name && strcmp(name, fault) == 0)
            return true;
    return false;
}

} // namespace

void packet_steps_begin(struct packet_steps *steps, lldb::SBDebugger &debugger,
                        lldb::SBTarget &target, lldb::SBThread &thread)
{
    lldb::SBProcess process = target.GetProcess();
    const char *plugin = process.GetPluginName();
    steps->debugger = debugger;
    steps->signals = process.GetUnixSignals();
    steps->tid = thread.GetThreadID();
    steps->output = open_memstream(&steps->text, &steps->text_bytes);
    steps->is_usable = steps->output && plugin && strcmp(plugin, "gdb-remote") == 0 &&
                       target.GetNumWatchpoints() == 0 && find_numbers(steps) &&
                       tells_enough(steps);
}

void packet_steps_end(struct packet_steps *steps)
{
    if (steps->output)
        fclose(steps->output);
    free(steps->text);
    steps->output = nullptr;
    steps->text = nullptr;
}

bool packet_steps_are_over(const struct packet_steps *steps)
{
    return steps->has_ended || steps->is_lost;
}

/* A fault of the instruction comes again when it is repeated, and also when LLDB executes it; then
 * LLDB knows of it. One that does not was sent by kill(), and is delivered before the next
 * instruction. */
bool packet_steps_step(struct packet_steps *steps, const uint64_t registers[STEP_REGISTERS_MOST])
{
    int fault = 0;
    uint64_t pc = host_pc(registers);
    for (unsigned i = 0; i < MOST_SIGNALS; i++) {
        const char *answer = resume(steps);
        if (!answer)
            return false;
        int signal = byte_at(answer + 1);
        if (signal == TRAP) {
            keep(steps, fault);
            return is_of_step(answer) && host_pc(steps->registers) != pc;
        }
        if (!is_fault(steps, signal)) {
            keep(steps, signal);
            fault = 0;
        } else if (signal == fault)
            return false;
        else
            fault = signal;
    }
    return false;
}

void packet_steps_deliver(struct packet_steps *steps)
{
    for (unsigned i = 0; i < MOST_SIGNALS && steps->pending > 0; i++) {
        const char *answer = resume(steps);
        int signal = answer ? byte_at(answer + 1) : 0;
        keep(steps, signal == TRAP || is_fault(steps, signal) ? 0 : signal);
    }
}

size_t packet_steps_read(struct packet_steps *steps, uint64_t address, void *ret, size_t bytes)
{
    auto *to = static_cast<uint8_t *>(ret);
    size_t done = 0;
    while (done < bytes) {
        char packet[64];
        size_t wanted = bytes - done < MOST_BYTES ? bytes - done : MOST_BYTES, taken = 0;
        snprintf(packet, sizeof(packet), "m%llx,%zx",
                 static_cast<unsigned long long>(address) + done, wanted);
        const char *answer = send_and_wait(steps, packet);
        for (; taken < wanted && byte_at(answer) >= 0; taken++, answer += 2)
            to[done + taken] = static_cast<uint8_t>(byte_at(answer));
        done += taken;
        if (taken < wanted)
            break;
    }
    return done;
}
