// All steps of few rows in one block, which keeps weights and states; lstm_cell.cu stands before it. Open: UNITS, ROWS.

#define COLUMNS (4 * UNITS)

// All steps of ROWS rows; a thread keeps the weights of one column of gates, which hold the products of the inputs.
extern "C" __global__ void __launch_bounds__(COLUMNS)
lstm_rows(const T *__restrict__ rw, T *__restrict__ gates, const void *bias, const void *peephole, const void *h0, const void *c0,
          const void *mask, T *__restrict__ cells, T *__restrict__ squashed, T *__restrict__ states, const int steps, const int batch,
          const int order, const int has_h, const int has_c, const int reverse, const double clip, const double forget_bias) {
    __shared__ W h[ROWS][UNITS], z[ROWS][COLUMNS];
    const Blocks b = blocks_of(order, UNITS);
    const int column = threadIdx.x, first = blockIdx.x * ROWS, r = column / UNITS, u = column % UNITS, n = first + r;
    const bool mine = r < ROWS && n < batch;
    W weights[UNITS];
#pragma unroll
    for (int j = 0; j < UNITS; j++) weights[j] = load(rw[j * COLUMNS + column]);
    Cell cell;
    cell.c = mine && has_c ? load(((const T *)c0)[n * UNITS + u]) : (W)0;
    cell.h = mine && has_h ? load(((const T *)h0)[n * UNITS + u]) : (W)0;
    if (r < ROWS) h[r][u] = cell.h;
    for (int s = 0; s < steps; s++) {
        const int t = reverse ? steps - 1 - s : s;
        W sum[ROWS];
#pragma unroll
        for (int k = 0; k < ROWS; k++)
            sum[k] = first + k < batch ? load(gates[(t * batch + first + k) * COLUMNS + column]) : (W)0;
        __syncthreads();
#pragma unroll
        for (int j = 0; j < UNITS; j++)
#pragma unroll
            for (int k = 0; k < ROWS; k++) sum[k] += h[k][j] * weights[j];
#pragma unroll
        for (int k = 0; k < ROWS; k++) z[k][column] = sum[k];
        __syncthreads();
        if (!mine) continue;
        cell.a = z[r][b.a + u], cell.f = z[r][b.f + u], cell.o = z[r][b.o + u], cell.g = z[r][b.g + u];
        step(cell, (const T *)bias, (const T *)peephole, MASK ? (W)load(((const M *)mask)[t * batch + n]) : (W)1, b, u, UNITS,
             (W)clip, (W)forget_bias);
        h[r][u] = cell.h;
        const int i = (t * batch + n) * UNITS + u;
        T *row = gates + (t * batch + n) * COLUMNS + u;
        store(row[b.a], cell.a);
        store(row[b.f], cell.f);
        store(row[b.o], cell.o);
        store(row[b.g], cell.g);
        store(squashed[i], cell.squashed);
        store(cells[i], cell.c);
        store(states[i], cell.h);
    }
}

// All steps back of ROWS rows; a thread keeps a quarter of the weights of one unit.
extern "C" __global__ void __launch_bounds__(COLUMNS)
lstm_rows_back(const T *__restrict__ rw, const T *__restrict__ gates, const void *sums, const void *bias, const void *peephole, const void *c0,
               const void *mask, const T *__restrict__ cells, const T *__restrict__ squashed, const T *__restrict__ gh, const void *gc,
               T *__restrict__ dz, T *__restrict__ dh0, T *__restrict__ dc0, const int steps, const int batch, const int order,
               const int has_c, const int has_gc, const int reverse, const double clip, const double forget_bias) {
    __shared__ W d[ROWS][COLUMNS], shares[ROWS][COLUMNS];
    const Blocks b = blocks_of(order, UNITS);
    const int column = threadIdx.x, first = blockIdx.x * ROWS, r = column / UNITS, u = column % UNITS, n = first + r;
    const bool mine = r < ROWS && n < batch;
    W weights[UNITS];
#pragma unroll
    for (int j = 0; j < UNITS; j++) weights[j] = load(rw[u * COLUMNS + r * UNITS + j]);
    W dh = 0, dc = 0;
    for (int k = 0; k < ROWS; k++)
        if (first + k >= batch) d[k][column] = 0;
    for (int s = steps - 1; s >= 0; s--) {
        const int t = reverse ? steps - 1 - s : s;
        if (mine) {
            const int i = (t * batch + n) * UNITS + u, last = reverse ? i + batch * UNITS : i - batch * UNITS;
            const T *row = gates + (t * batch + n) * COLUMNS + u;
            const Cell cell = {load(row[b.a]), load(row[b.f]), load(row[b.o]), load(row[b.g]), load(squashed[i]), 0, 0};
            const W before = s > 0 ? load(cells[last]) : has_c ? load(((const T *)c0)[n * UNITS + u]) : (W)0;
            dh += load(gh[i]);
            if (has_gc) dc += load(((const T *)gc)[i]);
            Cell back, z_of = sums_of(SUMS ? (const T *)sums + (row - gates) : row, b);
            step_back(cell, z_of, (const T *)bias, (const T *)peephole, before, MASK ? (W)load(((const M *)mask)[t * batch + n]) : (W)1,
                      b, u, UNITS, (W)clip, (W)forget_bias, dh, dc, back);
            T *to = dz + (t * batch + n) * COLUMNS + u;
            store(to[b.a], d[r][b.a + u] = back.a);
            store(to[b.f], d[r][b.f + u] = back.f);
            store(to[b.o], d[r][b.o + u] = back.o);
            store(to[b.g], d[r][b.g + u] = back.g);
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < ROWS; k++) {
            W sum = 0;
#pragma unroll
            for (int j = 0; j < UNITS; j++) sum += d[k][r * UNITS + j] * weights[j];
            shares[k][column] = sum;
        }
        __syncthreads();
        if (mine)
            for (int k = 0; k < 4; k++) dh += shares[r][k * UNITS + u];
    }
    if (mine) {
        store(dh0[n * UNITS + u], dh);
        store(dc0[n * UNITS + u], dc);
    }
}
