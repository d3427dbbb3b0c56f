// Pooling of images (outer, cells, inner): channels are part of outer or are inner. Gradients are gathered: each cell adds up what the
// windows that contain it send, so that nothing depends on order. Open: T, I (type of offsets).
// MAXIMUM: what is largest, for any type; PLACE is the type of places. Otherwise sums, of numbers.

typedef work_of<T>::type Work;

#define EACH(i, size) (I i = blockIdx.x * (I)blockDim.x + threadIdx.x; i < size; i += (I)gridDim.x * blockDim.x)

struct Cell { int z, y, x; I outer, inner; };

__device__ __forceinline__ Cell cell_of(I i, const int inner, const int nz, const int ny, const int nx) {
    Cell found;
    I next = i / inner;
    found.inner = i - next * inner;
    i = next, next = i / nx;
    found.x = (int)(i - next * nx);
    i = next, next = i / ny;
    found.y = (int)(i - next * ny);
    i = next, next = i / nz;
    found.z = (int)(i - next * nz);
    found.outer = next;
    return found;
}

// does(at, tap) for the offset of each cell inside of window o, and its number in the window.
template <typename F> __device__ __forceinline__ void each_cell(const Axis &z, const Axis &y, const Axis &x, const Cell &o, const int inner,
                                                                F does) {
    int z0, y0, x0, az, bz, ay, by, ax, bx;
    inside(z, o.z, z0, az, bz);
    inside(y, o.y, y0, ay, by);
    inside(x, o.x, x0, ax, bx);
    const I start = (((o.outer * z.size + z0) * y.size + y0) * x.size + x0) * inner + o.inner;
    for (int kz = az; kz < bz; kz++)
        for (int ky = ay; ky < by; ky++)
            for (int kx = ax; kx < bx; kx++)
                does(start + (((I)kz * z.dilation * y.size + ky * y.dilation) * x.size + kx * x.dilation) * inner,
                     (kz * y.kernel + ky) * x.kernel + kx);
}

// does(at, tap, oz, oy, ox) for the offset of each window that contains cell c, the number of c in it, and its own numbers.
template <typename F> __device__ __forceinline__ void each_window(const Axis &z, const Axis &y, const Axis &x, const Cell &c,
                                                                  const int inner, F does) {
    int tz, ty, tx, wz, wy, wx;
    first_meeting(z, c.z, tz, wz);
    first_meeting(y, c.y, ty, wy);
    first_meeting(x, c.x, tx, wx);
    for (int kz = tz, oz = wz; kz < z.kernel && oz >= 0; kz += z.jump, oz -= z.down)
        for (int ky = ty, oy = wy; ky < y.kernel && oy >= 0; ky += y.jump, oy -= y.down)
            for (int kx = tx, ox = wx; kx < x.kernel && ox >= 0; kx += x.jump, ox -= x.down)
                does((((c.outer * z.count + oz) * y.count + oy) * x.count + ox) * inner + c.inner, (kz * y.kernel + ky) * x.kernel + kx,
                     oz, oy, ox);
}

#ifdef MAXIMUM

// The first of the largest; NaN is larger than all numbers. Without any cell inside: the smallest value, tap -1.
struct Largest { Work value; int tap; I place; };

__device__ __forceinline__ Largest largest(const T *from, const Axis &z, const Axis &y, const Axis &x, const Cell &o, const int inner) {
    Largest best = {(Work)LOWEST, -1, 0};
    each_cell(z, y, x, o, inner, [&](const I at, const int tap) {
        const Work value = load(from[at]);
        if (best.tap < 0 || value > best.value || (value != value && best.value == best.value)) best = Largest{value, tap, at};
    });
    return best;
}

extern "C" __global__ void max_pool(const T *from, T *out, const long long size, const int inner, WINDOW) {
    TAKE_WINDOW;
    for EACH(i, size) {
        const Cell o = cell_of(i, inner, z.count, y.count, x.count);
        const Largest best = largest(from, z, y, x, o, inner);
        store(out[i], best.value);
    }
}

