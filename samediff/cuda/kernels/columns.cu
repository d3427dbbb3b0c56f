// Patches of images (batch, channels, cells), or with LAST (batch, cells, channels), as columns in any layout: `column_n` and so on are
// distances between images, channels, cells of a window, and windows. Open: T, I (type of offsets), LAST.

typedef work_of<T>::type Work;

#define EACH(i, size) (I i = blockIdx.x * (I)blockDim.x + threadIdx.x; i < size; i += (I)gridDim.x * blockDim.x)
#define COLUMNS const int channels, const long long column_n, const long long column_c, const long long column_tap, const long long column_o

struct Cell { int z, y, x, channel; I image; };         // `image`: number of the image

__device__ __forceinline__ Cell cell_of(I i, const int channels, const int nz, const int ny, const int nx) {
    Cell found;
    I next;
    found.channel = 0;
    if (LAST) next = i / channels, found.channel = (int)(i - next * channels), i = next;
    next = i / nx, found.x = (int)(i - next * nx), i = next;
    next = i / ny, found.y = (int)(i - next * ny), i = next;
    next = i / nz, found.z = (int)(i - next * nz), i = next;
    if (!LAST) next = i / channels, found.channel = (int)(i - next * channels), i = next;
    found.image = i;
    return found;
}

__device__ __forceinline__ I plane(const Cell &at, const int channels, const I volume) {
    return LAST ? at.image * volume * channels + at.channel : (at.image * channels + at.channel) * volume;
}

// A thread for each window of each channel.
extern "C" __global__ void to_columns(const T *image, T *columns, const long long size, COLUMNS, WINDOW) {
    TAKE_WINDOW;
    const int apart = LAST ? channels : 1;
    for EACH(i, size) {
        const Cell o = cell_of(i, channels, z.count, y.count, x.count);
        const T *from = image + plane(o, channels, (I)z.size * y.size * x.size);
        T *to = columns + o.image * (I)column_n + o.channel * (I)column_c + (((I)o.z * y.count + o.y) * x.count + o.x) * (I)column_o;
        const int z0 = o.z * z.stride - z.before, y0 = o.y * y.stride - y.before, x0 = o.x * x.stride - x.before;
        for (int kz = 0; kz < z.kernel; kz++)
            for (int ky = 0; ky < y.kernel; ky++)
                for (int kx = 0; kx < x.kernel; kx++, to += column_tap) {
                    const int pz = z0 + kz * z.dilation, py = y0 + ky * y.dilation, px = x0 + kx * x.dilation;
                    if ((unsigned)pz < (unsigned)z.size && (unsigned)py < (unsigned)y.size && (unsigned)px < (unsigned)x.size)
                        *to = from[(((I)pz * y.size + py) * x.size + px) * apart];
                    else *to = {};
                }
    }
}

// A thread for each cell of each channel: what all columns have for it.
extern "C" __global__ void from_columns(const T *columns, T *image, const long long size, COLUMNS, WINDOW) {
    TAKE_WINDOW;
    for EACH(i, size) {
        const Cell c = cell_of(i, channels, z.size, y.size, x.size);
        const T *from = columns + c.image * (I)column_n + c.channel * (I)column_c;
        int tz, ty, tx, wz, wy, wx;
        first_meeting(z, c.z, tz, wz);
        first_meeting(y, c.y, ty, wy);
        first_meeting(x, c.x, tx, wx);
        Work sum = 0;
        for (int kz = tz, oz = wz; kz < z.kernel && oz >= 0; kz += z.jump, oz -= z.down)
            for (int ky = ty, oy = wy; ky < y.kernel && oy >= 0; ky += y.jump, oy -= y.down)
                for (int kx = tx, ox = wx; kx < x.kernel && ox >= 0; kx += x.jump, ox -= x.down)
                    sum += load(from[((kz * y.kernel + ky) * x.kernel + kx) * (I)column_tap
                                     + (((I)oz * y.count + oy) * x.count + ox) * (I)column_o]);
        store(image[i], sum);
    }
}
