/* Comparing trees; see document/diversify.py, which also has these loops in plain Python.
 *
 * One side is a representative (several records merged, values generalised), the other a record of the
 * forest. Both stand in preorder, so the children of v are v + 1, ends[v + 1], ... up to ends[v]. A price is
 * a whole number: what is lost when two subtrees become one.
 */
#include <stdatomic.h>
#include "loops.h"

#include <stdlib.h>
#include <string.h>

#define NEVER INT64_MAX
#define SMALL 96      /* places of a matrix that is kept on the stack */
#define TABLE 32768   /* places of a table that stays in the cache */

typedef struct {
    /* the representative, the record, hierarchies and prices */
    const int32_t *a_kinds, *a_ends, *a_nodes, *a_buckets;
    const int64_t *a_loss;
    const int32_t *b_kinds, *b_ends, *b_leaves, *b_buckets; /* leaves: the finest nodes, by number */
    const int64_t *b_loss;
    const int32_t *up, *low, *high, *sizes;
    const int64_t *label, *own;
    int64_t width, members, allowed, a_weight, b_weight, greedy;
    int failed;         /* memory ran out */
    int64_t *table;     /* the price of every label of the representative with every finest node, or NULL */
    int32_t *of_label;  /* where the label's part of the table begins */
} trees_t;

/* ---- one vertex ---------------------------------------------------------------------------------- */

static int diverse(const trees_t *t, int32_t a, int32_t b)
{
    if (t->a_kinds[a] != t->b_kinds[b])
        return 0;
    int32_t bucket = t->b_buckets[b];
    if (bucket < 0)
        return 1;
    int64_t equal = 1;
    const int32_t *buckets = t->a_buckets + (int64_t)a * t->members;
    for (int64_t k = 0; k < t->members; k++)
        equal += buckets[k] == bucket;
    return equal <= t->allowed;
}

static int64_t together(const trees_t *t, int32_t node, int32_t leaf)
{
    while (leaf < t->low[node] || leaf >= t->high[node])
        node = t->up[node];
    return t->label[node] * (t->a_weight + t->b_weight);
}

static int64_t labels(const trees_t *t, int32_t a, int32_t b)
{
    int64_t price = 0, at = (int64_t)a * t->width;
    const int32_t *leaves = t->b_leaves + (int64_t)b * t->width;
    if (t->table) {
        for (int64_t q = 0; q < t->width && t->of_label[at + q] >= 0; q++)
            price += t->table[t->of_label[at + q] + leaves[q]];
        return price;
    }
    for (int64_t q = 0; q < t->width && t->a_nodes[at + q] >= 0; q++)
        price += together(t, t->a_nodes[at + q], leaves[q]);
    return price;
}

/* Every label of the representative is compared with few finest nodes, again and again: look them up. */
static void tabulate(trees_t *t)
{
    int64_t places = (int64_t)t->a_ends[0] * t->width, room = 0;
    t->of_label = malloc((size_t)places * sizeof *t->of_label + 1);
    t->table = NULL;
    if (!t->of_label)
        return;
    for (int64_t at = 0; at < places; at++) {
        t->of_label[at] = t->a_nodes[at] < 0 ? -1 : (int32_t)room;
        room += t->a_nodes[at] < 0 ? 0 : t->sizes[t->a_nodes[at]];
        if (room > TABLE)
            return;
    }
    int64_t *table = malloc((size_t)room * sizeof *table + 1);
    if (!table)
        return;
    for (int64_t at = 0; at < places; at++)
        for (int32_t leaf = 0; t->a_nodes[at] >= 0 && leaf < t->sizes[t->a_nodes[at]]; leaf++)
            table[t->of_label[at] + leaf] = together(t, t->a_nodes[at], leaf);
    t->table = table;
}

static void untabulate(trees_t *t)
{
    free(t->table);
    free(t->of_label);
}

static int32_t children(const int32_t *ends, int32_t v, int32_t *into)
{
    int32_t count = 0;
    for (int32_t child = v + 1; child < ends[v]; child = ends[child], count++)
        if (into)
            into[count] = child;
    return count;
}

/* ---- assignment: rows <= columns, every row gets a column of its own ------------------------------ */

/* Shortest augmenting paths with potentials. `of_row` is the column of each row; returns the least sum.
 * After it, cost - row[i] - column[j] >= 0, and = 0 wherever a best assignment may go. */