extern "C" __global__ void max_pool_place(const T *from, T *out, PLACE *places, const long long size, const int inner, WINDOW) {
    TAKE_WINDOW;
    for EACH(i, size) {
        const Cell o = cell_of(i, inner, z.count, y.count, x.count);
        const Largest best = largest(from, z, y, x, o, inner);
        store(out[i], best.value);
        store(places[i], best.place);
    }
}

extern "C" __global__ void max_pool_tap(const T *from, int *taps, const long long size, const int inner, WINDOW) {
    TAKE_WINDOW;
    for EACH(i, size) {
        const Cell o = cell_of(i, inner, z.count, y.count, x.count);
        const Largest best = largest(from, z, y, x, o, inner);
        taps[i] = best.tap;
    }
}

extern "C" __global__ void max_pool_taken(const T *from, const T *values, T *out, const long long size, const int inner, WINDOW) {
    TAKE_WINDOW;
    for EACH(i, size) {
        const Cell o = cell_of(i, inner, z.count, y.count, x.count);
        const Largest best = largest(from, z, y, x, o, inner);
        if (best.tap >= 0) out[i] = values[best.place];
        else store(out[i], (Work)0);
    }
}

extern "C" __global__ void max_pool_back(const int *taps, const T *g, T *out, const long long size, const int inner, WINDOW) {
    TAKE_WINDOW;
    for EACH(i, size) {
        const Cell c = cell_of(i, inner, z.size, y.size, x.size);
        Work sum = 0;
        each_window(z, y, x, c, inner, [&](const I at, const int tap, int, int, int) { if (taps[at] == tap) sum += load(g[at]); });
        store(out[i], sum);
    }
}

#else

// What sums are multiplied by: a number, or 1 / (cells that are inside) where it is 0.
__device__ __forceinline__ int cells_inside(const Axis &a, const int window) {
    int start, low, high;
    inside(a, window, start, low, high);
    return high > low ? high - low : 0;
}

__device__ __forceinline__ Work share(const Work factor, const Axis &z, const Axis &y, const Axis &x, const int oz, const int oy,
                                      const int ox) {
    if (factor != 0) return factor;
    const I count = (I)cells_inside(z, oz) * cells_inside(y, oy) * cells_inside(x, ox);
    return (Work)1 / (Work)(count > 1 ? count : 1);
}

extern "C" __global__ void window_sum(const T *from, T *out, const Work factor, const long long size, const int inner, WINDOW) {
    TAKE_WINDOW;
    for EACH(i, size) {
        const Cell o = cell_of(i, inner, z.count, y.count, x.count);
        Work sum = 0;
        each_cell(z, y, x, o, inner, [&](const I at, int) { sum += load(from[at]); });
        store(out[i], sum * share(factor, z, y, x, o.z, o.y, o.x));
    }
}

extern "C" __global__ void window_spread(const T *g, T *out, const Work factor, const long long size, const int inner, WINDOW) {
    TAKE_WINDOW;
    for EACH(i, size) {
        const Cell c = cell_of(i, inner, z.size, y.size, x.size);
        Work sum = 0;
        each_window(z, y, x, c, inner, [&](const I at, int, const int oz, const int oy, const int ox) {
            sum += load(g[at]) * share(factor, z, y, x, oz, oy, ox);
        });
        store(out[i], sum);
    }
}

#ifdef POWERS
extern "C" __global__ void power_pool(const T *from, T *out, const Work power, const long long size, const int inner, WINDOW) {
    TAKE_WINDOW;
    const Work root = (Work)1 / power;
    for EACH(i, size) {
        const Cell o = cell_of(i, inner, z.count, y.count, x.count);
        Work sum = 0, top = 0;                              // powers of shares of the largest stay in the range of the type
        each_cell(z, y, x, o, inner, [&](const I at, int) { top = fabs(load(from[at])) > top ? fabs(load(from[at])) : top; });
        top = top > 0 && top - top == 0 ? top : 1;
        if (power == 2) {
            each_cell(z, y, x, o, inner, [&](const I at, int) { sum += (load(from[at]) / top) * (load(from[at]) / top); });
            sum = sqrt(sum);
        } else {
            each_cell(z, y, x, o, inner, [&](const I at, int) { sum += pow(fabs(load(from[at])) / top, power); });
            sum = pow(sum, root);
        }
        store(out[i], sum * top);
    }
}
#endif
#endif
