"""IntroPerf's algorithms, a slow reference implementation from the paper alone (SIGMETRICS 2014, algorithms 2 and 3).

A context is the tuple of its functions, outermost first. The one change is the misprint in line 11 of algorithm 2: a
function is new when it is *not* that of the last stack, as the paper's text and table 1 have it.
"""


class Node:
    """A function in one context: how many instances, and the sums of their latencies."""

    def __init__(self):
        self.count, self.aggressive, self.conservative = 0, 0, 0

    def mean(self, mode):
        return getattr(self, mode) / self.count if self.count else 0.0


class Inference:
    """Algorithm 2 for one thread; `instances` gets (context, aggressive, conservative)."""

    def __init__(self, instances):
        self.last_stack, self.registers, self.instances, self.last = [], [], instances, None

    def close_register(self, now, depth):
        start, end, context = self.registers[depth]
        self.instances.append((context, now - start, end - start))

    def new_stack_event(self, now, stack):
        all_new, this_stack = False, []
        for depth, function in enumerate(stack):
            is_new = depth >= len(self.last_stack) or function != self.last_stack[depth]
            all_new = all_new or is_new
            this_stack.append((function, depth, all_new))
        while len(self.last_stack) > len(this_stack):
            self.close_register(now, len(self.last_stack) - 1)
            self.last_stack.pop()
            self.registers.pop()
        before = len(self.last_stack)
        self.registers += [None] * (len(this_stack) - before)
        self.last_stack += [None] * (len(this_stack) - before)
        for function, depth, is_new in reversed(this_stack):
            if is_new:
                if depth < before:
                    self.close_register(now, depth)
                self.registers[depth] = (now, now, tuple(stack[:depth + 1]))
                self.last_stack[depth] = function
            else:
                self.registers[depth] = (self.registers[depth][0], now, self.registers[depth][2])
        self.last = now

    def end(self):
        for depth in range(len(self.registers)):
            self.close_register(self.last, depth)


def pa_cct(traces):
    """`traces`: for each thread its list of (time, stack). Context → Node."""
    instances = []
    for moments in traces:
        inference = Inference(instances)
        for now, stack in moments:
            inference.new_stack_event(now, stack)
        if moments:
            inference.end()
    tree = {}
    for context, aggressive, conservative in instances:
        node = tree.setdefault(context, Node())
        node.count += 1
        node.aggressive += aggressive
        node.conservative += conservative
    return tree


def children(tree, context):
    return [other for other in tree if len(other) == len(context) + 1 and other[:-1] == context]


def normalised(tree, mode):
    """Algorithm 3, LatencyNormalization: context → own mean."""
    return {context: tree[context].mean(mode) - sum(tree[child].mean(mode) for child in children(tree, context))
            for context in tree}


def ranked_paths(tree, base, mode):
    """Algorithm 3, DiffRankPaths: (cost, path) of every leaf of `tree`; `base` may be empty."""
    own, base_own = normalised(tree, mode), normalised(base, mode)
    result = []
    for path in (context for context in tree if not children(tree, context)):
        prefixes = [path[:length + 1] for length in range(len(path))]
        equivalent = path in base
        result.append((sum(own[p] - (base_own[p] if equivalent else 0) for p in prefixes), path))
    return result
