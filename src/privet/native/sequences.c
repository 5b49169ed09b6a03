/* Searches over sequences of points; see trajectory/violations.py and trajectory/frequent.py.
 *
 * A path is a rising list of point codes, so a sequence is a set of points and "contains" means "is a
 * superset of". Both searches go depth first and carry along where the current sequence occurs: what may
 * follow it is counted in one small table, and nothing has to be hashed.
 */
#include "loops.h"

#include <stdlib.h>
#include <string.h>

/* ---- sequences that were found ------------------------------------------------------------------- */

typedef struct {
    int32_t *members;
    int64_t *ends, *support;
    int64_t count, used, room_count, room_used;
} found_t;

static int add(found_t *found, const int32_t *members, int64_t length, int64_t support)
{
    if (found->count == found->room_count) {
        int64_t room = found->room_count ? 2 * found->room_count : 1024;
        int64_t *ends = realloc(found->ends, (size_t)room * sizeof *ends);
        if (!ends)
            return -1;
        found->ends = ends;
        int64_t *more = realloc(found->support, (size_t)room * sizeof *more);
        if (!more)
            return -1;
        found->support = more;
        found->room_count = room;
    }
    if (found->used + length > found->room_used) {
        int64_t room = 2 * (found->room_used + length) + 4096;
        int32_t *wider = realloc(found->members, (size_t)room * sizeof *wider);
        if (!wider)
            return -1;
        found->members = wider;
        found->room_used = room;
    }
    memcpy(found->members + found->used, members, (size_t)length * sizeof *members);
    found->used += length;
    found->ends[found->count] = found->used;
    found->support[found->count++] = support;
    return 0;
}

static void forget(found_t *found)
{
    if (!found)
        return;
    free(found->members);
    free(found->ends);
    free(found->support);
    free(found);
}

/* Copies what a search left under a handle, and frees it. */
int64_t privet_sequences_take(int64_t handle, int32_t *members, int64_t *ends, int64_t *support)
{
    found_t *found = (found_t *)(intptr_t)handle;
    if (found->count) {
        memcpy(members, found->members, (size_t)found->used * sizeof *members);
        memcpy(ends, found->ends, (size_t)found->count * sizeof *ends);
        memcpy(support, found->support, (size_t)found->count * sizeof *support);
    }
    forget(found);
    return 0;
}

static int hand_over(found_t *found, int failed, int64_t *handle)
{
    if (failed) {
        forget(found);
        return -1;
    }
    handle[0] = (int64_t)(intptr_t)found;
    handle[1] = found->count;
    handle[2] = found->used;
    return 0;
}

static int falling(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x < y) - (x > y);
}

static int rising(const void *a, const void *b)
{
    return falling(b, a);
}

/* ---- minimal violating sequences ------------------------------------------------------------------ */

typedef struct {
    int32_t next, path; /* what of this path comes after the sequence begins here */
} place_t;

typedef struct {
    int64_t key; /* the last two points, 0 where empty */
    int64_t head;
} slot_t;

typedef struct {
    const int32_t *visits;
    const int64_t *ends;    /* where each path ends */
    const int64_t *weights; /* for each path: records, then records having each protected value */
    const int64_t *tops, *bottoms;
    int64_t points, marks, k, longest;
    int64_t *totals; /* for each point, as in weights */
    int64_t *places; /* for each point, in how many places it follows */
    uint8_t *allowed, *inside;
    int32_t *prefix;
    found_t *found;
    slot_t *slots; /* found sequences by their last two points */
    int64_t *chain;
    int64_t room, taken, room_chain;
} search_t;

static uint64_t scrambled(int64_t key)
{
    uint64_t x = (uint64_t)key * 0x9E3779B97F4A7C15u;
    return x ^ (x >> 29);
}

static slot_t *slot_of(slot_t *slots, int64_t room, int64_t key)
{
    uint64_t at = scrambled(key) & (uint64_t)(room - 1);
    while (slots[at].key && slots[at].key != key)
        at = (at + 1) & (uint64_t)(room - 1);
    return slots + at;
}

static int64_t pair_key(const search_t *s, int32_t before, int32_t last)
{
    return (int64_t)before * s->points + last + 1;
}

