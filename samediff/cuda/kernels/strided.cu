// y = x between any views. T: unsigned numbers of the elements' size; I: of indices; RANK: number of axes (the batch for turn), 1 at least.

struct Axes { I size[RANK], from[RANK], to[RANK]; };      // steps in elements; the last axis is the innermost of y

__device__ __forceinline__ void places(const Axes &axes, I i, I &from, I &to) {
    from = to = 0;
#pragma unroll
    for (int k = RANK - 1; k > 0; k--) {
        const I rest = i / axes.size[k], at = i - rest * axes.size[k];
        from += at * axes.from[k], to += at * axes.to[k], i = rest;
    }
    from += i * axes.from[0], to += i * axes.to[0];
}

extern "C" __global__ void copy(const T *x, T *y, const Axes axes, const I n) {
    for (I i = blockIdx.x * (I)blockDim.x + threadIdx.x; i < n; i += (I)gridDim.x * blockDim.x) {
        I from, to;
        places(axes, i, from, to);
        y[to] = x[from];
    }
}

// Where x goes on along one axis and y along another: tiles of both, turned in shared memory. Blocks of 32 times 8 threads.
// rows: along which y goes on (x has steps of x_row); columns: along which x goes on (y has steps of y_column).
extern "C" __global__ void turn(const T *x, T *y, const Axes axes, const I batch, const I rows, const I columns, const I x_row,
                                const I y_column) {
    __shared__ T tile[32][33];
    const I down = (rows + 31) / 32, across = (columns + 31) / 32;
    for (I t = blockIdx.x; t < down * across * batch; t += gridDim.x) {
        const I sheet = t / (down * across), rest = t - sheet * (down * across), row = rest / across * 32, column = rest % across * 32;
        I from, to;
        places(axes, sheet, from, to);
        for (int k = threadIdx.y; k < 32; k += 8)
            if (row + k < rows && column + threadIdx.x < columns) tile[k][threadIdx.x] = x[from + (row + k) * x_row + column + threadIdx.x];
        __syncthreads();
        for (int k = threadIdx.y; k < 32; k += 8)
            if (column + k < columns && row + threadIdx.x < rows) y[to + (column + k) * y_column + row + threadIdx.x] = tile[threadIdx.x][k];
        __syncthreads();
    }
}
