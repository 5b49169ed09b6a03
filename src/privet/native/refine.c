/* For each cell asked about, the move or exchange with a class nearby that saves most; see relational/refine.py. */
#include "geometry.h"
#include "loops.h"

#include <stdlib.h>
#include <string.h>

enum { NEAR = 8, MEMBERS = 64 }; /* classes whose members are tried for an exchange, and how many of each */

typedef struct {
    int64_t d, classes, smallest;
    const int32_t *codes, *of_cell, *low, *high, *start, *member, *first, *last, *beside;
    const int64_t *count, *size;
    Geometry geometry;
    int32_t **ranges;
    int64_t *loss; /* of each class, for one record */
    int32_t *place; /* of each cell among the members; what follows is in their order, class by class */
    int32_t *code_, *low_, *high_; /* of each member, and the ends of its class without it */
    int64_t *less; /* and what that loses then, for one record: no exchange for it loses less */
} Table;

/* What a class with these ends loses, and a further cell; beyond `most` any number above it. */
static inline int64_t joined(const Table *t, const int32_t *low, const int32_t *high, const int32_t *code,
                             int64_t most) {
    int64_t sum = 0;
    for (int64_t a = 0; a < t->d && sum <= most; a++) {
        int32_t lo = lesser(low[a], code[a]), hi = larger(high[a], code[a]);
        sum += t->ranges[a] ? t->ranges[a][lo * t->geometry.widths[a] + hi] : lost(&t->geometry, a, lo, hi);
    }
    return sum;
}

/* The ends of a class without each of its cells: of those before it, then of those behind it as well. */
static void leave_out(const Table *t, int64_t class_) {
    int64_t d = t->d, from = t->start[class_], to = t->start[class_ + 1];
    for (int64_t m = from; m < to; m++) {
        t->place[t->member[m]] = (int32_t)m;
        memcpy(t->code_ + m * d, t->codes + t->member[m] * d, (size_t)d * sizeof *t->codes);
    }
    for (int64_t a = 0; a < d; a++) {
        int32_t low = INT32_MAX, high = -1;
        for (int64_t m = from * d + a; m < to * d; m += d) {
            t->low_[m] = low, t->high_[m] = high;
            low = lesser(low, t->code_[m]), high = larger(high, t->code_[m]);
        }
        low = INT32_MAX, high = -1;
        for (int64_t m = (to - 1) * d + a; m >= from * d; m -= d) {
            t->low_[m] = lesser(t->low_[m], low), t->high_[m] = larger(t->high_[m], high);
            low = lesser(low, t->code_[m]), high = larger(high, t->code_[m]);
        }
    }
    for (int64_t m = from; m < to; m++) {
        t->less[m] = to - from == 1 ? 0 : joined(t, t->low_ + m * d, t->high_ + m * d, t->low_ + m * d, INT64_MAX);
    }
}

static void best_of(const Table *t, int32_t cell, int64_t *gain, int64_t *to, int64_t *back) {
    int64_t d = t->d, own = t->of_cell[cell], at_ = t->place[cell], near = 0;
    int64_t n = t->count[cell], size = t->size[own], class_of[NEAR], cost[NEAR];
    const int32_t *code = t->code_ + at_ * d, *low = t->low_ + at_ * d, *high = t->high_ + at_ * d;
    int alone = t->start[own + 1] - t->start[own] == 1;
    int64_t left = t->less[at_];
    int64_t here = size * t->loss[own], goes = (size - n) * left - here;
    *gain = 0, *to = -1, *back = -1;
    for (int64_t i = t->first[own]; i < t->last[own]; i++) {
        int64_t b = t->beside[i], with = t->size[b] + n, before = t->size[b] * t->loss[b];
        if (b == own || !t->size[b]) continue;
        if (near == NEAR && n * t->loss[b] >= cost[NEAR - 1]) continue; /* it costs that at least */
        int64_t most = near < NEAR ? INT64_MAX : (cost[NEAR - 1] + before) / with;
        int64_t each = joined(t, t->low + b * d, t->high + b * d, code, most);
        if (each > most) continue;
        int64_t more = with * each - before;
        if (near == NEAR && more >= cost[NEAR - 1]) continue;
        int64_t at = near < NEAR ? near++ : NEAR - 1;
        for (; at > 0 && cost[at - 1] > more; at--) cost[at] = cost[at - 1], class_of[at] = class_of[at - 1];
        cost[at] = more, class_of[at] = b;
    }
    if (near && (size - n >= t->smallest || alone) && goes + cost[0] < 0) {
        *gain = -(goes + cost[0]), *to = class_of[0];
    }
    if (alone) return; /* an exchange would only take the name of its class along */
    for (int64_t i = 0; i < near; i++) {
        int64_t b = class_of[i], both = here + t->size[b] * t->loss[b], many = t->start[b + 1] - t->start[b];
        for (int64_t m = 0; m < many && m < MEMBERS && many > 1 && *gain < both; m++) {
            int64_t other = t->start[b] + m, k = t->count[t->member[other]];
            int64_t mine = size - n + k, theirs = t->size[b] - k + n, left_over = both - *gain;
            if (mine < t->smallest || theirs < t->smallest) continue;
            if (mine * left + theirs * t->less[other] >= left_over) continue; /* both lose that at least */
            int64_t spent = mine * joined(t, low, high, t->code_ + other * d, left_over / mine);
            if (spent >= left_over) continue;
            int64_t most = (left_over - spent) / theirs;
            spent += theirs * joined(t, t->low_ + other * d, t->high_ + other * d, code, most);
            if (both - spent > *gain) *gain = both - spent, *to = b, *back = t->member[other];
        }
    }
}

