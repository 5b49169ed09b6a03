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
    int32_t *path, *which; /* where they occur: a path, and which sequence it has; only where asked for */
    int64_t places, room_places;
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
    free(found->path);
    free(found->which);
    free(found);
}

static int add_place(found_t *found, int32_t path, int32_t which)
{
    if (found->places == found->room_places) {
        int64_t room = found->room_places ? 2 * found->room_places : 4096;
        int32_t *paths = realloc(found->path, (size_t)room * sizeof *paths);
        if (!paths)
            return -1;
        found->path = paths;
        int32_t *whiches = realloc(found->which, (size_t)room * sizeof *whiches);
        if (!whiches)
            return -1;
        found->which = whiches;
        found->room_places = room;
    }
    found->path[found->places] = path;
    found->which[found->places++] = which;
    return 0;
}

/* Copies where the sequences of a handle occur; the handle stays. */
int64_t privet_places_take(int64_t handle, int32_t *path, int32_t *which)
{
    const found_t *found = (const found_t *)(intptr_t)handle;
    if (found->places) {
        memcpy(path, found->path, (size_t)found->places * sizeof *path);
        memcpy(which, found->which, (size_t)found->places * sizeof *which);
    }
    return 0;
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
        return failed;
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
    int32_t *sequence; /* where places are asked for: which violating sequence a point has just made, from 1 */
    int64_t most; /* above 0: report up to so many sequences that do not violate, instead of those that do */
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
    int64_t wide = s->marks + 1, met = 0, kept = 0, room = 0, violating = 0;
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
            if (bad && !s->most) {
                failed = note(s, length + 1, total[0]);
                if (s->sequence) {
                    s->sequence[b] = (int32_t)s->found->count;
                    violating++;
                }
            }
            if (!bad) {
                if (s->most)
                    failed = s->found->count == s->most ? 1 : add(s->found, s->prefix, length + 1, total[0]);
                follow[kept++] = b;
                room += s->places[b];
                further[b] = 1;
            }
        }
        memset(total, 0, (size_t)wide * sizeof *total);
        if (!further[b])
            s->places[b] = 0;
    }
    for (int64_t i = 0; violating && i < n; i++) {
        int64_t end = s->ends[places[i].path];
        for (int64_t t = places[i].next; t < end && !failed; t++)
            if (s->sequence[s->visits[t]])
                failed = add_place(s->found, places[i].path, s->sequence[s->visits[t]] - 1);
    }
    if (violating)
        memset(s->sequence, 0, (size_t)s->points * sizeof *s->sequence);
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

static int search(search_t s, const int64_t *starts, int64_t paths, int places, int64_t *handle)
{
    s.ends = starts + 1;
    s.sequence = places ? calloc((size_t)s.points + 1, sizeof *s.sequence) : NULL;
    s.totals = calloc((size_t)(s.points * (s.marks + 1) + 1), sizeof *s.totals);
    s.places = calloc((size_t)s.points + 1, sizeof *s.places);
    s.allowed = calloc((size_t)(s.points * (s.longest + 1) + 1), 1);
    s.inside = calloc((size_t)s.points + 1, 1);
    s.prefix = calloc((size_t)s.longest + 1, sizeof *s.prefix);
    s.found = calloc(1, sizeof *s.found);
    place_t *begin = malloc((size_t)(paths + 1) * sizeof *begin);
    int failed = s.totals && s.places && s.allowed && s.inside && s.prefix && s.found && begin && (s.sequence || !places) ? 0 : -1;
    if (!failed && s.longest) {
        memset(s.allowed, 1, (size_t)s.points);
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
    free(s.sequence);
    if (!s.found)
        return -1;
    return hand_over(s.found, failed, handle);
}

/* 0, and a handle with the number of sequences and of their members; -1 where there is no memory. */
int64_t privet_minimal_violations(const int32_t *visits, const int64_t *starts, int64_t paths,
                                  const int64_t *weights, int64_t marks, const int64_t *tops,
                                  const int64_t *bottoms, int64_t points, int64_t k, int64_t longest,
                                  int64_t *handle)
{
    search_t s = {.visits = visits, .weights = weights, .tops = tops, .bottoms = bottoms, .points = points,
                  .marks = marks, .k = k, .longest = longest};
    return search(s, starts, paths, 0, handle);
}

/* Every sequence of up to `longest` points that at least `least` records contain; 1 where there are more
 * than `most`. The same walk as above, which goes through all that do not violate anyway. */
int64_t privet_itemsets(const int32_t *visits, const int64_t *starts, int64_t paths, const int64_t *counts,
                    int64_t points, int64_t least, int64_t longest, int64_t most, int64_t *handle)
{
    search_t s = {.visits = visits, .weights = counts, .points = points, .k = least, .longest = longest,
                  .most = most};
    return search(s, starts, paths, 0, handle);
}

/* Minimal sequences of up to `longest` points that fewer than `k` records contain, and in handle[3] how many
 * places they occur in. */
int64_t privet_rare(const int32_t *visits, const int64_t *starts, int64_t paths, const int64_t *counts,
                int64_t points, int64_t k, int64_t longest, int64_t *handle)
{
    search_t s = {.visits = visits, .weights = counts, .points = points, .k = k, .longest = longest};
    int failed = search(s, starts, paths, 1, handle);
    handle[3] = failed ? 0 : ((const found_t *)(intptr_t)handle[0])->places;
    return failed;
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