static int note(search_t *s, int64_t length, int64_t support)
{
    int64_t id = s->found->count;
    if (add(s->found, s->prefix, length, support))
        return -1;
    if (length < 2) /* a point that violates is allowed nowhere: no need to look it up */
        return 0;
    if (id >= s->room_chain) {
        int64_t room = 2 * id + 1024;
        int64_t *chain = realloc(s->chain, (size_t)room * sizeof *chain);
        if (!chain)
            return -1;
        s->chain = chain;
        s->room_chain = room;
    }
    if (2 * (s->taken + 1) > s->room) {
        int64_t room = s->room ? 2 * s->room : 4096;
        slot_t *slots = calloc((size_t)room, sizeof *slots);
        if (!slots)
            return -1;
        for (int64_t i = 0; i < s->room; i++)
            if (s->slots[i].key)
                *slot_of(slots, room, s->slots[i].key) = s->slots[i];
        free(s->slots);
        s->slots = slots;
        s->room = room;
    }
    int64_t key = pair_key(s, s->prefix[length - 2], s->prefix[length - 1]);
    slot_t *slot = slot_of(s->slots, s->room, key);
    s->chain[id] = slot->key ? slot->head : -1;
    s->taken += slot->key == 0;
    slot->key = key;
    slot->head = id;
    return 0;
}

/* Does the prefix, of this length, contain a violating sequence that holds its last two points? Others
 * need no look: the prefix without its last point, and without the one before, were found clean. */
static int stained(const search_t *s, int64_t length)
{
    if (!s->room)
        return 0;
    const slot_t *slot = slot_of(s->slots, s->room, pair_key(s, s->prefix[length - 2], s->prefix[length - 1]));
    if (!slot->key)
        return 0;
    for (int64_t id = slot->head; id >= 0; id = s->chain[id]) {
        int64_t at = id ? s->found->ends[id - 1] : 0, end = s->found->ends[id] - 2;
        while (at < end && s->inside[s->found->members[at]])
            at++;
        if (at == end)
            return 1;
    }
    return 0;
}

/* Everything that may follow a prefix of `length` points. Points are tried from the last to the first:
 * so every subset of a sequence is met before the sequence itself, and what is reported is minimal. */
static int expand(search_t *s, int64_t length, const place_t *places, int64_t n)
{
    int64_t wide = s->marks + 1, met = 0, kept = 0, room = 0;
    const uint8_t *allowed = s->allowed + length * s->points;
    uint8_t *further = s->allowed + (length + 1) * s->points;
    int64_t most = 0;
    for (int64_t i = 0; i < n && most < s->points; i++)
        most += s->ends[places[i].path] - places[i].next;
    most = most < s->points ? most : s->points;
    int32_t *follow = malloc((size_t)(most + 1) * sizeof *follow);
    if (!follow)
        return -1;
    for (int64_t i = 0; i < n; i++) {
        const int64_t *weight = s->weights + places[i].path * wide;
        int64_t end = s->ends[places[i].path];
        for (int64_t t = places[i].next; t < end; t++) {
            int32_t b = s->visits[t];
            if (!allowed[b])
                continue;
            if (!s->places[b]++)
                follow[met++] = b;
            int64_t *total = s->totals + b * wide;
            for (int64_t m = 0; m < wide; m++)
                total[m] += weight[m];
        }
    }
    qsort(follow, (size_t)met, sizeof *follow, falling);
    int failed = 0;
    for (int64_t i = 0; i < met; i++) {
        int32_t b = follow[i];
        int64_t *total = s->totals + b * wide;
        s->prefix[length] = b;
        if (!failed && !(length >= 2 && stained(s, length + 1))) {
            int bad = total[0] < s->k;
            for (int64_t m = 0; m < s->marks && !bad; m++) /* share > top / bottom, multiplied out: exact */
                bad = total[m + 1] * s->bottoms[m] > total[0] * s->tops[m];
            if (bad)
                failed = note(s, length + 1, total[0]);
            else {
                follow[kept++] = b;
                room += s->places[b];
                further[b] = 1;
            }
        }
        memset(total, 0, (size_t)wide * sizeof *total);
        if (!further[b])
            s->places[b] = 0;
    }
    if (failed || !kept || length + 1 == s->longest) {
        for (int64_t i = 0; i < kept; i++)
            s->places[follow[i]] = further[follow[i]] = 0;
        free(follow);
        return failed;
    }
    place_t *rest = malloc((size_t)(room + 1) * sizeof *rest);
    int64_t *from = malloc((size_t)(kept + 1) * sizeof *from), at = 0;
    if (!rest || !from) {
        free(rest);
        free(from);
        free(follow);
        return -1;
    }
    for (int64_t i = 0; i < kept; i++) { /* places[b] turns into where the next place of b is written */
        int64_t size = s->places[follow[i]];
        s->places[follow[i]] = from[i] = at;
        at += size;
    }
    for (int64_t i = 0; i < n; i++) {
        int64_t end = s->ends[places[i].path];
        for (int64_t t = places[i].next; t + 1 < end; t++)
            if (further[s->visits[t]])
                rest[s->places[s->visits[t]]++] = (place_t){(int32_t)(t + 1), places[i].path};
    }
    for (int64_t i = 0; i < kept; i++) {
        int64_t to = s->places[follow[i]];
        s->places[follow[i]] = 0;
        from[i] = from[i] < to ? from[i] | (to - from[i]) << 32 : -1; /* both are below 2^31 */
    }
    for (int64_t i = 0; i < kept && !failed; i++) {
        if (from[i] < 0)
            continue;
        s->prefix[length] = follow[i];
        s->inside[follow[i]] = 1;
        failed = expand(s, length + 1, rest + (from[i] & 0x7FFFFFFF), from[i] >> 32);
        s->inside[follow[i]] = 0;
    }
    for (int64_t i = 0; i < kept; i++)
        further[follow[i]] = 0;
    free(rest);
    free(from);
    free(follow);
    return failed;
}