static int64_t assign(const int64_t *cost, int32_t rows, int32_t columns, int64_t *work, int32_t *of_row)
{
    int64_t *row = work, *column = work + rows, *least = column + columns;
    int32_t *of_column = (int32_t *)(least + columns), *way = of_column + columns, *seen = way + columns;
    memset(column, 0, (size_t)columns * sizeof *column);
    memset(of_column, 0xff, (size_t)columns * sizeof *of_column);
    for (int32_t i = 0; i < rows; i++) { /* most rows get their cheapest column at once */
        const int64_t *of = cost + (int64_t)i * columns;
        int32_t best = 0;
        for (int32_t j = 1; j < columns; j++)
            if (of[j] < of[best])
                best = j;
        row[i] = of[best];
        if (of_column[best] < 0) {
            of_column[best] = i;
            of_row[i] = best;
        } else
            of_row[i] = -1;
    }
    for (int32_t start = 0; start < rows; start++) {
        if (of_row[start] >= 0)
            continue;
        for (int32_t j = 0; j < columns; j++) {
            least[j] = NEVER;
            seen[j] = 0;
            way[j] = -1;
        }
        int32_t i = start, end = -1, from = -1;
        int64_t gone = 0;
        /* `least` holds distances from the start; a column that is seen is final */
        for (;;) {
            const int64_t *of = cost + (int64_t)i * columns;
            int64_t nearest = NEVER;
            int32_t next = -1;
            for (int32_t j = 0; j < columns; j++) {
                if (seen[j])
                    continue;
                int64_t far = gone + of[j] - row[i] - column[j];
                if (far < least[j]) {
                    least[j] = far;
                    way[j] = from;
                }
                if (least[j] < nearest || (least[j] == nearest && of_column[j] < 0 && of_column[next] >= 0)) {
                    nearest = least[j];
                    next = j;
                }
            }
            gone = nearest;
            if (of_column[next] < 0) {
                end = next;
                break;
            }
            seen[next] = 1;
            from = next;
            i = of_column[next];
        }
        row[start] += gone;
        for (int32_t j = 0; j < columns; j++)
            if (seen[j]) {
                row[of_column[j]] += gone - least[j];
                column[j] -= gone - least[j];
            }
        while (end >= 0) {
            int32_t before = way[end];
            int32_t who = before >= 0 ? of_column[before] : start;
            of_column[end] = who;
            of_row[who] = end;
            end = before;
        }
    }
    int64_t sum = 0;
    for (int32_t i = 0; i < rows; i++)
        sum += cost[(int64_t)i * columns + of_row[i]];
    return sum;
}

static size_t assign_room(int32_t rows, int32_t columns)
{
    return (size_t)(rows + 2 * columns) * sizeof(int64_t) + (size_t)(3 * columns + rows) * sizeof(int32_t);
}

/* Each row in turn takes the cheapest column that is left, the first of equals. */
static int64_t greedy(const int64_t *cost, int32_t rows, int32_t columns, int32_t *taken, int32_t *of_row)
{
    int64_t sum = 0;
    memset(taken, 0, (size_t)columns * sizeof *taken);
    for (int32_t i = 0; i < rows; i++) {
        const int64_t *of = cost + (int64_t)i * columns;
        int32_t best = -1;
        for (int32_t j = 0; j < columns; j++)
            if (!taken[j] && (best < 0 || of[j] < of[best]))
                best = j;
        taken[best] = 1;
        of_row[i] = best;
        sum += of[best];
    }
    return sum;
}

/* ---- two subtrees -------------------------------------------------------------------------------- */

/* The children of two vertices: the shorter list are rows, and costs are those of every pair. */
typedef struct {
    int32_t rows, columns, swapped; /* swapped: rows are the record's children */
    int32_t *row, *column, *of_row;
    int64_t *cost, *work;
    void *heap;
    int64_t small[SMALL * 2];
} pairing_t;

static int64_t pair(trees_t *t, int32_t a, int32_t b);

