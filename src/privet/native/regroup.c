/* Classes made better by chance: cells that move, change places, found a class or dissolve one; see
 * relational/regroup.py, where the same stands in Python, step by step.
 */
#include "geometry.h"
#include "loops.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 12, BLOCK = 1024, LOGS = 4096, RARE = 2, OFTEN = 64 }; /* the same as in regroup.py */
enum { CROWD = 8 }; /* members of a class above which it pays to look only for the ends that move */

typedef struct {
    int64_t d, smallest, near;
    const int32_t *codes, *beside;
    const int64_t *count;
    Geometry geometry;
    int32_t *of_cell, *next, *before, *head, *low, *high; /* members of a class are a list */
    int64_t *size, *loss, *many, *free_, frees;           /* and classes without one wait in another */
    int32_t *ends, *open;                                 /* room for the ends of two classes, and of those of one */
    int32_t **ranges;
} Classes;

static uint64_t drawn(uint64_t *state) /* splitmix64 */
{
    uint64_t z = (*state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static void leave(Classes *t, int32_t cell)
{
    int32_t class_ = t->of_cell[cell];
    if (t->before[cell] >= 0)
        t->next[t->before[cell]] = t->next[cell];
    else
        t->head[class_] = t->next[cell];
    if (t->next[cell] >= 0)
        t->before[t->next[cell]] = t->before[cell];
    t->many[class_]--, t->size[class_] -= t->count[cell];
}

static void join(Classes *t, int32_t cell, int32_t class_)
{
    t->of_cell[cell] = class_, t->before[cell] = -1, t->next[cell] = t->head[class_];
    if (t->head[class_] >= 0)
        t->before[t->head[class_]] = cell;
    t->head[class_] = cell;
    t->many[class_]++, t->size[class_] += t->count[cell];
}

static void reach(const Classes *t, int32_t cell, int32_t *low, int32_t *high)
{
    const int32_t *code = t->codes + cell * t->d;
    for (int64_t a = 0; a < t->d; a++)
        low[a] = lesser(low[a], code[a]), high[a] = larger(high[a], code[a]);
}

/* The ends of a class that has others than this cell, without it: an end moves only where nobody else reaches it, and
 * whoever is found there settles it, so that mostly few members are looked at. */
static void shrink(const Classes *t, int32_t class_, int32_t without, int32_t *low, int32_t *high)
{
    const int32_t *code = t->codes + without * t->d, *was_low = t->low + class_ * t->d, *was_high = t->high + class_ * t->d;
    int64_t lows = 0, highs = 0; /* attributes whose end is open, in `open` from its begin and from its middle */
    int32_t *open_low = t->open, *open_high = t->open + t->d;
    for (int64_t a = 0; a < t->d; a++) {
        low[a] = was_low[a], high[a] = was_high[a];
        if (code[a] == low[a])
            low[a] = INT32_MAX, open_low[lows++] = (int32_t)a;
        if (code[a] == high[a])
            high[a] = -1, open_high[highs++] = (int32_t)a;
    }
    for (int32_t cell = t->head[class_]; cell >= 0 && lows + highs; cell = t->next[cell]) {
        if (cell == without)
            continue;
        const int32_t *has = t->codes + cell * t->d;
        for (int64_t i = lows; i-- > 0;) {
            int32_t a = open_low[i];
            low[a] = lesser(low[a], has[a]);
            if (low[a] == was_low[a])
                open_low[i] = open_low[--lows];
        }
        for (int64_t i = highs; i-- > 0;) {
            int32_t a = open_high[i];
            high[a] = larger(high[a], has[a]);
            if (high[a] == was_high[a])
                open_high[i] = open_high[--highs];
        }
    }
}

static int64_t loses(const Classes *t, const int32_t *low, const int32_t *high)
{
    int64_t sum = 0;
    for (int64_t a = 0; a < t->d && high[0] >= 0; a++)
        sum += t->ranges[a] ? t->ranges[a][low[a] * t->geometry.widths[a] + high[a]]
                            : lost(&t->geometry, a, low[a], high[a]);
    return sum;
}

/* What a class loses, each record of it, without a cell of its own and with another; either may be -1. */
static int64_t changed(const Classes *t, int32_t class_, int32_t without, int32_t with, int32_t *low, int32_t *high)
{
    if (t->many[class_] > (without >= 0)) {
        if (without >= 0 && t->many[class_] > CROWD) {
            shrink(t, class_, without, low, high);
        } else if (without >= 0) {
            for (int64_t a = 0; a < t->d; a++)
                low[a] = INT32_MAX, high[a] = -1;
            for (int32_t cell = t->head[class_]; cell >= 0; cell = t->next[cell])
                if (cell != without)
                    reach(t, cell, low, high);
        } else {
            memcpy(low, t->low + class_ * t->d, (size_t)t->d * sizeof *low);
            memcpy(high, t->high + class_ * t->d, (size_t)t->d * sizeof *high);
        }
    } else {
        for (int64_t a = 0; a < t->d; a++)
            low[a] = INT32_MAX, high[a] = -1;
    }
    if (with >= 0)
        reach(t, with, low, high);
    return loses(t, low, high);
}

static void keep(Classes *t, int32_t class_, const int32_t *low, const int32_t *high, int64_t loss)
{
    memcpy(t->low + class_ * t->d, low, (size_t)t->d * sizeof *low);
    memcpy(t->high + class_ * t->d, high, (size_t)t->d * sizeof *high);
    t->loss[class_] = t->many[class_] ? loss : 0;
}

static void settle(Classes *t, int32_t class_) /* from its members alone */
{
    int32_t *low = t->ends, *high = t->ends + t->d;
    for (int64_t a = 0; a < t->d; a++)
        low[a] = INT32_MAX, high[a] = -1;
    for (int32_t cell = t->head[class_]; cell >= 0; cell = t->next[cell])
        reach(t, cell, low, high);
    keep(t, class_, low, high, loses(t, low, high));
}

static void move(Classes *t, int32_t cell, int32_t there, int64_t allowed)
{
    int32_t here = t->of_cell[cell], *low = t->ends, *high = low + t->d, *low_ = high + t->d, *high_ = low_ + t->d;
    int64_t n = t->count[cell], both = t->size[here] * t->loss[here] + t->size[there] * t->loss[there];
    int64_t left = changed(t, here, cell, -1, low, high), grown = changed(t, there, -1, cell, low_, high_);
    int64_t more = (t->size[here] - n) * left + (t->size[there] + n) * grown - both;
    if (more > allowed)
        return;
    leave(t, cell), join(t, cell, there);
    keep(t, here, low, high, left), keep(t, there, low_, high_, grown);
    if (!t->many[here])
        t->free_[t->frees++] = here;
}

static void exchange(Classes *t, int32_t cell, int32_t there, uint64_t chance, int64_t allowed)
{
    int32_t here = t->of_cell[cell], *low = t->ends, *high = low + t->d, *low_ = high + t->d, *high_ = low_ + t->d;
    if (t->many[here] == 1 || t->many[there] == 1)
        return; /* would only take the name of its class along */
    int32_t other = -1;
    uint32_t least = UINT32_MAX; /* by a digest: in whatever order the list has them, it is the same */
    for (int32_t one = t->head[there]; one >= 0; one = t->next[one]) {
        uint32_t mixed = ((uint32_t)one ^ (uint32_t)(chance >> 32)) * 2654435761u;
        if (other < 0 || mixed < least)
            other = one, least = mixed;
    }
    int64_t ours = t->size[here] - t->count[cell] + t->count[other];
    int64_t theirs = t->size[there] - t->count[other] + t->count[cell];
    if (ours < t->smallest || theirs < t->smallest)
        return;
    int64_t both = t->size[here] * t->loss[here] + t->size[there] * t->loss[there];
    int64_t mine = changed(t, here, cell, other, low, high);
    if (ours * mine - both > allowed)
        return;
    int64_t other_s = changed(t, there, other, cell, low_, high_), more = ours * mine + theirs * other_s - both;
    if (more > allowed)
        return;
    leave(t, cell), leave(t, other), join(t, cell, there), join(t, other, here);
    keep(t, here, low, high, mine), keep(t, there, low_, high_, other_s);
}

typedef struct { /* several moves that stand or fall together */
    int32_t cell[OFTEN], from[OFTEN], touched[2 * OFTEN];
    int64_t moves, touches, before;
} Together;

static void touch(const Classes *t, Together *all, int32_t class_)
{
    for (int64_t i = 0; i < all->touches; i++)
        if (all->touched[i] == class_)
            return;
    all->touched[all->touches++] = class_;
    all->before += t->size[class_] * t->loss[class_];
}

static void shift(Classes *t, Together *all, int32_t cell, int32_t to)
{
    touch(t, all, t->of_cell[cell]), touch(t, all, to);
    all->cell[all->moves] = cell, all->from[all->moves++] = t->of_cell[cell];
    leave(t, cell), join(t, cell, to);
}

/* Stand, if that costs no more than is allowed; else all is as it was. */
static void decide(Classes *t, Together *all, int whole, int64_t allowed)
{
    int64_t after = 0;
    for (int64_t i = 0; i < all->touches; i++) {
        settle(t, all->touched[i]);
        after += t->size[all->touched[i]] * t->loss[all->touched[i]];
    }
    if (whole && after - all->before <= allowed)
        return;
    while (all->moves--)
        leave(t, all->cell[all->moves]), join(t, all->cell[all->moves], all->from[all->moves]);
    for (int64_t i = 0; i < all->touches; i++)
        settle(t, all->touched[i]);
}

static void found(Classes *t, int32_t cell, int64_t allowed) /* a class around a cell, of those that can go */
{
    if (!t->frees || t->many[t->of_cell[cell]] == 1 || t->size[t->of_cell[cell]] - t->count[cell] < t->smallest)
        return;
    int32_t fresh = (int32_t)t->free_[t->frees - 1];
    Together all = {.moves = 0};
    shift(t, &all, cell, fresh);
    for (int64_t i = 0; i < t->near && t->size[fresh] < t->smallest && all.moves < OFTEN; i++) {
        int32_t other = t->beside[cell * t->near + i], from = other < 0 ? -1 : t->of_cell[other];
        if (other >= 0 && from != fresh && t->many[from] > 1 && t->size[from] - t->count[other] >= t->smallest)
            shift(t, &all, other, fresh);
    }
    decide(t, &all, t->size[fresh] >= t->smallest, allowed);
    t->frees -= t->many[fresh] > 0;
}

static void dissolve(Classes *t, int32_t class_, int64_t allowed) /* each cell goes where it costs least */
{
    Together all = {.moves = 0};
    int32_t *low = t->ends, *high = low + t->d, members[MOST];
    int64_t many = 0;
    if (t->many[class_] > MOST)
        return;
    for (int32_t cell = t->head[class_]; cell >= 0; cell = t->next[cell]) { /* in order */
        int64_t at = many++;
        for (; at > 0 && members[at - 1] > cell; at--)
            members[at] = members[at - 1];
        members[at] = cell;
    }
    for (int64_t m = 0; m < many; m++) {
        int32_t cell = members[m], to = -1;
        int64_t least = INT64_MAX;
        for (int64_t i = 0; i < t->near; i++) {
            int32_t other = t->beside[cell * t->near + i], there = other < 0 ? class_ : t->of_cell[other];
            if (there == class_)
                continue;
            int64_t more = (t->size[there] + t->count[cell]) * changed(t, there, -1, cell, low, high) -
                           t->size[there] * t->loss[there];
            if (more < least)
                least = more, to = there;
        }
        if (to < 0)
            break;
        shift(t, &all, cell, to);
        settle(t, to);
    }
    decide(t, &all, t->head[class_] < 0, allowed);
    if (!t->many[class_])
        t->free_[t->frees++] = class_;
}

int64_t privet_regroup(const int32_t *codes, int64_t cells, int64_t d, const int64_t *count, int32_t *of_cell,
                       int64_t classes, int64_t smallest, const int32_t *beside, int64_t near,
                       const int64_t *heat, int64_t blocks, const int64_t *logs, int64_t seed,
                       const int64_t *kinds, const int64_t *widths, const int64_t *const *begin,
                       const int64_t *const *end, const int64_t *const *own, const int64_t *const *stretch)
{
    int32_t *narrow = malloc((size_t)(2 * cells + classes + 2 * classes * d + 6 * d + 1) * sizeof *narrow);
    int64_t *wide = calloc((size_t)(4 * classes + 1), sizeof *wide);
    Classes t = {.d = d, .smallest = smallest, .near = near, .codes = codes, .beside = beside, .count = count,
                 .geometry = {kinds, widths, begin, end, own, stretch}, .of_cell = of_cell};
    t.ranges = ranges_of(&t.geometry, d);
    if (!narrow || !wide || !t.ranges) {
        free(narrow), free(wide), free(t.ranges);
        return -1;
    }
    t.next = narrow, t.before = t.next + cells, t.head = t.before + cells;
    t.low = t.head + classes, t.high = t.low + classes * d, t.ends = t.high + classes * d, t.open = t.ends + 4 * d;
    t.size = wide, t.loss = wide + classes, t.many = t.loss + classes, t.free_ = t.many + classes;
    for (int64_t b = 0; b < classes; b++)
        t.head[b] = -1;
    for (int64_t c = 0; c < cells; c++)
        join(&t, (int32_t)c, of_cell[c]);
    for (int64_t b = 0; b < classes; b++) {
        settle(&t, (int32_t)b);
        if (!t.many[b])
            t.free_[t.frees++] = b;
    }
    uint64_t state = (uint64_t)seed;
    for (int64_t i = 0; i < blocks * BLOCK; i++) {
        uint64_t where = drawn(&state), chance = drawn(&state);
        int32_t cell = (int32_t)((where >> 32) * (uint64_t)cells >> 32);
        int32_t other = beside[cell * near + (int64_t)((where & 0xFFFF) % (uint64_t)near)];
        int64_t allowed = heat[i / BLOCK] * logs[chance % LOGS];
        if (other < 0 || of_cell[other] == of_cell[cell])
            continue;
        int32_t here = of_cell[cell], there = of_cell[other];
        if ((where >> 16) % OFTEN < RARE) {
            if (where >> 22 & 1)
                found(&t, cell, allowed);
            else
                dissolve(&t, here, allowed);
        } else if ((chance >> 20 & 3) && (t.many[here] == 1 || t.size[here] - count[cell] >= smallest)) {
            move(&t, cell, there, allowed);
        } else {
            exchange(&t, cell, there, chance, allowed);
        }
    }
    free(narrow), free(wide), free(t.ranges);
    return 0;
}

/* Into the list of the nearest to a cell, behind those as far; one that is known from another part stays. */
static void met(int32_t *known, int64_t *far, int64_t near, int32_t other, int64_t sum)
{
    int64_t at = 0;
    if (sum >= far[near - 1])
        return;
    while (far[at] <= sum && known[at] != other)
        at++;
    if (known[at] == other)
        return;
    for (int64_t last = near - 1; last > at; last--)
        far[last] = far[last - 1], known[last] = known[last - 1];
    far[at] = sum, known[at] = other;
}

int64_t privet_near_cells(const int32_t *codes, int64_t d, const int32_t *order, const int32_t *ends, int64_t parts,
                          const int64_t *kinds, const int64_t *widths, const int64_t *const *begin,
                          const int64_t *const *end, const int64_t *const *own, const int64_t *const *stretch,
                          int64_t near, int32_t *beside, int64_t *apart)
{
    Geometry geometry = {kinds, widths, begin, end, own, stretch};
    int32_t **ranges = ranges_of(&geometry, d);
    if (!ranges)
        return -1;
    for (int64_t p = 0; p < parts; p++)
        for (int32_t i = ends[p]; i < ends[p + 1]; i++) {
            const int32_t *one = codes + order[i] * d;
            int64_t *far = apart + order[i] * near;
            for (int32_t j = i + 1; j < ends[p + 1]; j++) { /* each pair once: each still meets the others in order */
                const int32_t *two = codes + order[j] * d;
                int64_t *far_ = apart + order[j] * near, sum = 0;
                int64_t most = far[near - 1] > far_[near - 1] ? far[near - 1] : far_[near - 1];
                for (int64_t a = 0; a < d && sum < most; a++) {
                    int32_t lo = lesser(one[a], two[a]), hi = larger(one[a], two[a]);
                    sum += ranges[a] ? ranges[a][lo * widths[a] + hi] : lost(&geometry, a, lo, hi);
                }
                met(beside + order[i] * near, far, near, order[j], sum);
                met(beside + order[j] * near, far_, near, order[i], sum);
            }
        }
    free(ranges);
    return 0;
}