/* 0, and a handle with the number of sequences and of their members; -1 where there is no memory. */
int64_t privet_minimal_violations(const int32_t *visits, const int64_t *starts, int64_t paths, const int64_t *weights,
                      int64_t marks, const int64_t *tops, const int64_t *bottoms, int64_t points, int64_t k,
                      int64_t longest, int64_t *handle)
{
    search_t s = {.visits = visits, .ends = starts + 1, .weights = weights, .tops = tops, .bottoms = bottoms,
                  .points = points, .marks = marks, .k = k, .longest = longest};
    s.totals = calloc((size_t)(points * (marks + 1) + 1), sizeof *s.totals);
    s.places = calloc((size_t)points + 1, sizeof *s.places);
    s.allowed = calloc((size_t)(points * (longest + 1) + 1), 1);
    s.inside = calloc((size_t)points + 1, 1);
    s.prefix = calloc((size_t)longest + 1, sizeof *s.prefix);
    s.found = calloc(1, sizeof *s.found);
    place_t *begin = malloc((size_t)(paths + 1) * sizeof *begin);
    int failed = !(s.totals && s.places && s.allowed && s.inside && s.prefix && s.found && begin);
    if (!failed) {
        memset(s.allowed, 1, (size_t)points);
        for (int64_t r = 0; r < paths; r++)
            begin[r] = (place_t){(int32_t)starts[r], (int32_t)r};
        failed = expand(&s, 0, begin, paths);
    }
    free(begin);
    free(s.totals);
    free(s.places);
    free(s.allowed);
    free(s.inside);
    free(s.prefix);
    free(s.slots);
    free(s.chain);
    if (!s.found)
        return -1;
    return hand_over(s.found, failed, handle);
}

/* ---- maximal frequent sequences ------------------------------------------------------------------- */

typedef struct {
    const int32_t *visits;
    const int64_t *starts, *counts;
    int64_t points, least;
    int64_t *totals, *places;
    uint8_t *inside;
    int32_t *chosen; /* the sequence so far, in the order in which its points came in */
    int32_t *sorted;
    found_t *found;
} mine_t;

/* All maximal sequences that consist of the chosen points and others after `core`. `paths` are those that
 * contain what is chosen, `support` records have them. */
