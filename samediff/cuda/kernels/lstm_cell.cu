// One unit of the LSTM of ops/lstm_sequence.py, for lstm_steps.cu and lstm_rows.cu.
// Blocks of a row of gates: a, f, o, g, at multiples of `units` given by their numbers.
// Open: T, M (of the mask), BIAS, PEEPHOLE, MASK, HOLD, CLIP, SUMS (0 or 1). Before it stand activation(x), gate(x),
// output(x) and their slopes. Without SUMS these are tanh, sigmoid and tanh, whose slopes follow from the values.

typedef typename work_of<T>::type W;

struct Blocks { int a, f, o, g; };

__device__ __forceinline__ Blocks blocks_of(int order, int units) {
    const Blocks b = {(order & 3) * units, (order >> 2 & 3) * units, (order >> 4 & 3) * units, (order >> 6 & 3) * units};
    return b;
}

struct Cell { W a, f, o, g, squashed, c, h; };

// One unit: sums a, f, o, g become gates; c and h are those of the step before, then those of this one.
__device__ __forceinline__ void step(Cell &cell, const T *bias, const T *peephole, W m, Blocks b, int u, int units, W clip,
                                     W forget_bias) {
    const W c_before = cell.c;
#if MASK && HOLD
    const W h_before = cell.h;
#endif
#if BIAS
    cell.a += load(bias[b.a + u]);
    cell.f += load(bias[b.f + u]);
    cell.o += load(bias[b.o + u]);
    cell.g += load(bias[b.g + u]);
#endif
    cell.f += forget_bias;
#if PEEPHOLE
    cell.g += c_before * load(peephole[u]);
    cell.f += c_before * load(peephole[units + u]);
#endif
    cell.a = activation(cell.a);
    cell.f = gate(cell.f);
    cell.g = gate(cell.g);
    W c = cell.f * c_before + cell.g * cell.a;
#if CLIP
    c = vmin(vmax(c, -clip), clip);
#endif
#if PEEPHOLE
    cell.o += c * load(peephole[2 * units + u]);
#endif
    cell.o = gate(cell.o);
    cell.squashed = output(c);
    W h = cell.o * cell.squashed;
#if MASK
    c *= m;
    h *= m;
#if HOLD
    c += ((W)1 - m) * c_before;
    h += ((W)1 - m) * h_before;
#endif
#endif
    cell.c = c;
    cell.h = h;
}

#if SUMS
#define GATE_SLOPE(k) gate_slope(z.k)
#define ACTIVATION_SLOPE(k) activation_slope(z.k)
#define OUTPUT_SLOPE output_slope(c)
#else
#define GATE_SLOPE(k) (cell.k * ((W)1 - cell.k))
#define ACTIVATION_SLOPE(k) ((W)1 - cell.k * cell.k)
#define OUTPUT_SLOPE ((W)1 - cell.squashed * cell.squashed)
#endif

// Back: dh and dc are all that comes from above, then what the step before gets besides dz; z: sums without biases (SUMS).
__device__ __forceinline__ void step_back(const Cell &cell, Cell &z, const T *bias, const T *peephole, W c_before, W m, Blocks b, int u,
                                          int units, W clip, W forget_bias, W &dh, W &dc, Cell &dz) {
#if SUMS || CLIP
    const W raw = cell.f * c_before + cell.g * cell.a;
#endif
#if SUMS
#if CLIP
    const W c = vmin(vmax(raw, -clip), clip);
#else
    const W c = raw;
#endif
#if BIAS
    z.a += load(bias[b.a + u]);
    z.f += load(bias[b.f + u]);
    z.o += load(bias[b.o + u]);
    z.g += load(bias[b.g + u]);
#endif
    z.f += forget_bias;
#if PEEPHOLE
    z.g += c_before * load(peephole[u]);
    z.f += c_before * load(peephole[units + u]);
    z.o += c * load(peephole[2 * units + u]);
#endif
#endif
#if MASK && HOLD
    const W kept_h = ((W)1 - m) * dh, kept_c = ((W)1 - m) * dc;
#endif
#if MASK
    dh *= m;
    dc *= m;
#endif
    dz.o = dh * cell.squashed * GATE_SLOPE(o);
    dc += dh * cell.o * OUTPUT_SLOPE;
#if PEEPHOLE
    dc += dz.o * load(peephole[2 * units + u]);
#endif
#if CLIP
    if (!(fabs(raw) <= clip)) dc = 0;
#endif
    dz.a = dc * cell.g * ACTIVATION_SLOPE(a);
    dz.g = dc * cell.a * GATE_SLOPE(g);
    dz.f = dc * c_before * GATE_SLOPE(f);
    dc *= cell.f;
#if PEEPHOLE
    dc += dz.g * load(peephole[u]) + dz.f * load(peephole[units + u]);
#endif
    dh = 0;
#if MASK && HOLD
    dh = kept_h;
    dc += kept_c;
#endif
}

__device__ __forceinline__ Cell sums_of(const T *z, Blocks b) {
    const Cell sums = {load(z[b.a]), load(z[b.f]), load(z[b.o]), load(z[b.g]), 0, 0, 0};
    return sums;
}