int64_t privet_best_moves(const int32_t *codes, int64_t cells, int64_t d, const int64_t *count,
                          const int32_t *of_cell, const int32_t *low, const int32_t *high, const int64_t *size,
                          int64_t classes, const int32_t *start, const int32_t *member, const int32_t *first,
                          const int32_t *last, const int32_t *beside, const int32_t *asked, int64_t many,
                          int64_t smallest, const int64_t *kinds, const int64_t *widths,
                          const int64_t *const *begin, const int64_t *const *end, const int64_t *const *own,
                          const int64_t *const *stretch, int64_t *gain, int64_t *to, int64_t *back) {
    int64_t *loss = calloc(classes + 1, sizeof *loss), *less = calloc(cells + 1, sizeof *less);
    int32_t *place = calloc((3 * d + 1) * cells + 1, sizeof *place), *code_ = place + cells;
    Table t = {.d = d, .classes = classes, .smallest = smallest, .codes = codes, .of_cell = of_cell, .low = low,
               .high = high, .start = start, .member = member, .first = first, .last = last, .beside = beside,
               .count = count, .size = size, .geometry = {kinds, widths, begin, end, own, stretch}, .loss = loss,
               .place = place, .code_ = code_, .low_ = code_ + cells * d, .high_ = code_ + 2 * cells * d,
               .less = less};
    t.ranges = ranges_of(&t.geometry, d);
    int64_t done = loss && less && place && t.ranges ? 0 : -1;
    for (int64_t b = 0; !done && b < classes; b++) {
        if (!size[b]) continue;
        loss[b] = joined(&t, low + b * d, high + b * d, low + b * d, INT64_MAX);
        leave_out(&t, b);
    }
    for (int64_t i = 0; !done && i < many; i++) best_of(&t, asked[i], gain + i, to + i, back + i);
    free(loss), free(less), free(place), free(t.ranges);
    return done;
}

/* The cells of each class, in their own order; where they start, the ends of the class (0 where it has no cell), and its
 * records. */
int64_t privet_settled(const int32_t *codes, int64_t cells, int64_t d, const int64_t *count,
                       const int32_t *of_cell, int64_t classes, int32_t *member, int32_t *start, int32_t *low,
                       int32_t *high, int64_t *size) {
    memset(start, 0, (size_t)(classes + 1) * sizeof *start);
    memset(size, 0, (size_t)classes * sizeof *size);
    for (int64_t i = 0; i < cells; i++) start[of_cell[i]]++, size[of_cell[i]] += count[i];
    for (int64_t b = 0, before = 0; b <= classes; b++) {
        int32_t many = start[b];
        start[b] = (int32_t)before, before += many;
    }
    for (int64_t i = 0; i < cells; i++) member[start[of_cell[i]]++] = (int32_t)i;
    for (int64_t b = classes; b > 0; b--) start[b] = start[b - 1]; /* each had moved to where the next one starts */
    start[0] = 0;
    for (int64_t b = 0; b < classes; b++) {
        for (int64_t a = 0; a < d; a++) low[b * d + a] = high[b * d + a] = 0;
        for (int64_t m = start[b]; m < start[b + 1]; m++) {
            const int32_t *code = codes + member[m] * d;
            for (int64_t a = 0; a < d; a++) {
                low[b * d + a] = m == start[b] ? code[a] : lesser(low[b * d + a], code[a]);
                high[b * d + a] = larger(high[b * d + a], code[a]); /* no code is below 0 */
            }
        }
    }
    return 0;
}