static int pairing(trees_t *t, int32_t a, int32_t b, int32_t m, int32_t n, pairing_t *p)
{
    p->swapped = m > n;
    p->rows = p->swapped ? n : m;
    p->columns = p->swapped ? m : n;
    size_t matrix = (size_t)p->rows * (size_t)p->columns * sizeof(int64_t), work = assign_room(p->rows, p->columns);
    size_t lists = (size_t)(2 * p->rows + p->columns) * sizeof(int32_t);
    char *room = (char *)p->small;
    p->heap = NULL;
    if (matrix + work + lists > sizeof p->small) {
        p->heap = room = malloc(matrix + work + lists);
        if (!room) {
            t->failed = 1;
            return -1;
        }
    }
    p->cost = (int64_t *)room;
    p->work = (int64_t *)(room + matrix);
    p->of_row = (int32_t *)(room + matrix + work);
    p->row = p->of_row + p->rows;
    p->column = p->row + p->rows;
    children(t->a_ends, a, p->swapped ? p->column : p->row);
    children(t->b_ends, b, p->swapped ? p->row : p->column);
    for (int32_t i = 0; i < p->rows; i++)
        for (int32_t j = 0; j < p->columns; j++)
            p->cost[(int64_t)i * p->columns + j] =
                p->swapped ? pair(t, p->column[j], p->row[i]) : pair(t, p->row[i], p->column[j]);
    return 0;
}

static int64_t column_loss(const trees_t *t, const pairing_t *p, int32_t j)
{
    return p->swapped ? t->a_weight * t->a_loss[p->column[j]] : t->b_weight * t->b_loss[p->column[j]];
}

/* What a column costs without a partner is paid by all; taking it gives that back. */
static int64_t rebate(const trees_t *t, pairing_t *p)
{
    int64_t all = 0;
    for (int32_t j = 0; j < p->columns; j++) {
        int64_t loss = column_loss(t, p, j);
        all += loss;
        for (int32_t i = 0; i < p->rows; i++)
            p->cost[(int64_t)i * p->columns + j] -= loss;
    }
    return all;
}

static int64_t solve(const trees_t *t, pairing_t *p)
{
    if (t->greedy) {
        int64_t sum = greedy(p->cost, p->rows, p->columns, (int32_t *)p->work, p->of_row);
        for (int32_t j = 0; j < p->columns; j++) {
            int taken = 0;
            for (int32_t i = 0; i < p->rows; i++)
                taken |= p->of_row[i] == j;
            if (!taken)
                sum += column_loss(t, p, j);
        }
        return sum;
    }
    int64_t all = rebate(t, p);
    return all + assign(p->cost, p->rows, p->columns, p->work, p->of_row);
}

static int64_t below(const trees_t *t, int32_t a, int32_t b)
{
    return t->a_weight * (t->a_loss[a] - t->own[t->a_kinds[a]]) + t->b_weight * (t->b_loss[b] - t->own[t->b_kinds[b]]);
}

/* One or two children on each side: all mappings are tried at once. */
static int64_t few(trees_t *t, int32_t a, int32_t b, int32_t m, int32_t n)
{
    int32_t a1 = a + 1, a2 = t->a_ends[a1], b1 = b + 1, b2 = t->b_ends[b1];
    int64_t straight = pair(t, a1, b1);
    if (m == 1 && n == 1)
        return straight;
    int64_t across;
    if (m == 2 && n == 2) {
        straight += pair(t, a2, b2);
        across = pair(t, a1, b2) + pair(t, a2, b1);
    } else if (n == 2) {
        straight += t->b_weight * t->b_loss[b2];
        across = pair(t, a1, b2) + t->b_weight * t->b_loss[b1];
    } else {
        straight += t->a_weight * t->a_loss[a2];
        across = pair(t, a2, b1) + t->a_weight * t->a_loss[a1];
    }
    return straight < across ? straight : across;
}

static int64_t pair(trees_t *t, int32_t a, int32_t b)
{
    if (!diverse(t, a, b))
        return t->a_weight * t->a_loss[a] + t->b_weight * t->b_loss[b];
    int64_t price = labels(t, a, b);
    int32_t m = children(t->a_ends, a, NULL), n = children(t->b_ends, b, NULL);
    if (m == 0 || n == 0)
        return price + below(t, a, b);
    if (m <= 2 && n <= 2 && !t->greedy)
        return price + few(t, a, b, m, n);
    pairing_t p;
    if (pairing(t, a, b, m, n, &p))
        return 0;
    price += solve(t, &p);
    free(p.heap);
    return price;
}

