#include "event/unwind/cfi_expression.h"

#include <dwarf.h>

#define DEPTH 16 /* no toolchain produces more */

struct calculator {
    const struct cfi_machine *machine;
    uint64_t values[DEPTH];
    size_t depth;
    bool is_value, failed;
};

static void push(struct calculator *c, uint64_t value)
{
    if (c->depth == DEPTH)
        c->failed = true;
    else
        c->values[c->depth++] = value;
}

static uint64_t pop(struct calculator *c)
{
    if (c->depth == 0) {
        c->failed = true;
        return 0;
    }
    return c->values[--c->depth];
}

static uint64_t register_value(struct calculator *c, uint64_t number)
{
    if (number >= CFI_REGISTERS || !(c->machine->known >> number & 1)) {
        c->failed = true;
        return 0;
    }
    return c->machine->registers[number];
}

static void dereference(struct calculator *c)
{
    uint64_t value = 0;
    if (!c->machine->read(c->machine->context, pop(c), &value))
        c->failed = true;
    push(c, value);
}

static void pick(struct calculator *c, uint64_t index)
{
    if (index >= c->depth)
        c->failed = true;
    else
        push(c, c->values[c->depth - 1 - index]);
}

static void swap(struct calculator *c)
{
    uint64_t first = pop(c), second = pop(c);
    push(c, first);
    push(c, second);
}

/* Operations with two operands on the stack; false: `atom` is not one. */
static bool binary(struct calculator *c, uint8_t atom)
{
    if (c->depth < 2)
        return false;
    uint64_t b = c->values[c->depth - 1], a = c->values[c->depth - 2], result;
    switch (atom) {
    case DW_OP_plus:
        result = a + b;
        break;
    case DW_OP_minus:
        result = a - b;
        break;
    case DW_OP_mul:
        result = a * b;
        break;
    case DW_OP_and:
        result = a & b;
        break;
    case DW_OP_or:
        result = a | b;
        break;
    case DW_OP_xor:
        result = a ^ b;
        break;
    case DW_OP_shl:
        result = b < 64 ? a << b : 0;
        break;
    case DW_OP_shr:
        result = b < 64 ? a >> b : 0;
        break;
    case DW_OP_eq:
        result = a == b;
        break;
    case DW_OP_ne:
        result = a != b;
        break;
    case DW_OP_ge:
        result = (int64_t)a >= (int64_t)b;
        break;
    case DW_OP_gt:
        result = (int64_t)a > (int64_t)b;
        break;
    case DW_OP_le:
        result = (int64_t)a <= (int64_t)b;
        break;
    case DW_OP_lt:
        result = (int64_t)a < (int64_t)b;
        break;
    default:
        return false;
    }
    c->depth--;
    c->values[c->depth - 1] = result;
    return true;
}

static void simple(struct calculator *c, const Dwarf_Op *operation)
{
    switch (operation->atom) {
    case DW_OP_call_frame_cfa:
        push(c, c->machine->cfa);
        break;
    case DW_OP_stack_value:
        c->is_value = true;
        break;
    case DW_OP_nop:
        break;
    case DW_OP_deref:
        dereference(c);
        break;
    case DW_OP_plus_uconst:
        push(c, pop(c) + operation->number);
        break;
    case DW_OP_dup:
        pick(c, 0);
        break;
    case DW_OP_over:
        pick(c, 1);
        break;
    case DW_OP_drop:
        pop(c);
        break;
    case DW_OP_swap:
        swap(c);
        break;
    case DW_OP_neg:
        push(c, -pop(c));
        break;
    case DW_OP_not:
        push(c, ~pop(c));
        break;
    case DW_OP_addr:
    case DW_OP_const1u:
    case DW_OP_const1s:
    case DW_OP_const2u:
    case DW_OP_const2s:
    case DW_OP_const4u:
    case DW_OP_const4s:
    case DW_OP_const8u:
    case DW_OP_const8s:
    case DW_OP_constu:
    case DW_OP_consts:
        push(c, operation->number);
        break;
    case DW_OP_bregx:
        push(c, register_value(c, operation->number) + operation->number2);
        break;
    case DW_OP_regx:
        push(c, register_value(c, operation->number));
        c->is_value = true;
        break;
    default:
        c->failed = c->failed || !binary(c, operation->atom);
        break;
    }
}

static void execute(struct calculator *c, const Dwarf_Op *operation)
{
    uint8_t atom = operation->atom;
    if (atom >= DW_OP_lit0 && atom <= DW_OP_lit31) {
        push(c, atom - DW_OP_lit0);
    } else if (atom >= DW_OP_breg0 && atom <= DW_OP_breg31) {
        push(c, register_value(c, atom - DW_OP_breg0) + operation->number);
    } else if (atom >= DW_OP_reg0 && atom <= DW_OP_reg31) {
        push(c, register_value(c, atom - DW_OP_reg0));
        c->is_value = true;
    } else {
        simple(c, operation);
    }
}

bool cfi_expression(const struct cfi_machine *machine, const Dwarf_Op *operations, size_t count,
                    uint64_t *ret, bool *ret_is_value)
{
    struct calculator c = {.machine = machine};
    for (size_t i = 0; i < count && !c.failed; i++)
        execute(&c, &operations[i]);
    *ret = pop(&c);
    *ret_is_value = c.is_value;
    return !c.failed;
}
