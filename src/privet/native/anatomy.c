/* Merging trees into a group; see document/anatomy_merge.py, whose `merge` this follows step by step.
 *
 * A search asks for every candidate how many vertices would find a place. Rules are counted while positions
 * are accepted, so nothing can be known before the merge was made; but no more vertices of a type can be
 * matched than both sides have, and that bound spares most merges.
 */
#include "loops.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    /* the group */
    const int32_t *kinds, *keys, *below;
    const int64_t *begins;
    int64_t joined; /* members so far */
    /* the forest */
    const int32_t *all_kinds, *all_keys, *all_below;
    const int64_t *all_begins;
    /* rules */
    const int32_t *ruled, *rule_begins, *m, *mu_most, *eta_most;
    int64_t keyed;
    int by_vertices;
    int32_t *count; /* [member][key]; for v-v the first line counts positions */
    int32_t *mu;
    int32_t *match;
    int32_t *taken; /* a stack of marks for the siblings being matched */
} merge_t;

static void step_tt(merge_t *x, int64_t member, int32_t key, int32_t step)
{
    int32_t *count = x->count + member * x->keyed + key;
    int32_t before = *count, after = before + step;
    *count = after;
    for (int32_t rule = x->rule_begins[key]; rule < x->rule_begins[key + 1]; rule++)
        x->mu[rule] += (after >= x->m[rule]) - (before >= x->m[rule]);
}

static int holds(const merge_t *x, int32_t key)
{
    if (x->by_vertices)
        return x->count[key] <= x->eta_most[key];
    for (int32_t rule = x->rule_begins[key]; rule < x->rule_begins[key + 1]; rule++)
        if (x->mu[rule] > x->mu_most[rule])
            return 0;
    return 1;
}

static void count_all(merge_t *x, const int32_t *there, int32_t key, int32_t step)
{
    for (int64_t member = 0; member <= x->joined; member++) {
        int32_t own = member < x->joined ? there[member] : key;
        int32_t ruled = own < 0 ? -1 : x->ruled[own];
        if (ruled < 0)
            continue;
        if (x->by_vertices)
            x->count[ruled] += step;
        else
            step_tt(x, member, ruled, step);
    }
}

static int fits(merge_t *x, int32_t position, int32_t vertex)
{
    if (x->kinds[position] != x->all_kinds[vertex])
        return 0;
    const int32_t *there = x->keys + (int64_t)position * x->joined;
    int32_t key = x->all_keys[vertex];
    if (key < 0)
        return 1;
    for (int64_t member = 0; member < x->joined; member++)
        if (there[member] == key)
            return 0;
    if (!x->keyed)
        return 1;
    count_all(x, there, key, 1);
    int fine = x->ruled[key] < 0 || holds(x, x->ruled[key]);
    for (int64_t member = 0; fine && member < x->joined; member++)
        if (x->ruled[there[member]] >= 0)
            fine = holds(x, x->ruled[there[member]]);
    if (!fine)
        count_all(x, there, key, -1);
    return fine;
}

/* How many vertices below an accepted pair find a place. */
static int64_t descend(merge_t *x, int32_t position, int32_t vertex, int32_t *taken)
{
    int64_t kept = 0, first = x->all_begins[vertex], last = x->all_begins[vertex + 1];
    int64_t free_from = first;
    memset(taken, 0, (size_t)(last - first) * sizeof *taken);
    for (int64_t at = x->begins[position]; at < x->begins[position + 1] && free_from < last; at++) {
        int32_t wanted = x->below[at];
        for (int64_t other = free_from; other < last; other++) {
            if (taken[other - first])
                continue;
            int32_t child = x->all_below[other];
            if (!fits(x, wanted, child))
                continue;
            x->match[wanted] = child;
            taken[other - first] = 1;
            while (free_from < last && taken[free_from - first])
                free_from++;
            kept += 1 + descend(x, wanted, child, taken + (last - first));
            break;
        }
    }
    return kept;
}

static int64_t merged(merge_t *x, int64_t positions, int32_t root, int64_t lines, int64_t rules)
{
    memset(x->match, 0xff, (size_t)positions * sizeof *x->match);
    memset(x->count, 0, (size_t)(lines * x->keyed) * sizeof *x->count);
    memset(x->mu, 0, (size_t)rules * sizeof *x->mu);
    if (!fits(x, 0, root))
        return -1;
    x->match[0] = root;
    return 1 + descend(x, 0, root, x->taken);
}

/* The best of `candidates`, or -1; its alignment is left in `match`. `counts[record][kind]` and
 * `group_counts[kind]` bound what can be matched. Returns -2 when there is no memory. */
int64_t privet_anatomy_best(const int32_t *kinds, const int32_t *keys, const int64_t *begins, const int32_t *below,
                        int64_t positions, int64_t joined, const int32_t *all_kinds, const int32_t *all_keys,
                        const int64_t *all_begins, const int32_t *all_below, const int64_t *roots,
                        const int64_t *sizes, const int32_t *counts, const int32_t *group_counts,
                        int64_t types, const int64_t *candidates, int64_t candidates_count,
                        const int32_t *ruled, const int32_t *rule_begins, const int32_t *m,
                        const int32_t *mu_most, const int32_t *eta_most, int64_t keyed, int64_t by_vertices,
                        const double *weights, const double *group_weight, int64_t largest, int32_t *match)
{
    int64_t lines = by_vertices ? 1 : joined + 1, rules = rule_begins[keyed];
    merge_t x = {
        .kinds = kinds, .keys = keys, .below = below, .begins = begins, .joined = joined,
        .all_kinds = all_kinds, .all_keys = all_keys, .all_below = all_below, .all_begins = all_begins,
        .ruled = ruled, .rule_begins = rule_begins, .m = m, .mu_most = mu_most, .eta_most = eta_most,
        .keyed = keyed, .by_vertices = (int)by_vertices,
    };
    x.count = malloc((size_t)(lines * keyed + 1) * sizeof *x.count);
    x.mu = malloc((size_t)(rules + 1) * sizeof *x.mu);
    x.match = malloc((size_t)positions * sizeof *x.match);
    x.taken = malloc((size_t)(largest + 1) * sizeof *x.taken);
    int found = -2;
    if (x.count && x.mu && x.match && x.taken) {
        double least = 0;
        found = -1;
        for (int64_t at = 0; at < candidates_count; at++) {
            int64_t record = candidates[at], most = 0;
            for (int64_t type = 0; type < types; type++) {
                int32_t mine = group_counts[type], theirs = counts[record * types + type];
                most += mine < theirs ? mine : theirs;
            }
            double own = weights[record];
            double hope = group_weight[0] * (double)(positions - most) + own * (double)(sizes[record] - most);
            if (found >= 0 && hope >= least)
                continue;
            int64_t kept = merged(&x, positions, (int32_t)roots[record], lines, rules);
            if (kept < 0)
                continue;
            double cost = group_weight[0] * (double)(positions - kept) + own * (double)(sizes[record] - kept);
            if (found < 0 || cost < least) {
                least = cost;
                found = (int)record;
                memcpy(match, x.match, (size_t)positions * sizeof *match);
            }
        }
    }
    free(x.count);
    free(x.mu);
    free(x.match);
    free(x.taken);
    return found;
}