/* The same for roots, but given up as soon as it is sure to exceed `limit`: then the answer only does so too. */
static int64_t roots(trees_t *t, int32_t b, int64_t limit)
{
    int64_t price = labels(t, 0, b);
    int32_t m = children(t->a_ends, 0, NULL), n = children(t->b_ends, b, NULL);
    if (m == 0 || n == 0)
        return price + below(t, 0, b);
    pairing_t p;
    if (pairing(t, 0, b, m, n, &p))
        return 0;
    if (t->greedy || p.rows == 1) {
        price += solve(t, &p);
    } else {
        price += rebate(t, &p);
        int64_t least = 0; /* no assignment is below the sum of the rows' cheapest columns */
        for (int32_t i = 0; i < p.rows; i++) {
            const int64_t *of = p.cost + (int64_t)i * p.columns;
            int64_t best = of[0];
            for (int32_t j = 1; j < p.columns; j++)
                best = of[j] < best ? of[j] : best;
            least += best;
        }
        price += price + least > limit ? least : assign(p.cost, p.rows, p.columns, p.work, p.of_row);
    }
    free(p.heap);
    return price;
}

static trees_t trees(const int64_t *how, const int32_t *const *whole, const int64_t *const *wide)
{
    trees_t t = {
        .a_kinds = whole[0], .a_ends = whole[1], .a_nodes = whole[2], .a_buckets = whole[3],
        .b_kinds = whole[4], .b_ends = whole[5], .b_leaves = whole[6], .b_buckets = whole[7],
        .up = whole[8], .low = whole[9], .high = whole[10], .sizes = whole[11],
        .a_loss = wide[0], .b_loss = wide[1], .label = wide[2], .own = wide[3],
        .width = how[0], .members = how[1], .allowed = how[2], .a_weight = how[3], .b_weight = how[4],
        .greedy = how[5],
    };
    return t;
}

/* Prices of the representative with each candidate (given by its root); NEVER where the roots cannot be one. */
int64_t privet_trees_prices(const int64_t *how, const int32_t *const *whole, const int64_t *const *wide,
                        const int64_t *candidates, int64_t count, int64_t *prices)
{
    trees_t t = trees(how, whole, wide);
    tabulate(&t);
    for (int64_t c = 0; c < count; c++) {
        int32_t b = (int32_t)candidates[c];
        prices[c] = diverse(&t, 0, b) ? roots(&t, b, NEVER) : NEVER;
    }
    untabulate(&t);
    return t.failed ? -1 : 0;
}

/* The cheapest of every `step`-th candidate from `first` on. `bounds` are prices that no candidate is below,
 * in rising order; they come back raised to what was found. `shared` is the least price that any thread has
 * seen: only what exceeds it is given up, so the answer does not depend on who was first. */
int64_t privet_trees_nearest(const int64_t *how, const int32_t *const *whole, const int64_t *const *wide,
                         const int64_t *candidates, int64_t *bounds, int64_t count, int64_t first,
                         int64_t step, _Atomic int64_t *shared, int64_t *best)
{
    trees_t t = trees(how, whole, wide);
    tabulate(&t);
    best[0] = NEVER;
    best[1] = -1;
    best[2] = 0;
    for (int64_t c = first; c < count; c += step) {
        int64_t limit = atomic_load_explicit(shared, memory_order_relaxed);
        if (bounds[c] > limit || bounds[c] == NEVER)
            break;
        int32_t b = (int32_t)candidates[c];
        if (!diverse(&t, 0, b)) {
            bounds[c] = NEVER;
            continue;
        }
        best[2]++;
        int64_t price = roots(&t, b, limit);
        bounds[c] = price > bounds[c] ? price : bounds[c];
        if (price > limit || price > best[0] || (price == best[0] && b > best[1]))
            continue;
        best[0] = price;
        best[1] = b;
        while (price < limit && !atomic_compare_exchange_weak(shared, &limit, price))
            ;
    }
    untabulate(&t);
    return t.failed ? -1 : 0;
}

/* ---- the merged tree ----------------------------------------------------------------------------- */

/* Move a best assignment to the one that is first in the order of its columns. All best ones go where
 * reduced costs are 0; dummy rows take the columns that are left, at the same price for each. */
typedef struct {
    const int64_t *cost, *row, *column;
    int32_t rows, columns, *of_row, *of_column;
    int32_t *seen;
    int32_t fixed;
} tight_t;

