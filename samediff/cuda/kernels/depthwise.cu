// Convolution of each channel by itself. Images are (batch, channels, cells) or, with LAST, (batch, cells, channels); an output
// channel is channel * multiplier + m. Open: T, I (type of offsets), LAST.

typedef work_of<T>::type Work;

struct Cell { int z, y, x, channel; I image; };         // `image`: number of the image

__device__ __forceinline__ Cell cell_of(I i, const int channels, const int nz, const int ny, const int nx) {
    Cell found;
    if (LAST) {
        found.channel = (int)(i % channels);
        i /= channels;
    }
    found.x = (int)(i % nx);
    i /= nx;
    found.y = (int)(i % ny);
    i /= ny;
    found.z = (int)(i % nz);
    i /= nz;
    if (!LAST) {
        found.channel = (int)(i % channels);
        i /= channels;
    }
    found.image = i;
    return found;
}

// Where the cells of a channel of an image begin, and how far apart they are.
__device__ __forceinline__ I plane(const I image, const int channel, const int channels, const I volume) {
    return LAST ? image * volume * channels + channel : (image * channels + channel) * volume;
}

#define EACH(i, size) (I i = blockIdx.x * (I)blockDim.x + threadIdx.x; i < size; i += (I)gridDim.x * blockDim.x)
#define NUMBERS const int channels, const int multiplier, const int weight_channel, const int weight_multiplier, const int weight_tap

extern "C" __global__ void depthwise(const T *image, const T *weights, T *out, const T *bias, const int has_bias, const long long size,
                                     NUMBERS, WINDOW) {
    TAKE_WINDOW;
    const int maps = channels * multiplier, apart = LAST ? channels : 1;
    for EACH(i, size) {
        const Cell o = cell_of(i, maps, z.count, y.count, x.count);
        const int channel = o.channel / multiplier;
        const T *from = image + plane(o.image, channel, channels, (I)z.size * y.size * x.size);
        const T *w = weights + (I)channel * weight_channel + (I)(o.channel - channel * multiplier) * weight_multiplier;
        int z0, y0, x0, az, bz, ay, by, ax, bx;
        inside(z, o.z, z0, az, bz);
        inside(y, o.y, y0, ay, by);
        inside(x, o.x, x0, ax, bx);
        Work sum = has_bias ? load(bias[o.channel]) : (Work)0;
        for (int kz = az; kz < bz; kz++)
            for (int ky = ay; ky < by; ky++) {
                const T *row = from + (((I)(z0 + kz * z.dilation) * y.size + y0 + ky * y.dilation) * x.size + x0) * apart;
                const int tap = (kz * y.kernel + ky) * x.kernel;
                for (int kx = ax; kx < bx; kx++)
                    sum += load(row[(I)kx * x.dilation * apart]) * load(w[(I)(tap + kx) * weight_tap]);
            }
        store(out[i], sum);
    }
}

extern "C" __global__ void depthwise_data(const T *weights, const T *g, T *out, const long long size, NUMBERS, WINDOW) {
    TAKE_WINDOW;
    const int maps = channels * multiplier;
    const I volume = (I)z.count * y.count * x.count, apart = LAST ? maps : 1;
    for EACH(i, size) {
        const Cell at = cell_of(i, channels, z.size, y.size, x.size);
        const T *from = g + plane(at.image, at.channel * multiplier, maps, volume), *w = weights + (I)at.channel * weight_channel;
        int tz, ty, tx, oz, oy, ox;
        first_meeting(z, at.z, tz, oz);
        first_meeting(y, at.y, ty, oy);
        first_meeting(x, at.x, tx, ox);
        Work sum = 0;
        for (int kz = tz, z1 = oz; kz < z.kernel && z1 >= 0; kz += z.jump, z1 -= z.down)
            for (int ky = ty, y1 = oy; ky < y.kernel && y1 >= 0; ky += y.jump, y1 -= y.down)
                for (int kx = tx, x1 = ox; kx < x.kernel && x1 >= 0; kx += x.jump, x1 -= x.down) {
                    const I window = ((I)z1 * y.count + y1) * x.count + x1;
                    const I tap = ((I)kz * y.kernel + ky) * x.kernel + kx;
                    for (int m = 0; m < multiplier; m++)
                        sum += load(from[window * apart + (LAST ? m : m * volume)]) * load(w[tap * weight_tap + (I)m * weight_multiplier]);
                }
        store(out[i], sum);
    }
}

// Blocks: a tap (y) of one output channel, or with LAST of 32 side by side (x), over a share of all windows (z). Sums are in the
// order of the weights; several shares are put together afterwards.
#define LANES 256
#define TOGETHER (LAST ? 32 : 1)

extern "C" __global__ void __launch_bounds__(LANES) depthwise_weights(const T *image, const T *g, Work *out, const long long part_size,
                                                                      const int batch, NUMBERS, WINDOW) {
    TAKE_WINDOW;
    __shared__ Work sums[LANES];
    const int maps = channels * multiplier, lane = threadIdx.x, map = blockIdx.x * TOGETHER + lane % TOGETHER, tap = blockIdx.y;
    const int channel = map / multiplier, tz = tap / (x.kernel * y.kernel), ty = tap / x.kernel % y.kernel, tx = tap % x.kernel;
    const I volume = (I)z.count * y.count * x.count, windows = volume * batch, cells = (I)z.size * y.size * x.size;
    const I share = (windows + gridDim.z - 1) / gridDim.z, begin = share * blockIdx.z;
    const I end = begin + share < windows ? begin + share : windows;
    Work sum = 0;
    if (map < maps)
        for (I i = begin + lane / TOGETHER; i < end; i += LANES / TOGETHER) {
            const Cell o = cell_of(i, 1, z.count, y.count, x.count);
            const int pz = o.z * z.stride - z.before + tz * z.dilation, py = o.y * y.stride - y.before + ty * y.dilation;
            const int px = o.x * x.stride - x.before + tx * x.dilation;
            if ((unsigned)pz >= (unsigned)z.size || (unsigned)py >= (unsigned)y.size || (unsigned)px >= (unsigned)x.size) continue;
            const I cell = ((I)pz * y.size + py) * x.size + px, window = i - o.image * volume;
            sum += load(image[plane(o.image, channel, channels, cells) + cell * (LAST ? channels : 1)])
                * load(g[plane(o.image, map, maps, volume) + window * (LAST ? maps : 1)]);
        }
    sums[lane] = sum;
    __syncthreads();
    for (int half = LANES / 2; half >= TOGETHER; half /= 2) {
        if (lane < half) sums[lane] += sums[lane + half];
        __syncthreads();
    }
    if (lane < TOGETHER && map < maps)
        out[blockIdx.z * part_size + (I)channel * weight_channel + (I)(map - channel * multiplier) * weight_multiplier
            + (I)tap * weight_tap] = sums[lane];
}