static int mine(mine_t *m, int32_t core, int64_t length, const int32_t *paths, int64_t n, int64_t support)
{
    int64_t met = 0, kept = 0, room = 0, had = length, most = 0;
    for (int64_t i = 0; i < n && most < m->points; i++)
        most += m->starts[paths[i] + 1] - m->starts[paths[i]];
    most = most < m->points ? most : m->points;
    int32_t *others = malloc((size_t)(most + 1) * sizeof *others);
    if (!others)
        return -1;
    for (int64_t i = 0; i < n; i++) {
        int64_t count = m->counts[paths[i]];
        for (int64_t t = m->starts[paths[i]]; t < m->starts[paths[i] + 1]; t++) {
            int32_t b = m->visits[t];
            if (!m->places[b]++)
                others[met++] = b;
            m->totals[b] += count;
        }
    }
    int dominated = 0, extended = 0;
    for (int64_t i = 0; i < met; i++) {
        int32_t b = others[i];
        if (!m->inside[b] && m->totals[b] >= m->least) {
            if (m->totals[b] < support)
                extended = 1;
            else if (b < core)
                dominated = 1; /* whatever is found here, with b it is as frequent: b's turn was before */
            else {
                m->inside[b] = 1; /* in every path that is left: it goes without saying */
                m->chosen[length++] = b;
            }
        }
    }
    for (int64_t i = 0; i < met; i++) {
        int32_t b = others[i];
        if (!dominated && b > core && !m->inside[b] && m->totals[b] >= m->least) {
            others[kept++] = b;
            room += m->places[b];
        } else
            m->places[b] = m->totals[b] = 0;
    }
    int failed = 0;
    if (!dominated && !extended && length) {
        memcpy(m->sorted, m->chosen, (size_t)length * sizeof *m->sorted);
        qsort(m->sorted, (size_t)length, sizeof *m->sorted, rising);
        failed = add(m->found, m->sorted, length, support);
    }
    int32_t *rest = kept ? malloc((size_t)room * sizeof *rest) : NULL;
    int64_t *from = kept ? malloc((size_t)(2 * kept + 1) * sizeof *from) : NULL;
    if (kept && (!rest || !from))
        failed = -1;
    if (kept && !failed) {
        qsort(others, (size_t)kept, sizeof *others, rising);
        int64_t at = 0;
        for (int64_t i = 0; i < kept; i++) {
            int64_t size = m->places[others[i]];
            from[i] = at;
            from[kept + i] = m->totals[others[i]];
            m->places[others[i]] = ~at; /* below 0: a candidate, and where its next path is written */
            m->totals[others[i]] = 0;
            at += size;
        }
            for (int64_t i = 0; i < n; i++)
            for (int64_t t = m->starts[paths[i]]; t < m->starts[paths[i] + 1]; t++) {
                int64_t *place = m->places + m->visits[t];
                if (*place < 0)
                    rest[~(*place)--] = paths[i];
            }
        for (int64_t i = 0; i < kept; i++)
            m->places[others[i]] = 0;
        for (int64_t i = 0; i < kept && !failed; i++) {
            int64_t to = i + 1 < kept ? from[i + 1] : at;
            m->inside[others[i]] = 1;
            m->chosen[length] = others[i];
            failed = mine(m, others[i], length + 1, rest + from[i], to - from[i], from[kept + i]);
            m->inside[others[i]] = 0;
        }
    }
    for (int64_t i = had; i < length; i++)
        m->inside[m->chosen[i]] = 0;
    free(others);
    free(rest);
    free(from);
    return failed;
}

int64_t privet_maximal_frequent(const int32_t *visits, const int64_t *starts, int64_t paths, const int64_t *counts,
                    int64_t points, int64_t least, int64_t *handle)
{
    mine_t m = {.visits = visits, .starts = starts, .counts = counts, .points = points, .least = least};
    m.totals = calloc((size_t)points + 1, sizeof *m.totals);
    m.places = calloc((size_t)points + 1, sizeof *m.places);
    m.inside = calloc((size_t)points + 1, 1);
    m.chosen = calloc((size_t)points + 1, sizeof *m.chosen);
    m.sorted = calloc((size_t)points + 1, sizeof *m.sorted);
    m.found = calloc(1, sizeof *m.found);
    int32_t *all = malloc((size_t)(paths + 1) * sizeof *all);
    int failed = !(m.totals && m.places && m.inside && m.chosen && m.sorted && m.found && all);
    if (!failed) {
        int64_t support = 0;
        for (int64_t r = 0; r < paths; r++) {
            all[r] = (int32_t)r;
            support += counts[r];
        }
        if (support >= least)
            failed = mine(&m, -1, 0, all, paths, support);
    }
    free(all);
    free(m.totals);
    free(m.places);
    free(m.inside);
    free(m.chosen);
    free(m.sorted);
    if (!m.found)
        return -1;
    return hand_over(m.found, failed, handle);
}