static int tight(const tight_t *t, int32_t i, int32_t j)
{
    if (i >= t->rows)
        return t->column[j] == 0; /* without a partner: only columns that nobody had to be paid for */
    return t->cost[(int64_t)i * t->columns + j] == t->row[i] + t->column[j];
}

/* Find another column for row i among those not seen, moving rows after `fixed` only. */
static int reroute(tight_t *t, int32_t i)
{
    for (int32_t j = 0; j < t->columns; j++) {
        if (t->seen[j] || !tight(t, i, j))
            continue;
        t->seen[j] = 1;
        int32_t who = t->of_column[j];
        if (who >= 0 && who <= t->fixed)
            continue;
        if (who < 0 || reroute(t, who)) {
            t->of_column[j] = i;
            t->of_row[i] = j;
            return 1;
        }
    }
    return 0;
}

static int first_of_best(pairing_t *p)
{
    int32_t n = p->columns;
    int32_t *lists = malloc((size_t)n * 5 * sizeof *lists);
    if (!lists)
        return -1;
    int32_t *before = lists + 3 * n;
    tight_t t = {.cost = p->cost, .row = p->work, .column = p->work + p->rows, .rows = p->rows, .columns = n,
                 .of_row = lists, .of_column = lists + n, .seen = lists + 2 * n};
    for (int32_t j = 0; j < n; j++)
        t.of_column[j] = -1;
    for (int32_t i = 0; i < p->rows; i++) {
        t.of_row[i] = p->of_row[i];
        t.of_column[p->of_row[i]] = i;
    }
    for (int32_t j = 0, dummy = p->rows; j < n; j++)
        if (t.of_column[j] < 0) {
            t.of_column[j] = dummy;
            t.of_row[dummy++] = j;
        }
    for (int32_t i = 0; i < p->rows; i++) {
        for (int32_t j = 0; j < t.of_row[i]; j++) {
            if (!tight(&t, i, j) || t.of_column[j] < i)
                continue;
            /* give j to row i, and let the row that had it look for another; undo where it finds none */
            memcpy(before, lists, (size_t)n * 2 * sizeof *lists);
            memset(t.seen, 0, (size_t)n * sizeof *t.seen);
            int32_t who = t.of_column[j];
            t.of_column[t.of_row[i]] = -1;
            t.of_column[j] = i;
            t.of_row[i] = j;
            t.seen[j] = 1;
            t.fixed = i;
            if (reroute(&t, who))
                break;
            memcpy(lists, before, (size_t)n * 2 * sizeof *lists);
        }
    }
    memcpy(p->of_row, t.of_row, (size_t)p->rows * sizeof *t.of_row);
    free(lists);
    return 0;
}

typedef struct {
    int32_t *a, *b, *parent;
    int64_t count;
} merged_t;

static void merge(trees_t *t, int32_t a, int32_t b, int32_t parent, merged_t *out)
{
    int32_t here = (int32_t)out->count;
    out->a[here] = a;
    out->b[here] = b;
    out->parent[here] = parent;
    out->count++;
    int32_t m = children(t->a_ends, a, NULL), n = children(t->b_ends, b, NULL);
    if (m == 0 || n == 0)
        return;
    pairing_t *p = malloc(sizeof *p);
    if (!p || pairing(t, a, b, m, n, p)) {
        t->failed = 1;
        free(p);
        return;
    }
    solve(t, p);
    if (!t->greedy && first_of_best(p))
        t->failed = 1;
    for (int32_t i = 0; i < p->rows && !t->failed; i++) {
        int32_t one = p->row[i], other = p->column[p->of_row[i]];
        int32_t in_a = p->swapped ? other : one, in_b = p->swapped ? one : other;
        if (diverse(t, in_a, in_b))
            merge(t, in_a, in_b, here, out);
    }
    free(p->heap);
    free(p);
}

/* The representative with record b in it, in preorder: which vertices became one, and below which. */
int64_t privet_trees_merge(const int64_t *how, const int32_t *const *whole, const int64_t *const *wide, int64_t b,
                       int32_t *of_a, int32_t *of_b, int32_t *parents, int64_t *count)
{
    trees_t t = trees(how, whole, wide);
    merged_t out = {of_a, of_b, parents, 0};
    tabulate(&t);
    merge(&t, 0, (int32_t)b, -1, &out);
    *count = out.count;
    untabulate(&t);
    return t.failed ? -1 : 0;
}
